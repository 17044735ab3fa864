//! Logs and metrics.

mod limit;
#[cfg(feature = "otlp")]
mod otlp;

#[cfg(feature = "otlp")]
use flowsdk_core::fault::Chain;
use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle};
use tracing::{Level, Metadata, Subscriber};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::filter_fn;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::layer::{Layer as _, SubscriberExt as _};
use tracing_subscriber::registry::LookupSpan;

use limit::LineLimit;

/// How the names of libraries begin that log whole packets, with the keys of visitors and their messages.
const PACKETS: [&str; 4] = ["socketioxide", "engineioxide", "tungstenite", "tokio_tungstenite"];

/// Returns whether a library may log this. Nothing in `RUST_LOG` lets it log more than `info`.
fn is_free_of_packets(metadata: &Metadata<'_>) -> bool {
    *metadata.level() <= Level::INFO || !PACKETS.iter().any(|library| metadata.target().starts_with(library))
}

/// What has to end before the process does.
#[derive(Debug)]
#[must_use]
pub struct Logging {
    #[cfg(feature = "otlp")]
    exporter: Option<otlp::Exporter>,
}

impl Logging {
    /// Exports the last spans, for some seconds at most.
    pub async fn finish(self) {
        #[cfg(feature = "otlp")]
        if let Some(exporter) = self.exporter {
            exporter.finish().await;
        }
    }
}

/// Returns whether an environment names a collector of OpenTelemetry, and does not switch it off.
fn names_a_collector(env: impl Fn(&str) -> Option<String>) -> bool {
    let has = |name| env(name).is_some_and(|value| !value.is_empty());
    let is_off = env("OTEL_SDK_DISABLED").is_some_and(|value| value.eq_ignore_ascii_case("true"));
    !is_off && (has("OTEL_EXPORTER_OTLP_ENDPOINT") || has("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"))
}

/// Starts logging to standard error, as `RUST_LOG` says, `info` by default. Of many equal warnings some are logged and
/// the others are counted. Spans of AI agents are exported, if the environment names a collector.
pub fn init(json: bool) -> Logging {
    let wanted = std::env::var("RUST_LOG").unwrap_or_else(|_| "info".to_owned());
    let colours = std::io::IsTerminal::is_terminal(&std::io::stderr());
    let limit = LineLimit::default();
    let log = log(&wanted, json, colours, std::io::stderr).with(limit.clone());
    #[cfg(feature = "otlp")]
    let exporter = otlp::Exporter::of_environment();
    #[cfg(feature = "otlp")]
    let log = log.with(exporter.as_ref().ok().and_then(Option::as_ref).map(otlp::Exporter::layer));
    // A second call in one process (tests) keeps the first.
    if tracing::subscriber::set_global_default(log).is_ok() {
        limit.report();
    }
    #[cfg(feature = "otlp")]
    return Logging {
        exporter: exporter.unwrap_or_else(|error| {
            tracing::error!(error = %Chain(&error), "no spans are exported");
            None
        }),
    };
    #[cfg(not(feature = "otlp"))]
    {
        if names_a_collector(|name| std::env::var(name).ok()) {
            tracing::warn!("no spans are exported: this server is built without the feature otlp");
        }
        Logging {}
    }
}

fn log<W>(
    wanted: &str,
    json: bool,
    colours: bool,
    writer: W,
) -> impl Subscriber + for<'a> LookupSpan<'a> + Send + Sync
where
    W: for<'a> MakeWriter<'a> + Send + Sync + 'static,
{
    let filter = EnvFilter::try_new(wanted).unwrap_or_else(|_| EnvFilter::new("info"));
    let lines = tracing_subscriber::fmt::layer().with_ansi(colours).with_writer(writer);
    let lines = if json { lines.json().boxed() } else { lines.boxed() };
    tracing_subscriber::registry().with(filter).with(filter_fn(is_free_of_packets)).with(lines)
}

/// Buckets of batch sizes.
const BATCH_BUCKETS: [f64; 8] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0];

/// Starts gathering metrics; the handle renders them. `None` when another part of the process gathers
/// them already.
pub fn metrics() -> Option<PrometheusHandle> {
    let builder = PrometheusBuilder::new().set_buckets(&BATCH_BUCKETS).ok()?;
    builder.install_recorder().ok()
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::sync::{Arc, Mutex};

    use super::*;

    #[derive(Clone, Default)]
    struct Lines(Arc<Mutex<Vec<u8>>>);

    impl Write for Lines {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().expect("a lock").write(bytes)
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn spans_are_exported_to_a_collector_that_is_named() {
        let named = |pairs: &[(&str, &str)]| {
            names_a_collector(|name| {
                pairs.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
            })
        };
        let here = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:4318");
        assert!(!named(&[]));
        assert!(!named(&[("OTEL_EXPORTER_OTLP_ENDPOINT", ""), ("OTEL_SERVICE_NAME", "a")]));
        assert!(named(&[here]));
        assert!(named(&[("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://127.0.0.1:4318/v1/traces")]));
        assert!(named(&[here, ("OTEL_SDK_DISABLED", "false")]));
        assert!(!named(&[here, ("OTEL_SDK_DISABLED", "true")]));
    }

    #[test]
    fn no_directive_lets_a_library_log_packets() {
        for wanted in [
            "trace",
            "tungstenite=trace",
            "tungstenite::protocol=trace,socketioxide::socket=trace",
            "info,[visit]=trace",
        ] {
            let lines = Lines::default();
            let writer = lines.clone();
            let subscriber = log(wanted, true, false, move || writer.clone());
            tracing::subscriber::with_default(subscriber, || {
                let _entered = tracing::info_span!("visit").entered();
                tracing::trace!(target: "tungstenite::protocol", "Sending frame with a key");
                tracing::trace!(target: "tokio_tungstenite", "a key");
                tracing::debug!(target: "socketioxide::socket", "a key");
                tracing::debug!(target: "engineioxide", "a key");
                tracing::debug!(target: "engineioxide_core::payload::encoder", "a key");
                tracing::debug!(target: "socketioxide_parser_common", "a key");
                tracing::warn!(target: "engineioxide", "no packet");
            });
            let text = String::from_utf8(lines.0.lock().expect("a lock").clone()).expect("text");
            assert!(!text.contains("key"), "{wanted}: {text}");
            assert_eq!(
                text.contains("no packet"),
                wanted.starts_with("trace") || wanted.starts_with("info"),
                "{wanted}: {text}"
            );
        }
    }
}
