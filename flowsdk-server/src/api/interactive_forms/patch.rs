//! `PATCH /interactive-forms/{id}`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_channels::form::{FormChange, FormId, InteractiveFormView};

use crate::api::body::Body;
use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::path::PathId;
use crate::api::reply::Reply;
use crate::api::state::Forms;

/// Change an interactive form
///
/// The definition of a draft only, with the `revision` that it is a change of.
#[utoipa::path(
    patch, path = "/interactive-forms/{id}", tag = "interactive-forms",
    params(("id" = FormId, Path, description = "The form")),
    request_body = FormChange,
    responses(
        (status = 200, description = "The form", body = InteractiveFormView),
        (status = 409, description = "`name_taken`; `form_status`: the definition of a form that is no draft; `stale_revision`"),
        (status = 422, description = "`channel_number_unknown`"),
    )
)]
pub(super) async fn patch_interactive_form(
    can: Can<marks::ChannelNumbers, marks::Write>,
    State(forms): State<Arc<Forms>>,
    PathId(id): PathId<FormId>,
    Body(change): Body<FormChange>,
) -> Result<Reply<InteractiveFormView>, ApiError> {
    let (author, reach) = (can.caller.author(), can.reach());
    Ok(Reply(forms.change(&author, reach, &id, change).await?.into()))
}
