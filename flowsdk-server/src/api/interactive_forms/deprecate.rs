//! `POST /interactive-forms/{id}/deprecate`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_channels::form::{FormId, InteractiveFormView};

use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::path::PathId;
use crate::api::reply::Reply;
use crate::api::state::Forms;

/// Deprecate an interactive form
///
/// Takes a published form out of use, for good. Nothing is sent to the provider.
#[utoipa::path(
    post, path = "/interactive-forms/{id}/deprecate", tag = "interactive-forms",
    params(("id" = FormId, Path, description = "The form")),
    responses(
        (status = 200, description = "The form", body = InteractiveFormView),
        (status = 409, description = "`form_status`: it is not published"),
    )
)]
pub(super) async fn deprecate_interactive_form(
    can: Can<marks::ChannelNumbers, marks::Write>,
    State(forms): State<Arc<Forms>>,
    PathId(id): PathId<FormId>,
) -> Result<Reply<InteractiveFormView>, ApiError> {
    let (author, reach) = (can.caller.author(), can.reach());
    Ok(Reply(forms.deprecate(&author, reach, &id).await?.into()))
}
