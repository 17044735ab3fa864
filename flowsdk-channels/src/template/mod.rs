//! Message templates: the messages that a business may send outside of the service window.
//!
//! A template belongs to a router and to one of the provider's business accounts; the provider knows it there by
//! name and language. Limits and shapes are those of the provider.

mod component;
mod error;
mod model;
mod names;
mod placeholder;
mod provider;
mod repository;
mod sync;
mod sync_error;
mod told;
mod validate;
mod view;

use flowsdk_core::record::RouterRecords;

pub use component::{BodyExample, Button, Component, HeaderExample, HeaderFormat};
pub use error::TemplateError;
pub use model::{NewTemplate, Template, TemplateChange, TemplateFilter};
pub use names::{
    InvalidTemplateName, LANGUAGE_PATTERN, NAME_PATTERN, TemplateCategory, TemplateLanguage, TemplateName,
    TemplateQuality, TemplateStatus,
};
pub use placeholder::{InvalidPlaceholders, WrongCount, count_placeholders, render_body};
pub use provider::{Submitted, TemplateAccount, TemplateProvider, ToldPage, ToldTemplate};
pub use repository::{HasProviderTemplates, ProviderTemplates, SentTemplate};
pub use sync::{Omitted, SyncTemplates, SyncedTemplates, TemplateSync, follow};
pub use sync_error::SyncError;
pub use told::{Omission, TemplateNews, ToldChange, reason_told, status_told};
pub use validate::{MAX_BODY, MAX_BUTTON_TEXT, MAX_BUTTONS, MAX_FOOTER, MAX_HEADER, validate};
pub use view::TemplateView;

/// The use cases of templates as records. [`TemplateSync`] talks to the provider; its copy of a deleted template stays.
pub type Templates<S> = RouterRecords<S, Template>;
