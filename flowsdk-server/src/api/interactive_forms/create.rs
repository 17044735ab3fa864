//! `POST /interactive-forms`.

use std::sync::Arc;

use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use flowsdk_channels::form::{InteractiveFormView, NewForm, WholeForm};
use flowsdk_core::idempotency::{Once, Outcome};

use super::COLLECTION;
use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::idempotency::{IdempotencyParams, Idempotent, Replayed, stored};
use crate::api::reply::Created;
use crate::api::state::Forms;

/// Create an interactive form
///
/// As a draft. Nothing is sent to the provider.
#[utoipa::path(
    post, path = "/interactive-forms", tag = "interactive-forms",
    params(IdempotencyParams),
    request_body = NewForm,
    responses(
        (status = 201, description = "The form", body = InteractiveFormView),
        (status = 409, description = "`name_taken`: the router has a form of this name; `idempotency_conflict`"),
        (status = 422, description = "`router_unknown`, `channel_number_unknown`"),
    )
)]
pub(super) async fn create_interactive_form(
    can: Can<marks::ChannelNumbers, marks::Write>,
    State(forms): State<Arc<Forms>>,
    body: Idempotent<NewForm>,
) -> Result<Response, ApiError> {
    let (new, request) = body.of(&can.caller);
    let once = request.map(|request| Once {
        request,
        answer: |form: &WholeForm| stored(&InteractiveFormView::from(form.clone())),
    });
    Ok(match forms.create(&can.caller.author(), can.admit(new)?, once).await? {
        Outcome::Done(form) => {
            let body = InteractiveFormView::from(form);
            Created { collection: COLLECTION, id: body.id.to_string(), body }.into_response()
        }
        Outcome::Replayed(answer) => Replayed { answer, collection: COLLECTION }.into_response(),
    })
}
