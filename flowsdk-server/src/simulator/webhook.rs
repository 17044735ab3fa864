//! The deliveries of the provider.

use std::time::Duration;

use flowsdk_channels::phone::webhook::{SIGNATURE_HEADER, sign};
use flowsdk_core::contact::is_user_id;
use reqwest::RequestBuilder;
use serde_json::{Value, json};

use super::disorder::Disorder;
use super::phone::{Delivered, Side};
use super::provider::{Provider, Reach, SentMessage};

/// Pauses between the attempts of one delivery; the provider goes on for days.
const PAUSE: Duration = Duration::from_millis(250);
const MOST_ATTEMPTS: u32 = 240;

impl Provider {
    /// A phone writes to a number: `message` has the `type` and its node, and may have a `timestamp`. Returns the id of the
    /// message.
    pub fn say(&self, phone_number_id: &str, phone: &str, name: &str, mut message: Value) -> String {
        let id = self.state().next_id();
        self.show(phone_number_id, phone, &id, Side::Phone, message.clone());
        let mut contact = json!({ "profile": { "name": name } });
        if is_user_id(phone) {
            message["from_user_id"] = phone.into();
            contact["user_id"] = phone.into();
        } else {
            message["from"] = phone.into();
            contact["wa_id"] = phone.into();
        }
        message["id"] = id.as_str().into();
        // Whoever quotes a message here quotes the business.
        if message["context"]["id"].is_string() && message["context"]["from"].is_null() {
            message["context"]["from"] = phone_number_id.into();
        }
        if message["timestamp"].is_null() {
            message["timestamp"] = self.now().into();
        }
        let written = Written { number: phone_number_id.into(), phone: phone.into(), id: id.clone() };
        let value = json!({ "contacts": [contact], "messages": [message] });
        self.deliver(phone_number_id, value, Some(written));
        id
    }

    /// Tells how far a message came, unless that is not told.
    pub(super) fn tell_of(&self, message: &SentMessage) {
        let reach = self.state().config.reach;
        for (status, at) in [("sent", Reach::Sent), ("delivered", Reach::Delivered), ("read", Reach::Read)] {
            if at <= reach {
                self.tell_status(message, status);
            }
        }
    }

    /// A phone shows what it has been sent: what it had not shown before is told to be read.
    pub fn read(&self, phone_number_id: &str, phone: &str) {
        let shown = self.state().screen(phone_number_id, phone).read_by_phone();
        let messages: Vec<SentMessage> =
            self.state().sent.iter().filter(|message| shown.contains(&message.id)).cloned().collect();
        for message in messages {
            self.tell_status(&message, "read");
        }
    }

    /// Tells a status of a message.
    pub fn tell_status(&self, message: &SentMessage, status: &str) {
        self.tell(message, json!({ "status": status }));
    }

    /// Tells that a message which was taken has failed.
    pub fn tell_failure(&self, message: &SentMessage, code: i64, details: &str) {
        let error = json!({ "code": code, "title": details, "message": details,
            "error_data": { "details": details } });
        self.tell(message, json!({ "status": "failed", "errors": [error] }));
    }

    fn tell(&self, message: &SentMessage, mut told: Value) {
        told["id"] = message.id.as_str().into();
        told["timestamp"] = self.now().into();
        let recipient = if is_user_id(&message.to) { "recipient_user_id" } else { "recipient_id" };
        told[recipient] = message.to.as_str().into();
        if let Some(data) = message.body.get("biz_opaque_callback_data") {
            told["biz_opaque_callback_data"] = data.clone();
        }
        self.deliver(&message.phone_number_id, json!({ "statuses": [told] }), None);
    }

    fn now(&self) -> String {
        (self.shared().cx.now().as_millis() / 1_000).to_string()
    }

    /// Delivers news of a number.
    fn deliver(&self, phone_number_id: &str, mut value: Value, written: Option<Written>) {
        value["messaging_product"] = "whatsapp".into();
        value["metadata"] =
            json!({ "display_phone_number": phone_number_id, "phone_number_id": phone_number_id });
        self.deliver_change("messages", &value, written);
    }

    /// Delivers a change of the account, and what was held back before, if it is time. A phone is told what became of the
    /// message that it has `written`.
    pub(super) fn deliver_change(&self, field: &str, value: &Value, written: Option<Written>) {
        let coming = {
            let mut state = self.state();
            if state.config.callback.is_none() {
                return;
            }
            let change = json!({ "field": field, "value": value });
            let entry = json!({ "id": state.config.account_id, "changes": [change] });
            let body =
                escaped(&json!({ "object": "whatsapp_business_account", "entry": [entry] }).to_string());
            let signature = sign(&state.config.app_secret, body.as_bytes());
            let disorder = state.disorder;
            state.held.take(disorder, Delivery { body, signature, written })
        };
        self.send(coming);
    }

    /// Sets how deliveries come. What is held back comes at once.
    pub fn disturb(&self, disorder: Disorder) {
        let coming = {
            let mut state = self.state();
            let before = std::mem::replace(&mut state.disorder, disorder);
            state.held.release(before)
        };
        self.send(coming);
    }

    /// Sends deliveries one after the other, each again and again until it is taken. Those of several calls come together.
    fn send(&self, deliveries: Vec<Delivery>) {
        let provider = self.clone();
        self.shared().tasks.spawn(async move {
            for delivery in deliveries {
                provider.insist(&delivery).await;
            }
        });
    }

    async fn insist(&self, Delivery { body, signature, written }: &Delivery) {
        for _ in 0..MOST_ATTEMPTS {
            // The address may be another one by now.
            let Some(callback) = self.state().config.callback.clone() else { return };
            let request = self.shared().client.post(callback).header(SIGNATURE_HEADER, signature);
            let request = request.header("content-type", "application/json").body(body.clone());
            let delivered = outcome(request).await;
            if let Some(written) = written {
                self.state().note_delivery(written, delivered);
            }
            if matches!(delivered, Delivered::Taken | Delivered::LeftOut) {
                return;
            }
            tokio::time::sleep(PAUSE).await;
        }
        tracing::warn!("a webhook is given up");
    }
}

/// A delivery, signed.
#[derive(Debug, Clone)]
pub(super) struct Delivery {
    body: String,
    signature: String,
    /// The message of a phone in it.
    written: Option<Written>,
}

/// A message that a phone wrote to a number.
#[derive(Debug, Clone)]
pub(super) struct Written {
    pub(super) number: String,
    pub(super) phone: String,
    pub(super) id: String,
}

/// Delivers, and returns what the webhook made of it.
async fn outcome(request: RequestBuilder) -> Delivered {
    let Ok(answer) = request.send().await else { return Delivered::Unanswered };
    let status = answer.status();
    if !status.is_success() {
        return Delivered::Refused { status: status.as_u16() };
    }
    let left_out = |body: &Value| body["leftOut"].as_u64().is_some_and(|parts| parts > 0);
    let body = answer.json().await;
    if body.is_ok_and(|body| left_out(&body)) { Delivered::LeftOut } else { Delivered::Taken }
}

/// Returns JSON as the provider writes it: in ASCII alone.
fn escaped(json: &str) -> String {
    let mut text = String::with_capacity(json.len());
    for c in json.chars() {
        if c.is_ascii() {
            text.push(c);
        } else {
            let mut units = [0; 2];
            for unit in c.encode_utf16(&mut units) {
                text.push_str(&format!("\\u{unit:04x}"));
            }
        }
    }
    text
}
