//! The templates of the business account.

use flowsdk_channels::template::TemplateCategory;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::provider::Provider;

/// Most templates of an account.
const MOST: usize = 250;

/// A template as the provider has it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct KeptTemplate {
    /// The provider's id.
    #[serde(default)]
    pub id: String,
    /// The name.
    pub name: String,
    /// The language.
    pub language: String,
    /// The category.
    pub category: String,
    /// How its review stands.
    #[serde(default = "pending")]
    pub status: String,
    /// The parts.
    pub components: Vec<Value>,
}

fn pending() -> String {
    "PENDING".to_owned()
}

/// What the provider thinks of a template.
#[derive(Debug, Clone, Deserialize)]
pub struct Review {
    /// Such as `APPROVED` or `REJECTED`.
    pub event: String,
    /// Why it was refused.
    #[serde(default)]
    pub reason: Option<String>,
}

impl Provider {
    /// Keeps a template, as a call or the console of the provider creates it, and returns its id. `None`, if its name and
    /// language are there, or there are too many.
    pub fn add_template(&self, mut template: KeptTemplate) -> Option<String> {
        let mut state = self.state();
        let is_same = |one: &KeptTemplate| (&one.name, &one.language) == (&template.name, &template.language);
        if state.templates.len() >= MOST || state.templates.iter().any(is_same) {
            return None;
        }
        let id = (1_000_000_000 + state.templates_made).to_string();
        state.templates_made += 1;
        template.id.clone_from(&id);
        state.templates.push(template);
        Some(id)
    }

    /// Removes a template, as the console of the provider does. Nobody is told.
    pub fn remove_template(&self, id: &str) {
        self.state().templates.retain(|template| template.id != id);
    }

    /// Reviews a template, and tells the server of it. Returns whether there is one.
    pub fn review(&self, id: &str, review: &Review) -> bool {
        let told = {
            let mut state = self.state();
            let Some(template) = state.templates.iter_mut().find(|template| template.id == id) else {
                return false;
            };
            template.status.clone_from(&review.event);
            let id: u64 = id.parse().unwrap_or_default();
            json!({ "event": review.event, "message_template_id": id, "message_template_name": template.name,
                "message_template_language": template.language, "reason": review.reason.as_deref().unwrap_or("NONE") })
        };
        self.deliver_change("message_template_status_update", &told);
        true
    }

    /// Returns the templates behind `after`, `limit` at most, and whether there are more.
    pub(super) fn templates(&self, after: Option<&str>, limit: usize) -> (Vec<KeptTemplate>, bool) {
        let state = self.state();
        let is_behind = |template: &&KeptTemplate| after.is_none_or(|after| template.id.as_str() > after);
        let mut rest = state.templates.iter().filter(is_behind);
        let page: Vec<KeptTemplate> = rest.by_ref().take(limit).cloned().collect();
        let has_more = rest.next().is_some();
        (page, has_more)
    }
}

/// Reads a call that creates a template.
pub(super) fn read(body: &[u8]) -> Result<KeptTemplate, String> {
    let mut template: KeptTemplate =
        serde_json::from_slice(body).map_err(|error| format!("(#100) {error}"))?;
    if TemplateCategory::parse(&template.category).is_none() {
        return Err("(#100) Param category must be one of {UTILITY, MARKETING, AUTHENTICATION}".to_owned());
    }
    if !template.components.iter().any(|component| component["type"] == "BODY") {
        return Err("(#100) The parameter components must have a BODY.".to_owned());
    }
    template.status = pending();
    Ok(template)
}
