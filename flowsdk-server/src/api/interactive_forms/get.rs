//! `GET /interactive-forms/{id}`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_channels::form::{FormId, InteractiveFormView};

use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::path::PathId;
use crate::api::reply::Reply;
use crate::api::state::Forms;

/// Show an interactive form
#[utoipa::path(
    get, path = "/interactive-forms/{id}", tag = "interactive-forms",
    params(("id" = FormId, Path, description = "The form")),
    responses((status = 200, description = "The form", body = InteractiveFormView))
)]
pub(super) async fn get_interactive_form(
    can: Can<marks::ChannelNumbers, marks::Read>,
    State(forms): State<Arc<Forms>>,
    PathId(id): PathId<FormId>,
) -> Result<Reply<InteractiveFormView>, ApiError> {
    Ok(Reply(forms.get(can.reach(), &id).await?.into()))
}
