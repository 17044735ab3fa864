//! The deliveries of the provider.

use std::time::Duration;

use flowsdk_channels::phone::webhook::{SIGNATURE_HEADER, sign};
use flowsdk_core::contact::is_user_id;
use reqwest::RequestBuilder;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::disorder::Disorder;
use super::lanes::Lane;
use super::phone::{Delivered, Side};
use super::provider::{Provider, Reach, SentMessage};

/// Pauses between the attempts of one delivery; the provider goes on for days.
const PAUSE: Duration = Duration::from_millis(250);
const MOST_ATTEMPTS: u32 = 240;
/// How long those behind a delivery wait for it to be taken. Then it comes again beside them.
const IN_ORDER_FOR: Duration = Duration::from_secs(5);
/// Most deliveries that were neither taken nor given up: a server that is away costs no more memory than these.
const MOST_UNDER_WAY: usize = 20_000;

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
        self.deliver(phone_number_id, phone, value, Some(written));
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
        self.deliver(&message.phone_number_id, &message.to, json!({ "statuses": [told] }), None);
    }

    fn now(&self) -> String {
        (self.shared().cx.now().as_millis() / 1_000).to_string()
    }

    /// Delivers news of a number and a phone.
    fn deliver(&self, phone_number_id: &str, phone: &str, mut value: Value, written: Option<Written>) {
        value["messaging_product"] = "whatsapp".into();
        value["metadata"] =
            json!({ "display_phone_number": phone_number_id, "phone_number_id": phone_number_id });
        self.deliver_change("messages", &value, (phone_number_id.to_owned(), phone.to_owned()), written);
    }

    /// Delivers news of the account, which are of no phone.
    pub(super) fn deliver_news(&self, field: &str, value: &Value) {
        self.deliver_change(field, value, Lane::default(), None);
    }

    /// Delivers a change, and what was held back before, if it is time. A phone is told what became of the message that it
    /// has `written`.
    fn deliver_change(&self, field: &str, value: &Value, lane: Lane, written: Option<Written>) {
        let (coming, disorder) = {
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
            (state.held.take(disorder, Delivery { body, signature, lane, written }), disorder)
        };
        self.send(coming, disorder);
    }

    /// Sets how deliveries come. What is held back comes at once.
    pub fn disturb(&self, disorder: Disorder) {
        let (coming, before) = {
            let mut state = self.state();
            let before = std::mem::replace(&mut state.disorder, disorder);
            (state.held.release(before), before)
        };
        self.send(coming, before);
    }

    /// Sends deliveries, each again and again until it is taken. Those that were held back come in the order that they have
    /// now, and those of several calls together. Others come in the order of their phone.
    fn send(&self, mut deliveries: Vec<Delivery>, disorder: Disorder) {
        self.count_in(&mut deliveries);
        if disorder.holds > 1 {
            let provider = self.clone();
            self.shared().tasks.spawn(async move {
                for delivery in deliveries {
                    provider.go_on(&delivery, MOST_ATTEMPTS).await;
                }
            });
            return;
        }
        for delivery in deliveries {
            let lane = delivery.lane.clone();
            if self.state().lanes.join(&lane, delivery) {
                self.shared().tasks.spawn(self.clone().deliver_lane(lane));
            }
        }
    }

    /// Counts deliveries that come, and gives up those for which there is no room.
    fn count_in(&self, deliveries: &mut Vec<Delivery>) {
        let mut state = self.state();
        let room = MOST_UNDER_WAY.saturating_sub(state.under_way);
        if deliveries.len() > room {
            deliveries.truncate(room);
            tracing::warn!("a webhook is given up: too many are not taken");
        }
        state.under_way += deliveries.len();
    }

    /// Gives back the room of a delivery that is over or given up.
    fn count_out(&self) {
        self.state().under_way -= 1;
    }

    /// Delivers what one phone and one number have, until there is no more.
    async fn deliver_lane(self, lane: Lane) {
        while let Some(delivery) = self.next_of(&lane) {
            let mut attempts = MOST_ATTEMPTS;
            let until = Instant::now() + IN_ORDER_FOR;
            if self.attempt(&delivery, &mut attempts, Some(until)).await {
                self.count_out();
            } else {
                let provider = self.clone();
                self.shared().tasks.spawn(async move { provider.go_on(&delivery, attempts).await });
            }
        }
    }

    /// Ends the borrow of the state before the delivery begins.
    fn next_of(&self, lane: &Lane) -> Option<Delivery> {
        self.state().lanes.next(lane)
    }

    /// Delivers with the attempts that are left, and then gives the delivery up.
    async fn go_on(&self, delivery: &Delivery, mut attempts: u32) {
        if !self.attempt(delivery, &mut attempts, None).await {
            tracing::warn!("a webhook is given up");
        }
        self.count_out();
    }

    /// Delivers again and again while there are `attempts` and it is not later than `until`. Returns whether the delivery is
    /// over: it was taken, or there is no address for it any more.
    async fn attempt(&self, delivery: &Delivery, attempts: &mut u32, until: Option<Instant>) -> bool {
        let Delivery { body, signature, written, .. } = delivery;
        while *attempts > 0 && until.is_none_or(|until| Instant::now() < until) {
            *attempts -= 1;
            // The address may be another one by now.
            let Some(callback) = self.state().config.callback.clone() else {
                return true;
            };
            let request = self.shared().client.post(callback).header(SIGNATURE_HEADER, signature);
            let request = request.header("content-type", "application/json").body(body.clone());
            let delivered = outcome(request).await;
            if let Some(written) = written {
                self.state().note_delivery(written, delivered);
            }
            if matches!(delivered, Delivered::Taken | Delivered::LeftOut) {
                return true;
            }
            tokio::time::sleep(PAUSE).await;
        }
        false
    }
}

/// A delivery, signed.
#[derive(Debug, Clone)]
pub(super) struct Delivery {
    body: String,
    signature: String,
    lane: Lane,
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use axum::Router;
    use axum::extract::State;
    use axum::routing::post;
    use http::StatusCode;
    use tokio::net::TcpListener;
    use tokio::sync::{Mutex, Notify, mpsc};
    use tokio_util::task::TaskTracker;

    use super::*;

    const TEXTS: usize = 12;

    /// A webhook that refuses the first delivery, and not before another phone was heard.
    struct Webhook {
        refused: Mutex<bool>,
        other_came: Notify,
        taken: mpsc::UnboundedSender<(String, String)>,
    }

    async fn take(State(webhook): State<Arc<Webhook>>, body: axum::Json<Value>) -> StatusCode {
        let message = &body["entry"][0]["changes"][0]["value"]["messages"][0];
        let text = |value: &Value| value.as_str().expect("a text").to_owned();
        let (from, said) = (text(&message["from"]), text(&message["text"]["body"]));
        if from == "2" {
            webhook.other_came.notify_one();
        } else if !std::mem::replace(&mut *webhook.refused.lock().await, true) {
            webhook.other_came.notified().await;
            return StatusCode::SERVICE_UNAVAILABLE;
        }
        webhook.taken.send((from, said)).expect("the test listens");
        StatusCode::OK
    }

    #[tokio::test]
    async fn what_one_phone_writes_comes_in_order_and_holds_nobody_else_up() {
        let (taken, mut heard) = mpsc::unbounded_channel();
        let webhook = Webhook { refused: Mutex::new(false), other_came: Notify::new(), taken };
        let routes = Router::new().route("/", post(take)).with_state(Arc::new(webhook));
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        TaskTracker::new().spawn(async move { axum::serve(listener, routes).await });
        let provider = Provider::of_tests(Some(format!("http://{address}/").parse().expect("a URL")));
        let say = |phone: &str, said: &str| {
            provider.say("111", phone, "Ana", json!({ "type": "text", "text": { "body": said } }));
        };
        let texts: Vec<String> = (0..TEXTS).map(|nth| nth.to_string()).collect();
        for text in &texts {
            say("1", text);
        }
        say("2", "hello");
        assert_eq!(heard.recv().await, Some(("2".to_owned(), "hello".to_owned())));
        for text in texts {
            assert_eq!(heard.recv().await, Some(("1".to_owned(), text)));
        }
        provider.shared().tasks.close();
        provider.shared().tasks.wait().await;
        assert_eq!(provider.state().under_way, 0);
    }
}
