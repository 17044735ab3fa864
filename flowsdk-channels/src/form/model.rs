//! The form, without and with its definition.

use std::sync::Arc;

use flowsdk_core::id::{ChannelNumberId, FlowId, Id, RouterId};
use flowsdk_core::record::RouterRecord;
use flowsdk_core::schema::SchemaAttributes;
use flowsdk_core::time::{IsoTime, Timestamp, as_iso};
use serde::Serialize;
use serde_json::{Map, Value};

use super::{FormCommand, FormError, FormStatus};
use crate::channel_number::ProviderId;

/// Identifier of an interactive form.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Id)]
pub struct FormId(Arc<str>);

/// A form without its definition, as lists and the log of changes show it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, RouterRecord, SchemaAttributes)]
#[router_record(
    kind = InteractiveForm, error = FormError, search = name, unique = NameTaken,
    may_be_deleted = may_be_deleted,
    // Router, number and tool were looked for before. With a number, what went meanwhile is taken to be it.
    orphan(channel_number_id = NumberUnknown)
)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[schema(as = ListedInteractiveForm)]
pub struct InteractiveForm {
    /// The id of the form.
    pub id: FormId,
    /// The router of the form. It never changes.
    pub router_id: RouterId,
    /// Its name; unique in its router.
    #[schema(example = "Appointments")]
    pub name: String,
    /// Its purpose.
    #[schema(required = true)]
    pub description: Option<String>,
    /// Its state.
    pub status: FormStatus,
    /// Grows by one with each change of the definition.
    #[schema(example = 1)]
    pub revision: i64,
    /// The provider's id of the form.
    #[schema(required = true)]
    pub provider_form_id: Option<ProviderId>,
    /// The number whose conversations show it; null of any.
    #[schema(required = true)]
    pub channel_number_id: Option<ChannelNumberId>,
    /// The tool that answers what the form asks while it is open; null of a form that asks nothing.
    #[schema(required = true)]
    pub flow_id: Option<FlowId>,
    /// When it was created.
    #[serde(serialize_with = "as_iso")]
    #[schema(value_type = IsoTime)]
    pub created_at: Timestamp,
    /// When it was last changed.
    #[serde(serialize_with = "as_iso")]
    #[schema(value_type = IsoTime)]
    pub updated_at: Timestamp,
}

/// Checks whether the status of a form lets it go.
fn may_be_deleted(form: &InteractiveForm) -> Result<(), FormError> {
    FormCommand::Delete.leads_from(form.status).map(drop).ok_or(FormError::Status)
}

/// A form with its definition.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs, reason = "the fields say it")]
pub struct WholeForm {
    pub form: InteractiveForm,
    pub definition: Map<String, Value>,
}

/// An interactive form.
#[derive(Debug, Serialize, SchemaAttributes)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[schema(as = InteractiveForm)]
pub struct InteractiveFormView {
    /// The id of the form.
    pub id: FormId,
    /// The router of the form. It never changes.
    pub router_id: RouterId,
    /// Its name; unique in its router.
    #[schema(example = "Appointments")]
    pub name: String,
    /// Its purpose.
    #[schema(required = true)]
    pub description: Option<String>,
    /// Its state.
    pub status: FormStatus,
    /// The screens, as the provider's format has them.
    #[schema(value_type = Object)]
    pub definition: Map<String, Value>,
    /// Grows by one with each change of the definition.
    #[schema(example = 1)]
    pub revision: i64,
    /// The provider's id of the form.
    #[schema(required = true)]
    pub provider_form_id: Option<ProviderId>,
    /// The number whose conversations show it; null of any.
    #[schema(required = true)]
    pub channel_number_id: Option<ChannelNumberId>,
    /// The tool that answers what the form asks while it is open; null of a form that asks nothing.
    #[schema(required = true)]
    pub flow_id: Option<FlowId>,
    /// When it was created.
    pub created_at: IsoTime,
    /// When it was last changed.
    pub updated_at: IsoTime,
}

impl From<WholeForm> for InteractiveFormView {
    fn from(WholeForm { form, definition }: WholeForm) -> Self {
        Self {
            id: form.id,
            router_id: form.router_id,
            name: form.name,
            description: form.description,
            status: form.status,
            definition,
            revision: form.revision,
            provider_form_id: form.provider_form_id,
            channel_number_id: form.channel_number_id,
            flow_id: form.flow_id,
            created_at: form.created_at.into(),
            updated_at: form.updated_at.into(),
        }
    }
}
