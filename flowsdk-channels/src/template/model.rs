//! The template.

use flowsdk_core::id::{IdSource, RouterId, TemplateId};
use flowsdk_core::record::{NewRecord, RecordChange, RecordFilter, RouterRecord};
use flowsdk_core::router::{Reach, Reachable};
use flowsdk_core::schema::SchemaAttributes;
use flowsdk_core::time::Timestamp;
use serde::Deserialize;

use super::{
    Component, TemplateCategory, TemplateError, TemplateLanguage, TemplateName, TemplateQuality,
    TemplateStatus, TemplateView, validate,
};
use crate::channel_number::ProviderId;

/// A message template of a router.
#[derive(Debug, Clone, PartialEq, Eq, RouterRecord)]
#[router_record(
    kind = MessageTemplate, error = TemplateError, filter = TemplateFilter, search = name, unique = NameTaken,
    view = TemplateView
)]
pub struct Template {
    /// Names the template in paths and references.
    pub id: TemplateId,
    /// Its router; it never changes.
    pub router_id: RouterId,
    /// The provider's business account that has it; numbers of this account can send it.
    pub business_account_id: ProviderId,
    /// Its name; unique in router, account and language, and never changed, as with the provider.
    pub name: TemplateName,
    /// The language of its texts.
    pub language: TemplateLanguage,
    /// Its purpose; prices and rules of the provider depend on it.
    pub category: TemplateCategory,
    /// Its review status with the provider.
    pub status: TemplateStatus,
    /// Its parts; [`validate`](super::validate) finds no problem in them.
    pub components: Vec<Component>,
    /// The provider's id, once it is known.
    pub provider_id: Option<ProviderId>,
    /// What contacts think of it, as the provider tells it.
    pub quality: Option<TemplateQuality>,
    /// Why the provider refused it.
    pub rejected_reason: Option<String>,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
}

impl Template {
    /// The text of its body.
    pub fn body(&self) -> &str {
        let body = self.components.iter().find_map(|component| match component {
            Component::Body { text, .. } => Some(text.as_str()),
            _ => None,
        });
        body.unwrap_or_default()
    }
}

/// A new template. Router, business account, name and language cannot be changed later.
#[derive(Debug, Clone, Deserialize, SchemaAttributes)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[schema(as = CreateTemplate)]
pub struct NewTemplate {
    /// The router of the template.
    pub router_id: RouterId,
    /// The provider's business account that has it.
    pub business_account_id: ProviderId,
    /// The name; unique in router, account and language.
    pub name: TemplateName,
    /// The language of its texts.
    pub language: TemplateLanguage,
    /// Its purpose; prices and rules of the provider depend on it.
    pub category: TemplateCategory,
    /// Its review status with the provider; `DRAFT` when nothing is said.
    #[serde(default = "draft")]
    #[schema(required = false)]
    pub status: TemplateStatus,
    /// Its parts, in the order of the message.
    #[schema(max_items = 4)]
    pub components: Vec<Component>,
}

fn draft() -> TemplateStatus {
    TemplateStatus::Draft
}

impl Reachable for NewTemplate {
    fn is_within(&self, reach: Reach<'_>) -> bool {
        self.router_id.is_within(reach)
    }
}

impl NewRecord for NewTemplate {
    type Record = Template;

    fn check(&self) -> Result<(), TemplateError> {
        check(&self.components)
    }

    fn into_record(self, ids: &dyn IdSource, now: Timestamp) -> Template {
        Template {
            id: TemplateId::generate(ids),
            router_id: self.router_id,
            business_account_id: self.business_account_id,
            name: self.name,
            language: self.language,
            category: self.category,
            status: self.status,
            components: self.components,
            provider_id: None,
            quality: None,
            rejected_reason: None,
            created_at: now,
            updated_at: now,
        }
    }
}

/// The changes to make to a template; an absent field stays.
#[derive(Debug, Clone, Default, Deserialize, SchemaAttributes)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[schema(as = PatchTemplate)]
pub struct TemplateChange {
    /// Its purpose; prices and rules of the provider depend on it.
    #[schema(value_type = TemplateCategory, required = false)]
    pub category: Option<TemplateCategory>,
    /// Its review status with the provider.
    #[schema(value_type = TemplateStatus, required = false)]
    pub status: Option<TemplateStatus>,
    /// All of its parts, in the order of the message.
    #[schema(value_type = Vec<Component>, required = false, max_items = 4)]
    pub components: Option<Vec<Component>>,
}

impl RecordChange for TemplateChange {
    type Record = Template;

    fn check(&self) -> Result<(), TemplateError> {
        self.components.as_deref().map_or(Ok(()), check)
    }

    fn apply(self, template: Template) -> Template {
        Template {
            category: self.category.unwrap_or(template.category),
            status: self.status.unwrap_or(template.status),
            components: self.components.unwrap_or(template.components),
            ..template
        }
    }
}

/// Checks the rules of the provider.
fn check(components: &[Component]) -> Result<(), TemplateError> {
    let findings = validate(components);
    if findings.is_empty() { Ok(()) } else { Err(TemplateError::Invalid(findings)) }
}

/// Which templates are wanted; absent fields let everything through.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TemplateFilter {
    /// Those of this router.
    pub router_id: Option<RouterId>,
    /// Those of this business account.
    pub business_account_id: Option<ProviderId>,
    /// Those that stand like this.
    pub status: Option<TemplateStatus>,
    /// Those of this name, in any language.
    pub name: Option<String>,
}

impl Reachable for TemplateFilter {
    fn is_within(&self, reach: Reach<'_>) -> bool {
        self.router_id.is_within(reach)
    }
}

impl RecordFilter for TemplateFilter {
    fn router(&self) -> Option<&RouterId> {
        self.router_id.as_ref()
    }
}
