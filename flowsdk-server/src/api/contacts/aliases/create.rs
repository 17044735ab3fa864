//! `POST /contacts/{contactId}/aliases`.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use flowsdk_core::contact::Alias;
use flowsdk_core::id::ContactId;
use flowsdk_core::text::Text;
use http::StatusCode;
use serde::Deserialize;
use utoipa::ToSchema;

use crate::api::body::Body;
use crate::api::contacts::view::AliasView;
use crate::api::error::{ApiError, Problems};
use crate::api::guard::{Can, marks};
use crate::api::path::PathId;
use crate::api::reply;
use crate::api::state::Contacts;

/// Another identity.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::api::contacts) struct CreateContactAlias {
    /// As its channel writes it: a number, an id of the provider.
    #[schema(min_length = 1, max_length = 300, pattern = "^[!-~]+$", example = "551187654321")]
    alias: String,
}

/// Add an identity to a contact
///
/// Messages under the alias belong to the contact from then on.
#[utoipa::path(
    post, path = "/contacts/{contactId}/aliases", tag = "contacts",
    params(("contactId" = ContactId, Path, description = "The contact")),
    request_body = CreateContactAlias,
    responses(
        (status = 201, description = "The alias", body = AliasView),
        (status = 409, description = "`alias_taken`: by a contact, as alias or identity"),
        (status = 422, description = "`channel_unknown`: the alias is of a web chat channel that is not within reach"),
    )
)]
pub(in crate::api::contacts) async fn create_contact_alias(
    can: Can<marks::Contacts, marks::Write>,
    State(contacts): State<Arc<Contacts>>,
    PathId(id): PathId<ContactId>,
    Body(body): Body<CreateContactAlias>,
) -> Result<Response, ApiError> {
    let must = Text::new("Valor inválido", "Invalid value");
    let alias = Alias::parse(body.alias).map_err(|_| ApiError::invalid(Problems::one("alias", must)))?;
    let alias = contacts.add_alias(&can.caller.author(), can.reach(), &id, alias).await?;
    Ok(reply::json(StatusCode::CREATED, &AliasView::from(alias)))
}
