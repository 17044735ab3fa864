//! Schemas of the parts of numbers, templates, credentials and integrations.

use flowsdk_channels::template::{LANGUAGE_PATTERN, NAME_PATTERN, TemplateCategory, TemplateStatus};
use flowsdk_core::credential::LlmProvider;
use flowsdk_core::integration::{IntegrationAuth, IntegrationKind};
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::Schema;
use utoipa::{PartialSchema, ToSchema};

use super::text;

schemas! {
    /// The provider's id of a phone number or of a business account.
    ProviderIdText: text()
        .pattern(Some("^[0-9]{1,32}$"))
        .description(Some("The provider's id: digits."))
        .examples(["106540352242922"]);
    /// An address below which a server answers.
    BaseAddress: text()
        .pattern(Some(r"^https?://[^\s/?#@\\]+(/[^\s?#\\]*)?$"))
        .max_length(Some(2_048))
        .description(Some("Without user, query and fragment."))
        .examples(["https://api.example.com/v1"]);
    /// The same, by https only.
    SecureAddress: text()
        .pattern(Some(r"^https://[^\s/?#@\\]+(/[^\s?#\\]*)?$"))
        .max_length(Some(2_048))
        .description(Some("Without user, query and fragment."))
        .examples(["https://api.example.com/v1"]);
    /// The name of a template.
    TemplateNameText: text().pattern(Some(NAME_PATTERN)).max_length(Some(512)).examples(["order_update"]);
    /// A language of the provider's.
    TemplateLanguageText: text().pattern(Some(LANGUAGE_PATTERN)).examples(["pt_BR"]);
    /// What a template is for.
    TemplateCategoryName: text().enum_values(Some(TemplateCategory::ALL.map(TemplateCategory::name)));
    /// How a template stands with the provider.
    TemplateStatusName: text()
        .enum_values(Some(TemplateStatus::ALL.map(TemplateStatus::name)))
        .description(Some("Only an `APPROVED` one can be sent."));
    /// Whose models a credential opens.
    LlmProviderName: text().enum_values(Some(LlmProvider::ALL.map(LlmProvider::name)));
    /// What kind of server an integration is.
    IntegrationKindName: text().enum_values(Some(IntegrationKind::ALL.map(IntegrationKind::name)));
    /// How credentials are shown.
    IntegrationAuthName: text()
        .enum_values(Some(IntegrationAuth::ALL.map(IntegrationAuth::name)))
        .description(Some("`bearer` and `basic` in `Authorization`, `header` in the one that `headerName` names."));
}
