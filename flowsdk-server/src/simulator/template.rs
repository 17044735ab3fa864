//! The templates of the business account.

use flowsdk_channels::template::{TemplateCategory, status_told};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::filled::filled;
use super::provider::{Provider, State};

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
    /// Why it was refused.
    #[serde(default)]
    pub rejected_reason: Option<String>,
    /// The parts.
    pub components: Vec<Value>,
}

impl State {
    /// Returns the template that a message names, if it is kept.
    fn template_of(&self, message: &Value) -> Option<&KeptTemplate> {
        let sent = &message["template"];
        self.templates
            .iter()
            .find(|one| sent["name"] == *one.name && sent["language"]["code"] == *one.language)
    }
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

/// An event of the provider that says nothing about whether a template can be sent.
const FLAGGED: &str = "FLAGGED";

impl Review {
    /// Returns whether the provider has such an event.
    pub(super) fn is_known(&self) -> bool {
        self.event == FLAGGED || status_told(&self.event).is_some()
    }
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
        // As with messages, no start gives an id of another one.
        let id = (1_000_000_000 + state.config.seed % 1_000_000_000_000 * 1_000 + state.templates_made)
            .to_string();
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
            template.rejected_reason.clone_from(&review.reason);
            let id: u64 = id.parse().unwrap_or_default();
            json!({ "event": review.event, "message_template_id": id, "message_template_name": template.name,
                "message_template_language": template.language, "reason": review.reason.as_deref().unwrap_or("NONE") })
        };
        self.deliver_news("message_template_status_update", &told);
        true
    }

    /// Returns why a message of a template is refused, if it is. What is not kept here may be approved all the same: a server
    /// can have templates of which the simulator was never told.
    pub(super) fn refused_template(&self, message: &Value) -> Option<(i64, &'static str)> {
        match &*self.state().template_of(message)?.status {
            "APPROVED" => None,
            "PAUSED" => Some((132_015, "Template is paused due to low quality")),
            "DISABLED" => Some((132_016, "Template is disabled")),
            _ => Some((132_001, "Template name does not exist in the translation")),
        }
    }

    /// Returns a template with its values, as a phone shows it; `None` of one that is not kept.
    pub(super) fn filled(&self, message: &Value) -> Option<Value> {
        Some(filled(&self.state().template_of(message)?.components, &message["template"]))
    }

    /// Returns the templates behind `after`, `limit` at most, and whether there are more.
    pub(super) fn templates(&self, after: Option<&str>, limit: usize) -> (Vec<KeptTemplate>, bool) {
        let state = self.state();
        let number = |id: &str| id.parse::<u64>().unwrap_or_default();
        let is_behind =
            |template: &&KeptTemplate| after.is_none_or(|after| number(&template.id) > number(after));
        let mut rest = state.templates.iter().filter(is_behind);
        let page: Vec<KeptTemplate> = rest.by_ref().take(limit).cloned().collect();
        let has_more = rest.next().is_some();
        (page, has_more)
    }
}

/// Reads a call that creates a template.
pub(super) fn read(body: &[u8]) -> Result<KeptTemplate, String> {
    let mut template: KeptTemplate = serde_json::from_slice(body).map_err(|error| error.to_string())?;
    if TemplateCategory::parse(&template.category).is_none() {
        return Err("Param category must be one of {UTILITY, MARKETING, AUTHENTICATION}".to_owned());
    }
    let is_body = |kind: &str| kind.eq_ignore_ascii_case("BODY");
    if !template.components.iter().any(|component| component["type"].as_str().is_some_and(is_body)) {
        return Err("The parameter components must have a BODY.".to_owned());
    }
    template.status = pending();
    template.rejected_reason = None;
    Ok(template)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn template(name: &str) -> KeptTemplate {
        let body = json!([{ "type": "BODY", "text": "Hi {{1}}, {{2}} is on its way to {{1}}." }]);
        let call = json!({ "name": name, "language": "en", "category": "UTILITY", "components": body });
        read(call.to_string().as_bytes()).expect("a template")
    }

    #[test]
    fn a_template_is_kept_once_and_shown_with_its_values() {
        let provider = Provider::of_tests(None);
        let id = provider.add_template(template("order")).expect("it is new");
        assert_eq!(provider.add_template(template("order")), None);
        let values = json!([{ "type": "body", "parameters": [{ "type": "text", "text": "Ana" }, { "type": "text", "text": "7" }] }]);
        let mut sent =
            json!({ "template": { "name": "order", "language": { "code": "en" }, "components": values } });
        assert_eq!(provider.filled(&sent).expect("it is kept")["body"], "Hi Ana, 7 is on its way to Ana.");
        sent["template"]["name"] = "other".into();
        assert_eq!(provider.filled(&sent), None);
        assert!(!provider.review("nothing", &Review { event: "APPROVED".to_owned(), reason: None }));
        provider.remove_template(&id);
        assert_eq!(provider.templates(None, 10), (Vec::new(), false));
    }

    #[test]
    fn pages_follow_each_other() {
        let provider = Provider::of_tests(None);
        let ids: Vec<String> =
            (0..5).filter_map(|nth| provider.add_template(template(&format!("t{nth}")))).collect();
        let (first, more) = provider.templates(None, 3);
        assert_eq!((first.len(), more), (3, true));
        let (rest, more) = provider.templates(Some(&ids[2]), 3);
        assert_eq!((rest.len(), more), (2, false));
        for odd in ["", "{}", r#"{"name":"a","language":"en","category":"X","components":[{"type":"BODY"}]}"#]
        {
            assert!(read(odd.as_bytes()).is_err(), "{odd}");
        }
    }
}
