//! The public form of a template.

use flowsdk_core::id::{RouterId, TemplateId};
use flowsdk_core::schema::SchemaAttributes;
use flowsdk_core::time::IsoTime;
use serde::Serialize;

use super::{
    Component, Template, TemplateCategory, TemplateLanguage, TemplateName, TemplateStatus, count_placeholders,
};
use crate::channel_number::ProviderId;

/// A message template.
#[derive(Debug, Serialize, SchemaAttributes)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[schema(as = Template)]
pub struct TemplateView {
    /// The id of the template.
    pub id: TemplateId,
    router_id: RouterId,
    /// The provider's business account that has it.
    business_account_id: ProviderId,
    name: TemplateName,
    language: TemplateLanguage,
    category: TemplateCategory,
    status: TemplateStatus,
    components: Vec<Component>,
    /// How many values its body wants when it is sent.
    body_variables: usize,
    created_at: IsoTime,
    updated_at: IsoTime,
}

impl From<Template> for TemplateView {
    fn from(template: Template) -> Self {
        let body_variables = count_placeholders(template.body()).unwrap_or(0);
        Self {
            id: template.id,
            router_id: template.router_id,
            business_account_id: template.business_account_id,
            name: template.name,
            language: template.language,
            category: template.category,
            status: template.status,
            components: template.components,
            body_variables,
            created_at: template.created_at.into(),
            updated_at: template.updated_at.into(),
        }
    }
}
