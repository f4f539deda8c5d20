//! What Prometheus would scrape: the metrics of the process-wide registry.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle};
use resilience::integrations::metrics::{Attached, Metrics};
use resilience::registry::Registry;

/// Metrics that are collected, and the file that they are written to.
pub(crate) struct Scrape {
    pub(crate) path: PathBuf,
    prometheus: PrometheusHandle,
    metrics: Attached,
}

impl Scrape {
    /// Begins to collect, and looks whether the file can be written.
    pub(crate) fn prepare(path: &Path) -> io::Result<Self> {
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        File::create(path)?;
        let recorder = PrometheusBuilder::new().build_recorder();
        let prometheus = recorder.handle();
        Ok(Self {
            path: path.to_owned(),
            prometheus,
            metrics: Metrics::new().recorder(recorder).attach(Registry::global()),
        })
    }

    /// Writes what a scrape would get now.
    pub(crate) fn write(&self) -> io::Result<()> {
        self.metrics.update();
        fs::write(&self.path, self.prometheus.render())
    }
}
