//! `/healthz`, `/readyz`, `/metrics`.

use std::sync::Arc;

use async_trait::async_trait;
use axum::Router;
use axum::extract::State;
use axum::response::IntoResponse;
use axum::routing::get;
use http::StatusCode;
use metrics_exporter_prometheus::PrometheusHandle;
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

/// Something the server cannot work without.
#[async_trait]
pub trait Dependency: Send + Sync {
    /// Its name in `/readyz`.
    fn name(&self) -> &'static str;

    /// Returns `Ok` while it works.
    ///
    /// # Errors
    /// The fault, without secrets.
    async fn check(&self) -> Result<(), String>;
}

/// The state of the routes.
#[derive(Clone)]
pub struct Health {
    dependencies: Arc<Vec<Box<dyn Dependency>>>,
    stopping: CancellationToken,
    metrics: Option<PrometheusHandle>,
}

impl Health {
    /// Ready while nothing stops and every dependency works.
    pub fn new(
        dependencies: Vec<Box<dyn Dependency>>,
        stopping: CancellationToken,
        metrics: Option<PrometheusHandle>,
    ) -> Self {
        Self { dependencies: Arc::new(dependencies), stopping, metrics }
    }

    /// Returns the routes `/healthz`, `/readyz` and `/metrics`.
    pub fn router(self) -> Router {
        Router::new()
            .route("/healthz", get(async || "ok"))
            .route("/readyz", get(ready))
            .route("/metrics", get(metrics))
            .with_state(self)
    }
}

/// Answers 200 when everything works, else 503; the body names the failed dependencies.
async fn ready(State(health): State<Health>) -> impl IntoResponse {
    let mut checks = Map::new();
    let mut well = !health.stopping.is_cancelled();
    for dependency in health.dependencies.iter() {
        let found = dependency.check().await;
        well &= found.is_ok();
        checks.insert(dependency.name().to_owned(), found.map_or_else(Value::from, |()| Value::from("ok")));
    }
    let status = if well { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    let body = json!({ "ready": well, "stopping": health.stopping.is_cancelled(), "checks": checks });
    (status, axum::Json(body))
}

/// The metrics in Prometheus' text form.
async fn metrics(State(health): State<Health>) -> impl IntoResponse {
    health.metrics.map(|handle| handle.render()).ok_or(StatusCode::NOT_FOUND)
}
