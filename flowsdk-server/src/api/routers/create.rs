//! `POST /routers`.

use std::sync::Arc;

use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use flowsdk_core::admin::router::NewRouter;
use flowsdk_core::idempotency::{Once, Outcome};
use flowsdk_core::router::{AllRouters, Router, RouterView};

use super::COLLECTION;
use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::idempotency::{IdempotencyParams, Idempotent, Replayed, stored};
use crate::api::reply::Created;
use crate::api::state::Routers;

/// Create a router
///
/// A caller who is confined to routers would not see the new one, so they may not create it.
#[utoipa::path(
    post, path = "/routers", tag = "routers",
    params(IdempotencyParams),
    request_body = NewRouter,
    responses(
        (status = 201, description = "The router", body = RouterView),
        (status = 409, description = "`idempotency_conflict`"),
        (status = 422, description = "`flow_unknown`: a new router has no flow"),
    )
)]
pub(super) async fn create_router(
    can: Can<marks::Routers, marks::Write>,
    State(routers): State<Arc<Routers>>,
    body: Idempotent<NewRouter>,
) -> Result<Response, ApiError> {
    let everywhere = can.admit(AllRouters)?;
    let (new, request) = body.of(&can.caller);
    let once =
        request.map(|request| Once { request, answer: |router: &Router| stored(&RouterView::from(router)) });
    Ok(match routers.create(&can.caller.author(), everywhere, new, once).await? {
        Outcome::Done(router) => {
            let id = router.id.to_string();
            Created { collection: COLLECTION, id, body: RouterView::from(router) }.into_response()
        }
        Outcome::Replayed(answer) => Replayed { answer, collection: COLLECTION }.into_response(),
    })
}
