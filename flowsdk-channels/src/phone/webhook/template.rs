//! News of templates (WhatsApp Business Platform, "message_template_status_update", "message_template_quality_update",
//! "template_category_update").

use super::loose::{Fields, object, text};
use crate::template::{
    TemplateCategory, TemplateNews, TemplateQuality, ToldChange, reason_told, status_told,
};

/// The fields of the changes that tell of templates.
pub(super) const FIELDS: [&str; 3] =
    ["message_template_status_update", "message_template_quality_update", "template_category_update"];

/// Reads the value of a change; `None` of one that says nothing about whether a template can be sent.
pub(super) fn read(field: &str, value: &Fields) -> Option<TemplateNews> {
    let change = match field {
        "message_template_status_update" => {
            let told = text(value, "reason").or_else(|| text(object(value, "rejection_info")?, "reason"));
            let reason = told.as_deref().and_then(reason_told);
            ToldChange::Status(status_told(&text(value, "event")?)?, reason)
        }
        "message_template_quality_update" => {
            ToldChange::Quality(TemplateQuality::parse(&text(value, "new_quality_score")?)?)
        }
        "template_category_update" => {
            ToldChange::Category(TemplateCategory::parse(&text(value, "new_category")?)?)
        }
        _ => return None,
    };
    let name = text(value, "message_template_name").zip(text(value, "message_template_language"));
    let provider_id = text(value, "message_template_id");
    (provider_id.is_some() || name.is_some()).then_some(TemplateNews { provider_id, name, change })
}
