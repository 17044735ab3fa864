//! The log of the applications in this process, which no secret may get into.

use std::io;
use std::sync::{Mutex, Once, PoisonError};

static LINES: Mutex<Vec<u8>> = Mutex::new(Vec::new());
static BEGUN: Once = Once::new();

struct Lines;

impl io::Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        LINES.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Keeps the log of this process, at the level of a server.
pub fn begin() {
    BEGUN.call_once(|| {
        let filter = tracing_subscriber::EnvFilter::new("info");
        tracing_subscriber::fmt().json().with_env_filter(filter).with_writer(|| Lines).init();
    });
}

/// The log so far, of every test.
pub fn text() -> String {
    String::from_utf8_lossy(&LINES.lock().unwrap_or_else(PoisonError::into_inner)).into_owned()
}

/// The newest warnings and errors, for whoever reads of a failure.
pub fn faults() -> String {
    let text = text();
    let faults = text
        .lines()
        .rev()
        .filter(|line| line.contains(r#""level":"WARN""#) || line.contains(r#""level":"ERROR""#));
    faults.take(20).collect::<Vec<_>>().join("\n")
}
