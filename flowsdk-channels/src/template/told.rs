//! What the provider tells of templates, read.

use flowsdk_core::cell::Named;
use flowsdk_core::id::{IdSource, RouterId, TemplateId};
use flowsdk_core::time::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{
    Component, Template, TemplateCategory, TemplateLanguage, TemplateName, TemplateQuality, TemplateStatus,
    ToldTemplate, validate,
};
use crate::channel_number::ProviderId;

/// Most characters of a reason that are kept.
const MAX_REASON: usize = 500;

/// News of one template of an account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TemplateNews {
    /// The provider's id, if it is told.
    pub provider_id: Option<String>,
    /// Name and language, if they are told.
    pub name: Option<(String, String)>,
    /// What is new.
    pub change: ToldChange,
}

/// What is new of a template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ToldChange {
    /// Its status, and the reason of a refusal.
    Status(TemplateStatus, Option<String>),
    /// What contacts think of it.
    Quality(TemplateQuality),
    /// Its category.
    Category(TemplateCategory),
}

impl TemplateNews {
    /// Returns whether it is about this template: by the provider's id where both have one, else by name and language.
    pub(super) fn is_about(&self, template: &Template) -> bool {
        match (&self.provider_id, &template.provider_id) {
            (Some(told), Some(known)) => told == known.as_str(),
            _ => self.name.as_ref().is_some_and(|(name, language)| {
                name == template.name.as_str() && language == template.language.as_str()
            }),
        }
    }
}

impl Template {
    /// Returns the template after the news.
    #[must_use]
    pub fn told(&self, change: &ToldChange) -> Self {
        let mut template = self.clone();
        match change {
            ToldChange::Status(status, reason) => {
                template.status = *status;
                template.rejected_reason = reason.clone().filter(|_| *status == TemplateStatus::Rejected);
            }
            ToldChange::Quality(quality) => template.quality = Some(*quality),
            ToldChange::Category(category) => template.category = *category,
        }
        template
    }
}

/// The reason why a template of the provider cannot be kept here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, Named)]
#[serde(rename_all = "snake_case")]
#[named(schema = "TemplateOmission")]
pub enum Omission {
    /// Its name has other characters.
    Name,
    /// Its language has another form.
    Language,
    /// Its category is not known.
    Category,
    /// It has parts, or placeholders by name, which cannot be sent from here.
    Components,
}

/// Returns the status that the provider names; `None`, if it says nothing about whether it can be sent.
pub fn status_told(name: &str) -> Option<TemplateStatus> {
    match name {
        "APPROVED" | "REINSTATED" | "UNARCHIVED" => Some(TemplateStatus::Approved),
        "PENDING" | "IN_APPEAL" => Some(TemplateStatus::Pending),
        "REJECTED" | "LIMIT_EXCEEDED" => Some(TemplateStatus::Rejected),
        "PAUSED" => Some(TemplateStatus::Paused),
        "DISABLED" | "PENDING_DELETION" | "DELETED" | "ARCHIVED" | "LOCKED" => Some(TemplateStatus::Disabled),
        _ => None,
    }
}

/// Returns a reason as it is kept; `None` where the provider gives none.
pub fn reason_told(text: &str) -> Option<String> {
    let text = text.trim();
    (!text.is_empty() && text != "NONE").then(|| text.chars().take(MAX_REASON).collect())
}

/// Reads a template of an account: the `known` one of this name and language after it, or a new one of `router`.
///
/// # Errors
/// [`Omission`].
pub(super) fn read(
    told: &ToldTemplate,
    known: Option<&Template>,
    (router, account): (&RouterId, &ProviderId),
    ids: &dyn IdSource,
    now: Timestamp,
) -> Result<Template, Omission> {
    // A sample that has another form is left out: what is sent needs none.
    let components = [true, false].into_iter().find_map(|with_samples| {
        let parts = told.components.iter().map(|part| component(part, with_samples));
        parts.collect::<Option<Vec<Component>>>().filter(|parts| validate(parts).is_empty())
    });
    let components = components.ok_or(Omission::Components)?;
    // A status without a name here is none that can be sent.
    let status = status_told(&told.status).unwrap_or(TemplateStatus::Disabled);
    let reason = told.rejected_reason.as_deref().and_then(reason_told);
    Ok(Template {
        id: known.map_or_else(|| TemplateId::generate(ids), |known| known.id.clone()),
        router_id: router.clone(),
        business_account_id: account.clone(),
        name: TemplateName::try_from(told.name.clone()).map_err(|_| Omission::Name)?,
        language: TemplateLanguage::try_from(told.language.clone()).map_err(|_| Omission::Language)?,
        category: TemplateCategory::parse(&told.category).ok_or(Omission::Category)?,
        status,
        components,
        provider_id: ProviderId::parse(&told.provider_id).ok(),
        quality: told.quality,
        rejected_reason: reason.filter(|_| status == TemplateStatus::Rejected),
        created_at: known.map_or(now, |known| known.created_at),
        updated_at: known.map_or(now, |known| known.updated_at),
    })
}

/// Reads a part. What the provider needs for its review alone, or adds by itself, is left out.
fn component(told: &Value, with_samples: bool) -> Option<Component> {
    let Value::Object(fields) = told else { return None };
    let text = |name: &str| fields.get(name).and_then(Value::as_str).unwrap_or_default();
    let (names, samples): (&[&str], &[&str]) = match text("type") {
        "HEADER" => (&["type", "format", "text"], &["header_text", "header_handle"]),
        "BODY" => (&["type", "text"], &["body_text"]),
        "FOOTER" => (&["type", "text"], &[]),
        "BUTTONS" => (&["type", "buttons"], &[]),
        _ => return None,
    };
    let mut part = picked(fields, names);
    let samples = fields.get("example").and_then(Value::as_object).map(|example| picked(example, samples));
    if let Some(samples) = samples.filter(|samples| with_samples && !samples.is_empty()) {
        part.insert("example".to_owned(), Value::Object(samples));
    }
    if let Some(Value::Array(buttons)) = part.get_mut("buttons") {
        for told in buttons {
            let Value::Object(button) = told else { return None };
            let names: &[&str] = match button.get("type").and_then(Value::as_str)? {
                // Its label is the provider's.
                "COPY_CODE" => &["type", "example"],
                "URL" => &["type", "text", "url", "example"],
                "FLOW" => &["type", "text", "flow_id", "flow_action", "navigate_screen"],
                _ => &["type", "text", "phone_number", "otp_type"],
            };
            let mut button = picked(button, names);
            if button["type"] == "COPY_CODE"
                && let Some(Value::Array(codes)) = button.get("example")
            {
                let code = codes.first().cloned().unwrap_or_default();
                button.insert("example".to_owned(), code);
            }
            if let Some(Value::Number(id)) = button.get("flow_id") {
                let id = id.to_string();
                button.insert("flow_id".to_owned(), id.into());
            }
            // A form that asks for its first screen has none of its own, whatever is told.
            if button.get("flow_action").is_some_and(|opening| opening == "DATA_EXCHANGE") {
                button.remove("navigate_screen");
            }
            *told = Value::Object(button);
        }
    }
    serde_json::from_value(Value::Object(part)).ok()
}

fn picked(fields: &Map<String, Value>, names: &[&str]) -> Map<String, Value> {
    let is_told = |(name, value): &(&String, &Value)| names.contains(&name.as_str()) && !value.is_null();
    fields.iter().filter(is_told).map(|(name, value)| (name.clone(), value.clone())).collect()
}

#[cfg(test)]
mod tests {
    use flowsdk_core::context::OpContext;
    use serde_json::json;

    use super::*;

    fn told(components: Value) -> ToldTemplate {
        ToldTemplate {
            provider_id: "17".to_owned(),
            name: "order".to_owned(),
            language: "pt_BR".to_owned(),
            category: "UTILITY".to_owned(),
            status: "APPROVED".to_owned(),
            components: serde_json::from_value(components).expect("a list"),
            quality: Some(TemplateQuality::Green),
            rejected_reason: Some("NONE".to_owned()),
        }
    }

    fn read_new(told: &ToldTemplate) -> Result<Template, Omission> {
        let (router, account) =
            (RouterId::parse("r1").expect("an id"), ProviderId::parse("9").expect("an id"));
        read(told, None, (&router, &account), OpContext::system().ids(), Timestamp::from_millis(5))
    }

    #[test]
    fn what_can_be_sent_is_kept() {
        let whole = told(json!([
            { "type": "HEADER", "format": "IMAGE", "example": { "header_handle": ["https://a.example/x"], "more": 1 } },
            { "type": "BODY", "text": "Olá {{1}}, chegou.", "add_security_recommendation": true,
                "example": { "body_text": [["Ana"]] } },
            { "type": "FOOTER", "text": "Loja", "code_expiration_minutes": 5 },
            { "type": "BUTTONS", "buttons": [
                { "type": "URL", "text": "Ver", "url": "https://a.example/{{1}}", "example": ["https://a.example/1"] },
                { "type": "COPY_CODE", "text": "Copiar", "example": ["ABC"] },
                { "type": "QUICK_REPLY", "text": "Sim", "more": 1 },
                { "type": "FLOW", "text": "Abrir", "flow_id": 7, "flow_action": "NAVIGATE", "navigate_screen": "A", "more": 1 },
                { "type": "FLOW", "text": "Pedir", "flow_id": "8", "flow_action": "DATA_EXCHANGE", "navigate_screen": "A" },
            ] },
        ]));
        let template = read_new(&whole).expect("it can be kept");
        assert_eq!((template.body(), template.components.len()), ("Olá {{1}}, chegou.", 4));
        assert_eq!(
            (template.status, template.quality),
            (TemplateStatus::Approved, Some(TemplateQuality::Green))
        );
        assert_eq!(template.rejected_reason, None);
        let samples = json!(template.components)[0]["example"].clone();
        assert_eq!(samples, json!({ "header_handle": ["https://a.example/x"] }));
        let form = json!({ "type": "FLOW", "text": "Abrir", "flow_id": "7", "flow_action": "navigate", "navigate_screen": "A" });
        assert_eq!(json!(template.components)[3]["buttons"][3], form);
        let asking =
            json!({ "type": "FLOW", "text": "Pedir", "flow_id": "8", "flow_action": "data_exchange" });
        assert_eq!(json!(template.components)[3]["buttons"][4], asking);
        let mut odd = whole.clone();
        odd.components[1]["example"] = json!({ "body_text": "Ana" });
        let odd = read_new(&odd).expect("it can be kept");
        assert_eq!(json!(odd.components)[1], json!({ "type": "BODY", "text": "Olá {{1}}, chegou." }));
        let known =
            Template { id: "t1".parse().expect("an id"), created_at: Timestamp::from_millis(1), ..template };
        let (router, account) = (known.router_id.clone(), known.business_account_id.clone());
        let ids = OpContext::system();
        let again = read(&whole, Some(&known), (&router, &account), ids.ids(), Timestamp::from_millis(9));
        assert_eq!(again.as_ref(), Ok(&known), "nothing is new");
    }

    #[test]
    fn what_cannot_be_sent_says_why() {
        let body = json!([{ "type": "BODY", "text": "Olá {{1}}, chegou." }]);
        for (told, omission) in [
            (ToldTemplate { name: "Order".to_owned(), ..told(body.clone()) }, Omission::Name),
            (ToldTemplate { language: "pt-BR".to_owned(), ..told(body.clone()) }, Omission::Language),
            (ToldTemplate { category: "NEW".to_owned(), ..told(body.clone()) }, Omission::Category),
            (told(json!([{ "type": "BODY", "text": "Olá {{name}}, chegou." }])), Omission::Components),
            (told(json!([{ "type": "BODY", "text": "Olá." }, { "type": "CAROUSEL" }])), Omission::Components),
            (told(json!([7])), Omission::Components),
            (told(json!([])), Omission::Components),
        ] {
            assert_eq!(read_new(&told), Err(omission), "{told:?}");
        }
        let odd = ToldTemplate { status: "NEW".to_owned(), ..told(body) };
        assert_eq!(read_new(&odd).map(|template| template.status), Ok(TemplateStatus::Disabled));
    }

    #[test]
    fn statuses_are_read() {
        for (name, status) in [
            ("APPROVED", Some(TemplateStatus::Approved)),
            ("REINSTATED", Some(TemplateStatus::Approved)),
            ("IN_APPEAL", Some(TemplateStatus::Pending)),
            ("REJECTED", Some(TemplateStatus::Rejected)),
            ("PAUSED", Some(TemplateStatus::Paused)),
            ("PENDING_DELETION", Some(TemplateStatus::Disabled)),
            ("FLAGGED", None),
            ("", None),
        ] {
            assert_eq!(status_told(name), status, "{name}");
        }
        assert_eq!((reason_told("NONE"), reason_told(" SCAM ")), (None, Some("SCAM".to_owned())));
    }
}
