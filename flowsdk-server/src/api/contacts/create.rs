//! `POST /contacts`.

use std::sync::Arc;

use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use flowsdk_core::admin::contact::NewContact;
use flowsdk_core::contact::{ContactDetails, ContactIdentity};
use flowsdk_core::id::RouterId;
use flowsdk_core::idempotency::{Once, Outcome};
use flowsdk_core::session::{Channel, SentVariables};
use flowsdk_core::text::Text;
use serde::Deserialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use super::COLLECTION;
use super::view::ContactDetailsView;
use crate::api::error::{ApiError, Problems};
use crate::api::guard::{Can, marks};
use crate::api::idempotency::{IdempotencyParams, Idempotent, Replayed, stored};
use crate::api::reply::Created;
use crate::api::sessions::refused;
use crate::api::state::Contacts;

/// A contact to be, of any channel.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct CreateContact {
    /// The identity: of `phone` 8 to 15 digits (E.164 without the plus sign), of `webchat` `wc-<channelId>-<userId>`, of
    /// `social` `ig-<igsid>`.
    #[schema(min_length = 1, max_length = 300, example = "5511987654321")]
    phone_number: String,
    #[serde(default = "phone")]
    #[schema(required = false)]
    origin: Channel,
    /// Without one the contact is called as its identity.
    #[schema(value_type = String, required = false, min_length = 1, max_length = 200, pattern = r"\S", example = "Ana Smith")]
    name: Option<String>,
    /// Whether channels leave the name as it is; absent, they do if `name` is given.
    #[schema(value_type = bool, required = false)]
    name_locked: Option<bool>,
    #[serde(default)]
    #[schema(value_type = Object, required = false, additional_properties = true)]
    contact_variables: Map<String, Value>,
    /// A router that is to know the contact before it has written; a caller who is confined to routers names one.
    #[schema(value_type = RouterId, required = false)]
    router_id: Option<RouterId>,
}

fn phone() -> Channel {
    Channel::Phone
}

impl TryFrom<CreateContact> for NewContact {
    type Error = ApiError;

    fn try_from(body: CreateContact) -> Result<Self, ApiError> {
        let identity = ContactIdentity::parse(body.origin, &body.phone_number).map_err(|_| {
            let must = Text::new(
                "Não é uma identidade do canal em origin",
                "Not an identity of the channel in origin",
            );
            ApiError::invalid(Problems::one("phoneNumber", must))
        })?;
        let variables = SentVariables::check(body.contact_variables);
        let variables = variables.map_err(|errors| refused("contactVariables", errors))?;
        let CreateContact { name, name_locked, router_id, .. } = body;
        Ok(Self { identity, name, name_locked, variables, router_id })
    }
}

/// Create a contact
#[utoipa::path(
    post, path = "/contacts", tag = "contacts",
    params(IdempotencyParams),
    request_body = CreateContact,
    responses(
        (status = 201, description = "The contact", body = ContactDetailsView),
        (status = 409, description = "`contact_taken`, also by an alias, or `idempotency_conflict`"),
        (status = 422, description = "`channel_unknown`, `router_unknown` or `variables_too_large`"),
    )
)]
pub(super) async fn create_contact(
    can: Can<marks::Contacts, marks::Write>,
    State(contacts): State<Arc<Contacts>>,
    body: Idempotent<CreateContact>,
) -> Result<Response, ApiError> {
    let (body, request) = body.of(&can.caller);
    let once = request.map(|request| Once {
        request,
        answer: |created: &ContactDetails| stored(&ContactDetailsView::from(created.clone())),
    });
    let new = can.admit(NewContact::try_from(body)?)?;
    Ok(match contacts.create(&can.caller.author(), can.reach(), new, once).await? {
        Outcome::Done(created) => {
            let body = ContactDetailsView::from(created);
            Created { collection: COLLECTION, id: body.id(), body }.into_response()
        }
        Outcome::Replayed(answer) => Replayed { answer, collection: COLLECTION }.into_response(),
    })
}
