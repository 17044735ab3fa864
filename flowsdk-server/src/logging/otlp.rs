//! Spans of AI agents, exported by OTLP over HTTP. The standard variables of OpenTelemetry say where to.

use std::time::Duration;

use flowsdk_core::fault::Chain;
use opentelemetry::trace::TracerProvider as _;
use opentelemetry_otlp::{Protocol, SpanExporter, WithExportConfig as _};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::resource::EnvResourceDetector;
use opentelemetry_sdk::trace::SdkTracerProvider;
use tracing::{Metadata, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::filter::filter_fn;
use tracing_subscriber::registry::LookupSpan;

/// The name of this server, unless `OTEL_SERVICE_NAME` or `OTEL_RESOURCE_ATTRIBUTES` has another one.
const SERVICE: &str = "flowsdk-server";
/// How long a stop waits for the last spans.
const LAST_SPANS: Duration = Duration::from_secs(3);

/// Returns whether this is a span of a turn. Lines of the log are no part of it: they may have anything in them.
fn is_of_a_turn(metadata: &Metadata<'_>) -> bool {
    metadata.is_span() && metadata.target().starts_with("flowsdk_agent::executor")
}

/// Exports spans in batches, from a thread of its own. What does not fit into its queue is dropped.
#[derive(Debug)]
pub(super) struct Exporter(SdkTracerProvider);

impl Exporter {
    /// Returns an exporter to where the environment of the process says; `None` if it says nothing.
    ///
    /// # Errors
    /// The address or another setting cannot be used.
    pub(super) fn of_environment() -> Result<Option<Self>, opentelemetry_otlp::ExporterBuildError> {
        if !super::names_a_collector(|name| std::env::var(name).ok()) {
            return Ok(None);
        }
        let exporter = SpanExporter::builder().with_http().with_protocol(Protocol::HttpBinary).build()?;
        let named = Resource::builder_empty().with_service_name(SERVICE);
        // What the environment says stands in the place of the name.
        let resource = named.with_detector(Box::new(EnvResourceDetector::new()));
        let service = std::env::var("OTEL_SERVICE_NAME").ok().filter(|name| !name.is_empty());
        let resource = match service {
            Some(service) => resource.with_service_name(service),
            None => resource,
        };
        let provider = SdkTracerProvider::builder().with_batch_exporter(exporter);
        Ok(Some(Self(provider.with_resource(resource.build()).build())))
    }

    /// Returns the layer that passes spans on.
    pub(super) fn layer<S>(&self) -> impl Layer<S> + use<S>
    where
        S: Subscriber + for<'a> LookupSpan<'a> + Send + Sync,
    {
        let layer = tracing_opentelemetry::layer().with_tracer(self.0.tracer(SERVICE));
        let layer = layer.with_location(false).with_threads(false).with_tracked_inactivity(false);
        layer.with_target(false).with_filter(filter_fn(is_of_a_turn))
    }

    /// Exports the last spans, for some seconds at most.
    pub(super) async fn finish(self) {
        // The exporter waits for its thread, and drops a client that blocks.
        let finished = tokio::task::spawn_blocking(move || self.0.shutdown_with_timeout(LAST_SPANS)).await;
        match finished {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::warn!(error = %Chain(&error), "the last spans were not exported"),
            Err(error) => tracing::warn!(error = %Chain(&error), "the export of spans has panicked"),
        }
    }
}
