//! Templates of business accounts (WhatsApp Business Management API, "Message templates").

use async_trait::async_trait;
use flowsdk_core::channel::SendError;
use serde::Deserialize;
use serde_json::{Value, json};

use super::GraphApi;
use crate::template::{
    Submitted, Template, TemplateAccount, TemplateCategory, TemplateProvider, TemplateQuality, ToldPage,
    ToldTemplate,
};

/// Templates of a page.
const PAGE: &str = "100";
const FIELDS: &str =
    "id,name,status,category,language,components,parameter_format,rejected_reason,quality_score";
/// What the account calls them.
const COLLECTION: &str = "message_templates";

/// A page, as far as its frame is concerned.
#[derive(Deserialize)]
struct Page {
    data: Vec<Value>,
    #[serde(default)]
    paging: Paging,
}

#[derive(Default, Deserialize)]
struct Paging {
    #[serde(default)]
    cursors: Cursors,
    #[serde(default)]
    next: Option<String>,
}

#[derive(Default, Deserialize)]
struct Cursors {
    #[serde(default)]
    after: Option<String>,
}

fn page(answer: Value) -> Result<ToldPage, SendError> {
    let page: Page = serde_json::from_value(answer).map_err(|error| SendError::Unanswered(error.into()))?;
    let Paging { cursors, next } = page.paging;
    let templates = page.data.iter().map(template).collect();
    // The address of the next page holds the token, so only its place is taken.
    Ok(ToldPage { templates, next: cursors.after.filter(|_| next.is_some()) })
}

fn template(told: &Value) -> ToldTemplate {
    let text = |name: &str| told[name].as_str().unwrap_or_default().to_owned();
    ToldTemplate {
        provider_id: id_of(&told["id"]),
        name: text("name"),
        language: text("language"),
        category: text("category"),
        status: text("status"),
        components: told["components"].as_array().cloned().unwrap_or_default(),
        quality: told["quality_score"]["score"].as_str().and_then(TemplateQuality::parse),
        rejected_reason: told["rejected_reason"].as_str().map(str::to_owned),
    }
}

/// Returns an id that is a text or a number.
fn id_of(id: &Value) -> String {
    id.as_str().map_or_else(|| id.as_u64().map(|id| id.to_string()).unwrap_or_default(), str::to_owned)
}

#[async_trait]
impl TemplateProvider for GraphApi {
    async fn list(&self, account: &TemplateAccount, after: Option<&str>) -> Result<ToldPage, SendError> {
        let url = self.at(&[account.id.as_str(), COLLECTION])?;
        let request = self.client.get(url).query(&[("fields", FIELDS), ("limit", PAGE)]);
        let request = if let Some(after) = after { request.query(&[("after", after)]) } else { request };
        page(self.call(request, &account.access_token).await?)
    }

    async fn submit(&self, account: &TemplateAccount, template: &Template) -> Result<Submitted, SendError> {
        let url = self.at(&[account.id.as_str(), COLLECTION])?;
        let body = json!({
            "name": template.name, "language": template.language, "category": template.category,
            "components": template.components,
        });
        let answer = self.call(self.client.post(url).json(&body), &account.access_token).await?;
        let provider_id = id_of(&answer["id"]);
        if provider_id.is_empty() {
            return Err(SendError::Unanswered("an answer without an id".into()));
        }
        Ok(Submitted {
            provider_id,
            status: answer["status"].as_str().unwrap_or_default().to_owned(),
            category: answer["category"].as_str().and_then(TemplateCategory::parse),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_read() {
        let told = page(json!({
            "data": [
                { "id": "17", "name": "order", "status": "APPROVED", "category": "UTILITY", "language": "pt_BR",
                    "components": [{ "type": "BODY", "text": "Oi" }], "quality_score": { "score": "GREEN", "date": 1 },
                    "rejected_reason": "NONE" },
                { "id": 18, "quality_score": { "score": "NEW" }, "components": 7 },
                "odd",
            ],
            "paging": { "cursors": { "before": "a", "after": "b" }, "next": "https://provider.example/?access_token=t" },
        }))
        .expect("a page");
        assert_eq!(told.next.as_deref(), Some("b"));
        assert_eq!(told.templates[0].quality, Some(TemplateQuality::Green));
        assert_eq!((&*told.templates[0].provider_id, told.templates[0].components.len()), ("17", 1));
        assert_eq!((&*told.templates[1].provider_id, told.templates[1].quality), ("18", None));
        assert_eq!(told.templates[2], ToldTemplate::default());
        let last = page(json!({ "data": [], "paging": { "cursors": { "after": "b" } } })).expect("a page");
        assert_eq!(last.next, None);
        assert!(page(json!({ "error": 1 })).is_err());
    }
}
