//! What the tests of this binary share.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use resilience::registry::{Builder, Registry};
use resilience::time::ManualClock;

/// A directory of a test's own, gone at its end.
pub(crate) struct Directory(PathBuf);

impl Directory {
    pub(crate) fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("reload-{}-{number}", std::process::id());
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// Writes a file and returns its path.
    pub(crate) fn write(&self, name: &str, content: &str) -> PathBuf {
        let path = self.path(name);
        std::fs::write(&path, content).unwrap();
        path
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A registry's builder on a clock that the test moves.
pub(crate) fn manual() -> (Builder, ManualClock) {
    let clock = ManualClock::new();
    (Registry::builder().clock(clock.clone()), clock)
}

/// Asserts that a text says all of it.
#[track_caller]
pub(crate) fn says(text: &str, wanted: &[&str]) {
    for wanted in wanted {
        assert!(text.contains(wanted), "{text}\n  should say: {wanted}");
    }
}
