//! A template as clients see it.

use flowsdk_channels::channel_number::ProviderId;
use flowsdk_channels::template::{
    Component, Template, TemplateCategory, TemplateLanguage, TemplateName, TemplateStatus, count_placeholders,
};
use flowsdk_core::id::{RouterId, TemplateId};
use flowsdk_core::time::IsoTime;
use serde::Serialize;
use utoipa::ToSchema;

/// A message template.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Template)]
pub(super) struct TemplateView {
    pub(super) id: TemplateId,
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
