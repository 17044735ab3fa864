//! The provider's own templates: the port by which they are read and submitted.

use std::fmt::Debug;

use async_trait::async_trait;
use flowsdk_core::channel::SendError;
use secrecy::SecretString;
use serde_json::Value;

use super::{Template, TemplateCategory, TemplateQuality};
use crate::channel_number::ProviderId;

/// A business account, with a token that the provider lets in.
#[derive(Debug, Clone)]
pub struct TemplateAccount {
    /// The provider's id of the account.
    pub id: ProviderId,
    /// The access token of one of its numbers.
    pub access_token: SecretString,
}

/// A template as the provider tells it. Names and shapes are the provider's, and not checked.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ToldTemplate {
    /// The provider's id.
    pub provider_id: String,
    /// The name.
    pub name: String,
    /// The language, such as `pt_BR`.
    pub language: String,
    /// The name of the category.
    pub category: String,
    /// The name of the status.
    pub status: String,
    /// The parts.
    pub components: Vec<Value>,
    /// What contacts think of it.
    pub quality: Option<TemplateQuality>,
    /// Why it was refused.
    pub rejected_reason: Option<String>,
}

/// A page of an account's templates.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ToldPage {
    /// The templates.
    pub templates: Vec<ToldTemplate>,
    /// Where the next page begins; `None` on the last.
    pub next: Option<String>,
}

/// The provider has taken a template for its review.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Submitted {
    /// The provider's id.
    pub provider_id: String,
    /// The name of its status.
    pub status: String,
    /// The category that the provider gave it, which may be another one.
    pub category: Option<TemplateCategory>,
}

/// The provider of a channel, as far as it keeps templates (WhatsApp Business Management API, "Message templates").
#[async_trait]
pub trait TemplateProvider: Send + Sync + Debug {
    /// Returns a page of the account's templates.
    ///
    /// # Errors
    /// [`SendError`].
    async fn list(&self, account: &TemplateAccount, after: Option<&str>) -> Result<ToldPage, SendError>;

    /// Submits a template for review, once.
    ///
    /// # Errors
    /// [`SendError`].
    async fn submit(&self, account: &TemplateAccount, template: &Template) -> Result<Submitted, SendError>;
}
