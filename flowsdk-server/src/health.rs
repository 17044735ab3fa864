//! `/healthz`, `/readyz`, `/metrics`.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use axum::Router;
use axum::extract::State;
use axum::response::IntoResponse;
use axum::routing::get;
use futures_util::future::join_all;
use http::StatusCode;
use metrics_exporter_prometheus::PrometheusHandle;
use serde_json::{Map, Value, json};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

/// How long a dependency has for its answer. Those that ask for `/readyz` wait a second or two themselves.
const PATIENCE: Duration = Duration::from_millis(800);

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

/// Answers 200 when everything works, else 503; the body names the failed dependencies. All are asked at once, and one
/// that does not answer within [`PATIENCE`] has failed.
async fn ready(State(health): State<Health>) -> impl IntoResponse {
    let asked = health.dependencies.iter().map(async |dependency| {
        let answer = timeout(PATIENCE, dependency.check()).await;
        (dependency.name(), answer.unwrap_or_else(|_| Err("no answer in time".to_owned())))
    });
    let mut checks = Map::new();
    let mut well = !health.stopping.is_cancelled();
    for (name, found) in join_all(asked).await {
        well &= found.is_ok();
        checks.insert(name.to_owned(), found.map_or_else(Value::from, |()| Value::from("ok")));
    }
    let status = if well { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    let body = json!({ "ready": well, "stopping": health.stopping.is_cancelled(), "checks": checks });
    (status, axum::Json(body))
}

/// The metrics in Prometheus' text form.
async fn metrics(State(health): State<Health>) -> impl IntoResponse {
    health.metrics.map(|handle| handle.render()).ok_or(StatusCode::NOT_FOUND)
}

#[cfg(test)]
mod tests {
    use axum::body::{Body, to_bytes};
    use http::Request;
    use tower::ServiceExt as _;

    use super::*;

    /// A dependency that never answers, and one that works.
    struct Frozen;
    struct Well;

    #[async_trait]
    impl Dependency for Frozen {
        fn name(&self) -> &'static str {
            "frozen"
        }

        async fn check(&self) -> Result<(), String> {
            std::future::pending().await
        }
    }

    #[async_trait]
    impl Dependency for Well {
        fn name(&self) -> &'static str {
            "well"
        }

        async fn check(&self) -> Result<(), String> {
            Ok(())
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_dependency_that_does_not_answer_holds_nobody_up() {
        let began = tokio::time::Instant::now();
        let dependencies: Vec<Box<dyn Dependency>> = vec![Box::new(Frozen), Box::new(Well), Box::new(Frozen)];
        let app = Health::new(dependencies, CancellationToken::new(), None).router();
        let answer = app.oneshot(Request::get("/readyz").body(Body::empty()).expect("a request")).await;
        let answer = answer.expect("an answer");
        assert_eq!(answer.status(), StatusCode::SERVICE_UNAVAILABLE);
        assert_eq!(began.elapsed(), PATIENCE, "they are asked at once");
        let body = to_bytes(answer.into_body(), 1_000).await.expect("a body");
        let body: Value = serde_json::from_slice(&body).expect("JSON");
        assert_eq!(body["checks"], json!({ "frozen": "no answer in time", "well": "ok" }));
    }
}
