//! The commands of forms, and the rules of a definition.

use flowsdk_core::id::{ChannelNumberId, FlowId, IdSource, RouterId};
use flowsdk_core::name::Name;
use flowsdk_core::patch::present;
use flowsdk_core::router::{Reach, Reachable};
use flowsdk_core::schema::SchemaAttributes;
use flowsdk_core::session::json_depth;
use flowsdk_core::text::Text;
use flowsdk_core::time::Timestamp;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::{FormCommand, FormError, FormId, FormStatus, InteractiveForm, WholeForm};
use crate::channel_number::ProviderId;

/// Largest definition, as JSON, in bytes.
const MAX_DEFINITION: usize = 256 << 10;
/// Most levels of lists and objects of a definition, itself included.
const MAX_DEFINITION_DEPTH: usize = 32;

/// A new form. It begins as a draft.
#[derive(Debug, Clone, Deserialize, SchemaAttributes)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[schema(as = CreateInteractiveForm)]
pub struct NewForm {
    /// The router of the form. It cannot be changed later.
    pub router_id: RouterId,
    /// Its name; unique in its router.
    #[schema(value_type = String, min_length = 1, max_length = 200, pattern = r"\S", example = "Appointments")]
    pub name: Name,
    /// Its purpose.
    #[schema(max_length = 1_000)]
    pub description: Option<String>,
    /// The screens, as the provider's format has them: at most 256 KiB and 32 levels. Empty when nothing is said.
    #[serde(default)]
    #[schema(value_type = Object, required = false)]
    pub definition: Map<String, Value>,
    /// The provider's id of the form.
    pub provider_form_id: Option<ProviderId>,
    /// The number whose conversations show it; any when nothing is said.
    pub channel_number_id: Option<ChannelNumberId>,
    /// The tool that answers what the form asks while it is open: a flow of the kind `tool`.
    pub flow_id: Option<FlowId>,
}

impl Reachable for NewForm {
    fn is_within(&self, reach: Reach<'_>) -> bool {
        self.router_id.is_within(reach)
    }
}

impl NewForm {
    /// Returns the draft, with an id from `ids`, as created at `now`.
    pub(super) fn into_draft(self, ids: &dyn IdSource, now: Timestamp) -> WholeForm {
        let form = InteractiveForm {
            id: FormId::generate(ids),
            router_id: self.router_id,
            name: self.name.into(),
            description: self.description,
            status: FormStatus::Draft,
            revision: 1,
            provider_form_id: self.provider_form_id,
            channel_number_id: self.channel_number_id,
            flow_id: self.flow_id,
            created_at: now,
            updated_at: now,
        };
        WholeForm { form, definition: self.definition }
    }
}

/// The changes to make to a form; an absent field stays, and null removes a value.
#[derive(Debug, Clone, Default, Deserialize, SchemaAttributes)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[schema(as = PatchInteractiveForm)]
pub struct FormChange {
    /// The new name.
    #[schema(value_type = String, required = false, min_length = 1, max_length = 200, pattern = r"\S")]
    pub name: Option<Name>,
    /// Its purpose.
    #[serde(default, deserialize_with = "present")]
    #[schema(value_type = Option<String>, max_length = 1_000)]
    pub description: Option<Option<String>>,
    /// The screens, of a draft only. It needs `revision`.
    #[schema(value_type = Object, required = false)]
    pub definition: Option<Map<String, Value>>,
    /// The revision that `definition` is a change of.
    #[schema(value_type = i64, required = false, minimum = 1)]
    pub revision: Option<i64>,
    /// The provider's id of the form.
    #[serde(default, deserialize_with = "present")]
    #[schema(value_type = Option<ProviderId>)]
    pub provider_form_id: Option<Option<ProviderId>>,
    /// The number whose conversations show it; null of any.
    #[serde(default, deserialize_with = "present")]
    #[schema(value_type = Option<ChannelNumberId>)]
    pub channel_number_id: Option<Option<ChannelNumberId>>,
    /// The tool that answers what the form asks while it is open; null of a form that asks nothing.
    #[serde(default, deserialize_with = "present")]
    #[schema(value_type = Option<FlowId>)]
    pub flow_id: Option<Option<FlowId>>,
}

impl FormChange {
    /// Returns the findings of the change itself: fields and reasons.
    pub(super) fn findings(&self) -> Vec<(String, Text)> {
        let mut findings = self.definition.as_ref().map(definition_findings).unwrap_or_default();
        if self.definition.is_some() && self.revision.is_none() {
            findings.push(("revision".to_owned(), Text::new("Campo obrigatório", "Required field")));
        }
        findings
    }

    /// Returns the form after the change, and the new definition, if it is one.
    ///
    /// # Errors
    /// [`FormError::Status`], [`FormError::StaleRevision`].
    pub(super) fn apply(
        self,
        mut form: InteractiveForm,
    ) -> Result<(InteractiveForm, Option<Map<String, Value>>), FormError> {
        if self.definition.is_some() {
            FormCommand::Redefine.leads_from(form.status).ok_or(FormError::Status)?;
        }
        if self.revision.is_some_and(|revision| revision != form.revision) {
            return Err(FormError::StaleRevision { current: form.revision });
        }
        form.name = self.name.map_or(form.name, String::from);
        form.description = self.description.unwrap_or(form.description);
        form.provider_form_id = self.provider_form_id.unwrap_or(form.provider_form_id);
        form.channel_number_id = self.channel_number_id.unwrap_or(form.channel_number_id);
        form.flow_id = self.flow_id.unwrap_or(form.flow_id);
        form.revision += i64::from(self.definition.is_some());
        Ok((form, self.definition))
    }
}

/// Returns the reason why a definition is refused, with its field.
pub(super) fn definition_findings(definition: &Map<String, Value>) -> Vec<(String, Text)> {
    let too_deep = 1 + definition.values().map(json_depth).max().unwrap_or(0) > MAX_DEFINITION_DEPTH;
    let text = if too_deep {
        Text::of(
            format!("Pode ter no máximo {MAX_DEFINITION_DEPTH} níveis"),
            format!("May have at most {MAX_DEFINITION_DEPTH} levels"),
        )
    } else if serde_json::to_vec(definition).is_ok_and(|json| json.len() <= MAX_DEFINITION) {
        return Vec::new();
    } else {
        Text::of(
            format!("Pode ter no máximo {MAX_DEFINITION} bytes"),
            format!("May have at most {MAX_DEFINITION} bytes"),
        )
    };
    vec![("definition".to_owned(), text)]
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_definition_is_neither_deep_nor_large() {
        let found = |definition: Value| {
            definition_findings(definition.as_object().expect("an object"))
                .first()
                .map(|(_, text)| text.english().to_owned())
        };
        let deep = |levels: usize| (0..levels).fold(json!(1), |inner, _| json!({ "a": inner }));
        let large = |bytes: usize| json!({ "a": "x".repeat(bytes - r#"{"a":""}"#.len()) });
        assert_eq!(found(json!({})), None);
        assert_eq!(found(deep(MAX_DEFINITION_DEPTH)), None);
        assert_eq!(found(deep(MAX_DEFINITION_DEPTH + 1)), Some("May have at most 32 levels".to_owned()));
        assert_eq!(found(large(MAX_DEFINITION)), None);
        assert_eq!(found(large(MAX_DEFINITION + 1)), Some("May have at most 262144 bytes".to_owned()));
    }
}
