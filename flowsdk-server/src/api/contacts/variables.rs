//! `PATCH /contacts/{contactId}/variables`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_core::id::ContactId;
use flowsdk_core::session::SentVariables;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

use crate::api::body::Body;
use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::path::PathId;
use crate::api::reply::Reply;
use crate::api::sessions::refused;
use crate::api::state::Contacts;

/// Variables to merge: those in the body are replaced, all others stay; null is a value.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct PatchContactVariables {
    #[schema(value_type = Object, additional_properties = true, example = json!({ "plan": "pro" }))]
    contact_variables: Map<String, Value>,
}

/// The variables after the merge.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct ContactVariables {
    #[schema(value_type = Object, additional_properties = true)]
    contact_variables: Map<String, Value>,
}

/// Merge variables into those of a contact
#[utoipa::path(
    patch, path = "/contacts/{contactId}/variables", tag = "contacts",
    params(("contactId" = ContactId, Path, description = "The contact")),
    request_body = PatchContactVariables,
    responses(
        (status = 200, description = "All variables of the contact", body = ContactVariables),
        (status = 422, description = "`variables_too_large`: more than 64 KiB in total, and more than before"),
    )
)]
pub(super) async fn patch_contact_variables(
    can: Can<marks::Contacts, marks::Write>,
    State(contacts): State<Arc<Contacts>>,
    PathId(id): PathId<ContactId>,
    Body(body): Body<PatchContactVariables>,
) -> Result<Reply<ContactVariables>, ApiError> {
    let sent = SentVariables::check(body.contact_variables);
    let sent = sent.map_err(|errors| refused("contactVariables", errors))?;
    let contact_variables = contacts.merge_variables(&can.caller.author(), can.reach(), &id, &sent).await?;
    Ok(Reply(ContactVariables { contact_variables }))
}
