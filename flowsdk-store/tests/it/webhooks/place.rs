//! A router with a webhook, and the server that takes its deliveries.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use flowsdk_core::change::{Author, NoChangeLog};
use flowsdk_core::crypto::MasterKey;
use flowsdk_core::event::{WebhookEvent, WebhookEventType};
use flowsdk_core::flow::{HttpAnswer, HttpCaller, HttpRequest, OutsideFailure};
use flowsdk_core::integration::BaseUrl;
use flowsdk_core::page::PageRequest;
use flowsdk_core::record::HasRecords as _;
use flowsdk_core::router::Reach;
use flowsdk_core::store::{Store as _, Transaction as _};
use flowsdk_store::sql::SqlStore;
use flowsdk_webhooks::delivery::{Attempt, Delivery, DeliveryFilter, DeliveryId, Secret};
use flowsdk_webhooks::fan_out::FanOut;
use flowsdk_webhooks::sender::Sender;
use flowsdk_webhooks::webhook::{SecretOverlap, Webhook, WebhookChange, Webhooks};
use secrecy::ExposeSecret as _;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::conversations::world::World;

/// A request as the server got it.
#[derive(Debug, Clone)]
pub(super) struct Call {
    pub(super) url: String,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: String,
}

impl Call {
    pub(super) fn header(&self, name: &str) -> &str {
        self.headers
            .iter()
            .find(|(known, _)| known == name)
            .map(|(_, value)| value.as_str())
            .expect("a header")
    }

    pub(super) fn event(&self) -> &str {
        self.header("webhook-id")
    }
}

/// A server that answers with what it is told to; with 204 when it is told nothing.
#[derive(Debug, Default)]
pub(super) struct Receiver {
    pub(super) calls: Mutex<Vec<Call>>,
    answers: Mutex<VecDeque<u16>>,
    always: Mutex<Option<u16>>,
}

impl Receiver {
    pub(super) fn answers(&self, statuses: &[u16]) {
        self.answers.lock().expect("a lock").extend(statuses);
    }

    pub(super) fn always(&self, status: Option<u16>) {
        *self.always.lock().expect("a lock") = status;
    }

    /// Takes the events of the requests so far.
    pub(super) fn took(&self) -> Vec<String> {
        self.calls.lock().expect("a lock").drain(..).map(|call| call.event().to_owned()).collect()
    }
}

#[async_trait]
impl HttpCaller for Receiver {
    async fn call(&self, request: &HttpRequest) -> Result<HttpAnswer, OutsideFailure> {
        assert!(!request.follows_redirects, "a redirect would be taken for a success");
        let header = |(name, value): &(String, secrecy::SecretString)| {
            (name.clone(), value.expose_secret().to_owned())
        };
        self.calls.lock().expect("a lock").push(Call {
            url: request.url.expose_secret().to_owned(),
            headers: request.headers.iter().map(header).collect(),
            body: request.body.as_ref().expect("a body").expose_secret().to_owned(),
        });
        let scripted = self.answers.lock().expect("a lock").pop_front();
        let status = scripted.or(*self.always.lock().expect("a lock")).unwrap_or(204);
        if status == 0 {
            return Err(OutsideFailure::new("http_timeout", "no whole answer in time"));
        }
        Ok(HttpAnswer { status, content_type: None, body: b"seen".to_vec() })
    }
}

pub(super) struct Place {
    pub(super) world: World,
    pub(super) receiver: Arc<Receiver>,
    pub(super) fan_out: FanOut<SqlStore>,
    pub(super) sender: Sender<SqlStore>,
    pub(super) webhooks: Webhooks<SqlStore>,
    pub(super) webhook: Webhook,
    pub(super) secret: Secret,
    author: Author,
}

impl Place {
    pub(super) async fn new(store: SqlStore) -> Self {
        let world = World::new(store).await;
        let (store, cx) = (|| Arc::clone(&world.store), || world.cx.clone());
        let (key, receiver) = (Arc::new(MasterKey::random()), Arc::new(Receiver::default()));
        let http = Arc::clone(&receiver) as Arc<dyn HttpCaller>;
        let secret = Secret::generate(world.cx.ids());
        let webhook = Webhook {
            id: "hook".parse().expect("an id"),
            router_id: world.router.clone(),
            name: "CRM".to_owned(),
            url: BaseUrl::parse("https://crm.example/hook").expect("an address"),
            event_types: WebhookEventType::ALL.to_vec(),
            secret: secret.seal(&key),
            previous_secret: None,
            previous_secret_ends_at: None,
            is_active: true,
            paused_at: None,
            failing_since: None,
            created_at: world.cx.now(),
            updated_at: world.cx.now(),
        };
        let mut tx = world.store.begin().await.expect("begin");
        tx.records().insert(&webhook).await.expect("a webhook");
        tx.commit().await.expect("commit");
        Self {
            receiver,
            fan_out: FanOut::new(store(), cx()),
            sender: Sender::new(store(), cx(), Arc::clone(&key), http),
            webhooks: Webhooks::new(store(), cx(), key, Arc::new(NoChangeLog)),
            webhook,
            secret,
            author: Author::default(),
            world,
        }
    }

    /// Something happens in a conversation.
    pub(super) async fn happens(&self, id: &str, conversation: &str) {
        self.fan_out.take(&[&self.event(id, conversation)]).await.expect("taken");
    }

    pub(super) fn event(&self, id: &str, conversation: &str) -> WebhookEvent {
        WebhookEvent {
            id: id.to_owned(),
            r#type: WebhookEventType::TicketUpdated,
            router_id: self.world.router.clone(),
            key: conversation.to_owned(),
            timestamp: self.world.cx.now(),
            data: json!({ "name": "Zoë \u{1f44b}" }),
        }
    }

    /// Sends what is due; gives the events that were sent.
    pub(super) async fn send(&self) -> Vec<String> {
        self.sender.send_due(&CancellationToken::new()).await.expect("sent");
        self.receiver.took()
    }

    pub(super) async fn change(&self, change: WebhookChange) {
        self.webhooks.change(&self.author, Reach::ALL, &self.webhook.id, change).await.expect("changed");
    }

    /// Gives the webhook another secret.
    pub(super) async fn rotate(&self, overlap: SecretOverlap) -> (Webhook, Secret) {
        let rotated = self.webhooks.rotate_secret(&self.author, Reach::ALL, &self.webhook.id, overlap).await;
        rotated.expect("rotated")
    }

    pub(super) async fn delete(&self) {
        self.webhooks.delete(&self.author, Reach::ALL, &self.webhook.id).await.expect("deleted");
    }

    pub(super) async fn stored(&self) -> Webhook {
        self.webhooks.get(Reach::ALL, &self.webhook.id).await.expect("a webhook")
    }

    /// All deliveries, the oldest first.
    pub(super) async fn deliveries(&self) -> Vec<Delivery> {
        let page = PageRequest { limit: 200, after: None };
        let filter = DeliveryFilter::default();
        let list = self.webhooks.deliveries(Reach::ALL, &self.webhook.id, filter, &page).await;
        let mut items = list.expect("deliveries").items;
        items.reverse();
        items
    }

    pub(super) async fn id_of(&self, event: &str) -> DeliveryId {
        let all = self.deliveries().await;
        all.into_iter().find(|delivery| delivery.event_id == event).expect("a delivery").id
    }

    pub(super) async fn delivery(&self, event: &str) -> (Delivery, Vec<Attempt>) {
        let id = self.id_of(event).await;
        self.webhooks.delivery(Reach::ALL, &self.webhook.id, &id).await.expect("a delivery")
    }
}
