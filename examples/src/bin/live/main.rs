//! A live page of limits, with a small load so that there is something to see.
//!
//! `cargo run --release -p examples --bin live [-- --port 3000]`

mod args;
mod load;

use std::error::Error;
use std::future::ready;
use std::io::{self, Write};
use std::net::Ipv4Addr;
use std::process::ExitCode;
use std::sync::Arc;

use axum::Router;
use axum::routing::get;
use metrics_exporter_prometheus::PrometheusBuilder;
use resilience::integrations::axum::LivePage;
use resilience::integrations::metrics::Metrics;
use resilience::registry::Registry;
use tokio::net::TcpListener;
use tokio::task::JoinSet;

use args::{Args, Run};

fn main() -> ExitCode {
    let done = match Args::parse(std::env::args().skip(1)) {
        Ok(Args::Help) => write!(io::stdout(), "{}", args::HELP).map_err(Into::into),
        Ok(Args::Run(args)) => run(args),
        Err(message) => {
            eprintln!("live: {message}");
            return ExitCode::from(2);
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("live: {error}");
            ExitCode::FAILURE
        }
    }
}

#[tokio::main]
async fn run(args: Run) -> Result<(), Box<dyn Error>> {
    let registry = Registry::global();
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, args.port)).await?;
    let address = listener.local_addr()?;
    let mut out = io::stdout();
    writeln!(out, "The page: http://{address}/limits")?;
    writeln!(out, "For Prometheus: http://{address}/metrics")?;
    writeln!(
        out,
        "Ends after {} s, or with ctrl-c.",
        args.lasts.as_secs()
    )?;
    out.flush()?;

    let mut running = JoinSet::<Result<(), Box<dyn Error + Send + Sync>>>::new();
    let app = app(registry);
    running.spawn(async move { Ok(axum::serve(listener, app).await?) });
    running.spawn(load::run());
    // Both go on until this function ends, and all connections and calls with it.
    tokio::select! {
        () = tokio::time::sleep(args.lasts) => Ok(()),
        interrupted = tokio::signal::ctrl_c() => Ok(interrupted?),
        Some(ended) = running.join_next() => ended?.map_err(|error| error as Box<dyn Error>),
    }
}

fn app(registry: &Registry) -> Router {
    let recorder = PrometheusBuilder::new().build_recorder();
    let prometheus = recorder.handle();
    let metrics = Arc::new(Metrics::new().recorder(recorder).attach(registry));
    let scrape = move || {
        metrics.update();
        ready(prometheus.render())
    };
    Router::new()
        .nest("/limits", LivePage::new(registry).router())
        .route("/metrics", get(scrape))
}
