//! What a phone says when a button of a message is tapped.

use serde_json::{Value, json};

use super::provider::Provider;

impl Provider {
    /// A phone taps a button of a message that it was sent: a quick reply of a template, a reply button, or a row of a list. It
    /// is named by its title. Returns the id of what the phone said; `None` if it has no such message or button.
    pub fn tap(
        &self,
        phone_number_id: &str,
        phone: &str,
        name: &str,
        message_id: &str,
        title: &str,
    ) -> Option<String> {
        let screen = self.screen(phone_number_id, phone);
        let tapped = screen.messages.iter().find(|bubble| bubble.id == message_id)?;
        let mut said = reply(&tapped.message, title)?;
        said["context"] = json!({ "id": message_id });
        Some(self.say(phone_number_id, phone, name, said))
    }
}

fn reply(message: &Value, title: &str) -> Option<Value> {
    let listed = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let buttons = listed(&message["template"]["filled"]["buttons"]);
    if let Some(quick) = buttons.iter().find(|one| one["type"] == "quick_reply" && one["text"] == title) {
        return Some(json!({ "type": "button", "button": { "text": title, "payload": quick["payload"] } }));
    }
    let action = &message["interactive"]["action"];
    let interactive = |kind: &str, chosen: Value| json!({ "type": "interactive", "interactive": { "type": kind, kind: chosen } });
    if let Some(button) = listed(&action["buttons"]).iter().find(|one| one["reply"]["title"] == title) {
        return Some(interactive("button_reply", button["reply"].clone()));
    }
    let rows = listed(&action["sections"]).into_iter().flat_map(|section| listed(&section["rows"]));
    rows.into_iter().find(|row| row["title"] == title).map(|row| interactive("list_reply", row))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tap_is_said_as_the_provider_says_it() {
        let template = json!({ "type": "template", "template": { "filled": { "buttons": [
            { "type": "url", "text": "No", "url": "https://a.example" },
            { "type": "quick_reply", "text": "No", "payload": "No-Button-Payload" }] } } });
        let interactive =
            |action: Value| json!({ "type": "interactive", "interactive": { "action": action } });
        let buttons =
            interactive(json!({ "buttons": [{ "type": "reply", "reply": { "id": "n", "title": "No" } }] }));
        let row = json!({ "id": "n", "title": "No", "description": "Later" });
        let list = interactive(json!({ "sections": [{ "rows": [] }, { "rows": [row] }] }));
        for (message, said) in [
            (
                &template,
                json!({ "type": "button", "button": { "text": "No", "payload": "No-Button-Payload" } }),
            ),
            (
                &buttons,
                json!({ "type": "interactive", "interactive": { "type": "button_reply", "button_reply": { "id": "n", "title": "No" } } }),
            ),
            (
                &list,
                json!({ "type": "interactive", "interactive": { "type": "list_reply", "list_reply": row } }),
            ),
        ] {
            assert_eq!(reply(message, "No"), Some(said));
            assert_eq!(reply(message, "Yes"), None);
        }
        assert_eq!(reply(&json!({ "type": "text" }), "No"), None);
    }
}
