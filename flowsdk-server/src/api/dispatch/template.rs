//! `POST /routers/{id}/dispatch/template`.

use std::sync::Arc;

use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use flowsdk_channels::phone::dispatch::{Dispatched, Dispatcher, NewDispatch};
use flowsdk_core::id::RouterId;
use flowsdk_core::idempotency::{Once, Outcome};
use http::StatusCode;

use crate::api::error::ApiError;
use crate::api::guard::AnyUser;
use crate::api::idempotency::{IdempotencyParams, Idempotent, Replayed, stored_as};
use crate::api::path::PathId;
use crate::api::reply::Reply;
use crate::api::state::Dispatches;

/// Send a template to a contact
///
/// For administrators, and agents of the router who may write to contacts first. The contact must have agreed to it. The
/// reply begins `targetFlowId`, if it comes within seven days.
#[utoipa::path(
    post, path = "/routers/{id}/dispatch/template", tag = "dispatch",
    params(("id" = RouterId, Path, description = "The router"), IdempotencyParams),
    request_body = NewDispatch,
    responses(
        (status = 200, description = "The message is on its way", body = Dispatched),
        (status = 400, description = "`validation_failed`: also a target that lacks the part it needs"),
        (status = 403, description = "`router_out_of_scope`; `dispatch_not_allowed`; `admin_only`: `disableOptIn`; `opt_in_missing`"),
        (status = 404, description = "`not_found`: no such router"),
        (status = 409, description = "`idempotency_conflict`"),
        (status = 422, description = "`flow_unknown`, `block_not_found`, `queue_unknown`, `agent_unknown`, \
            `template_unknown`, `template_not_approved`, `template_other_account`, `template_parameters`, \
            `channel_number_unknown`, `channel_number_inactive`"),
    )
)]
pub(super) async fn dispatch_template(
    user: AnyUser,
    State(dispatches): State<Arc<Dispatches>>,
    PathId(router): PathId<RouterId>,
    body: Idempotent<NewDispatch>,
) -> Result<Response, ApiError> {
    let (new, request) = body.of(&user.caller);
    let once =
        request.map(|request| Once { request, answer: |done: &Dispatched| stored_as(StatusCode::OK, done) });
    let authenticated = user.caller.authenticated();
    let by = Dispatcher {
        user: &user.id,
        is_admin: authenticated.require_admin().is_ok(),
        reach: authenticated.reach(),
    };
    let author = user.caller.author();
    Ok(match dispatches.dispatch(&author, by, &router, new, once).await? {
        Outcome::Done(done) => Reply(done).into_response(),
        Outcome::Replayed(answer) => Replayed { answer, collection: "" }.into_response(),
    })
}
