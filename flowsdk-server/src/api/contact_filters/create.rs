//! `POST /contact-filters`.

use std::sync::Arc;

use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use flowsdk_core::idempotency::{Once, Outcome};
use flowsdk_core::saved_filter::{NewSavedFilter, SavedFilter};

use super::COLLECTION;
use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::idempotency::{IdempotencyParams, Idempotent, Replayed, stored};
use crate::api::reply::Created;
use crate::api::state::SavedFilters;

/// Create a saved filter of contacts
#[utoipa::path(
    post, path = "/contact-filters", tag = "contact-filters",
    params(IdempotencyParams),
    request_body = NewSavedFilter,
    responses(
        (status = 201, description = "The filter", body = SavedFilter),
        (status = 409, description = "`idempotency_conflict`"),
        (status = 422, description = "`router_unknown`"),
    )
)]
pub(super) async fn create_contact_filter(
    can: Can<marks::Contacts, marks::Write>,
    State(filters): State<Arc<SavedFilters>>,
    body: Idempotent<NewSavedFilter>,
) -> Result<Response, ApiError> {
    let (new, request) = body.of(&can.caller);
    let once = request.map(|request| Once { request, answer: |filter: &SavedFilter| stored(filter) });
    Ok(match filters.create(&can.caller.author(), can.admit(new)?, once).await? {
        Outcome::Done(body) => {
            Created { collection: COLLECTION, id: body.id.to_string(), body }.into_response()
        }
        Outcome::Replayed(answer) => Replayed { answer, collection: COLLECTION }.into_response(),
    })
}
