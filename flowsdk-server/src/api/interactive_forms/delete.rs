//! `DELETE /interactive-forms/{id}`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_channels::form::FormId;
use http::StatusCode;

use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::path::PathId;
use crate::api::state::Forms;

/// Delete an interactive form
///
/// Only a draft can be deleted.
#[utoipa::path(
    delete, path = "/interactive-forms/{id}", tag = "interactive-forms",
    params(("id" = FormId, Path, description = "The form")),
    responses((status = 204, description = "Deleted"), (status = 409, description = "`form_status`: it is no draft"))
)]
pub(super) async fn delete_interactive_form(
    can: Can<marks::ChannelNumbers, marks::Write>,
    State(forms): State<Arc<Forms>>,
    PathId(id): PathId<FormId>,
) -> Result<StatusCode, ApiError> {
    forms.delete(&can.caller.author(), can.reach(), &id).await?;
    Ok(StatusCode::NO_CONTENT)
}
