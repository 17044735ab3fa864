//! The public form of a template.

use flowsdk_core::change::View;
use flowsdk_core::id::{RouterId, TemplateId};
use flowsdk_core::schema::SchemaAttributes;
use flowsdk_core::time::IsoTime;
use serde::Serialize;

use super::{
    Component, Template, TemplateCategory, TemplateLanguage, TemplateName, TemplateQuality, TemplateStatus,
    count_placeholders,
};
use crate::channel_number::ProviderId;

/// A message template.
#[derive(Debug, Serialize, View, SchemaAttributes)]
#[view(of = Template)]
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
    #[view(with = body_variables)]
    body_variables: usize,
    /// The provider's id of the template, once it is known.
    #[schema(required = true)]
    provider_id: Option<ProviderId>,
    /// What contacts think of it, as the provider tells it.
    #[schema(required = true)]
    quality: Option<TemplateQuality>,
    /// Why the provider refused it.
    #[schema(required = true, example = "INCORRECT_CATEGORY")]
    rejected_reason: Option<String>,
    created_at: IsoTime,
    updated_at: IsoTime,
}

fn body_variables(template: &Template) -> usize {
    count_placeholders(template.body()).unwrap_or(0)
}
