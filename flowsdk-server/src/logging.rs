//! Logs and metrics.

use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle};
use tracing_subscriber::EnvFilter;

/// At `debug` the socket library logs whole packets, the keys of visitors among them; the ceiling stays
/// whatever `RUST_LOG` says.
const CEILING: &str = "socketioxide=info,engineioxide=info";

/// Starts logging to standard error, as `RUST_LOG` says, `info` by default.
pub fn init(json: bool) {
    let wanted = std::env::var("RUST_LOG").unwrap_or_else(|_| "info".to_owned());
    let filter = EnvFilter::try_new(format!("{wanted},{CEILING}")).unwrap_or_else(|_| EnvFilter::new("info"));
    let colours = std::io::IsTerminal::is_terminal(&std::io::stderr());
    let builder =
        tracing_subscriber::fmt().with_env_filter(filter).with_ansi(colours).with_writer(std::io::stderr);
    // A second call in one process (tests) keeps the first.
    let _already_set = if json { builder.json().try_init() } else { builder.try_init() };
}

/// Buckets of batch sizes.
const BATCH_BUCKETS: [f64; 8] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0];

/// Starts gathering metrics; the handle renders them. `None` when another part of the process gathers
/// them already.
pub fn metrics() -> Option<PrometheusHandle> {
    let builder = PrometheusBuilder::new().set_buckets(&BATCH_BUCKETS).ok()?;
    builder.install_recorder().ok()
}
