//! `POST /interactive-forms/{id}/publish`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_channels::form::{FormId, InteractiveFormView};

use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::path::PathId;
use crate::api::reply::Reply;
use crate::api::state::Forms;

/// Publish an interactive form
///
/// Fixes the definition of a draft. Nothing is sent to the provider.
#[utoipa::path(
    post, path = "/interactive-forms/{id}/publish", tag = "interactive-forms",
    params(("id" = FormId, Path, description = "The form")),
    responses(
        (status = 200, description = "The form", body = InteractiveFormView),
        (status = 409, description = "`form_status`: it is no draft"),
        (status = 422, description = "`form_empty`: its definition has no `screens`"),
    )
)]
pub(super) async fn publish_interactive_form(
    can: Can<marks::ChannelNumbers, marks::Write>,
    State(forms): State<Arc<Forms>>,
    PathId(id): PathId<FormId>,
) -> Result<Reply<InteractiveFormView>, ApiError> {
    let (author, reach) = (can.caller.author(), can.reach());
    Ok(Reply(forms.publish(&author, reach, &id).await?.into()))
}
