//! The webhook.

use std::sync::Arc;
use std::time::Duration;

use flowsdk_core::change::View;
use flowsdk_core::crypto::Encrypted;
use flowsdk_core::event::WebhookEventType;
use flowsdk_core::id::{Id, RouterId};
use flowsdk_core::integration::BaseUrl;
use flowsdk_core::name::Name;
use flowsdk_core::record::RouterRecord;
use flowsdk_core::router::{Reach, Reachable};
use flowsdk_core::schema::SchemaAttributes;
use flowsdk_core::time::{IsoTime, Timestamp};
use serde::{Deserialize, Serialize};

use super::WebhookError;

/// Identifier of a webhook.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Id)]
pub struct WebhookId(Arc<str>);

/// A subscription to the events of a router.
#[derive(Debug, Clone, PartialEq, Eq, RouterRecord)]
#[router_record(kind = Webhook, error = WebhookError, search = name, view = WebhookView, secrets = secrets)]
#[allow(missing_docs, reason = "the view says it")]
pub struct Webhook {
    pub id: WebhookId,
    pub router_id: RouterId,
    pub name: String,
    pub url: BaseUrl,
    pub event_types: Vec<WebhookEventType>,
    /// The secret of its signatures.
    pub secret: Encrypted,
    /// The secret before it, which signs too while it is replaced.
    pub previous_secret: Option<Encrypted>,
    pub previous_secret_ends_at: Option<Timestamp>,
    pub is_active: bool,
    pub paused_at: Option<Timestamp>,
    pub failing_since: Option<Timestamp>,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

impl Webhook {
    /// Returns whether what is due is sent to it.
    pub fn is_sent_to(&self) -> bool {
        self.is_active && self.paused_at.is_none()
    }

    /// Returns whether it takes events of a type.
    pub fn takes(&self, event: WebhookEventType) -> bool {
        self.is_active && self.event_types.contains(&event)
    }

    /// Returns the webhook with another secret from `now` on, beside which the one that it has now signs for a while. One
    /// that was replaced before signs nothing more.
    pub(super) fn with_secret(self, secret: Encrypted, overlap: SecretOverlap, now: Timestamp) -> Self {
        let ends_at = (overlap != SecretOverlap::NONE).then(|| now + overlap.duration());
        Self {
            previous_secret: ends_at.map(|_| self.secret),
            previous_secret_ends_at: ends_at,
            secret,
            ..self
        }
    }
}

fn secrets(webhook: &Webhook) -> Vec<(&'static str, Option<&str>)> {
    vec![
        ("secret", Some(webhook.secret.as_stored())),
        ("previousSecret", webhook.previous_secret.as_ref().map(Encrypted::as_stored)),
    ]
}

/// How long the secret before a new one signs beside it: so long its receivers may take to know the new one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SecretOverlap(Duration);

impl SecretOverlap {
    /// The secret before signs nothing more.
    pub const NONE: Self = Self(Duration::ZERO);
    /// The longest, in hours.
    pub const MAX_HOURS: u64 = 7 * 24;

    /// Returns an overlap of so many hours; `None` for more than [`MAX_HOURS`](Self::MAX_HOURS).
    pub fn from_hours(hours: u64) -> Option<Self> {
        (hours <= Self::MAX_HOURS).then(|| Self(Duration::from_hours(hours)))
    }

    /// Returns how long it is.
    pub fn duration(self) -> Duration {
        self.0
    }
}

/// A day.
impl Default for SecretOverlap {
    fn default() -> Self {
        Self(Duration::from_hours(24))
    }
}

/// A subscription to the events of a router. Its secret is shown once, when it is made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, View, SchemaAttributes)]
#[view(of = Webhook)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[schema(as = Webhook)]
pub struct WebhookView {
    /// The id of the webhook.
    pub id: WebhookId,
    /// The router whose events it takes.
    router_id: RouterId,
    #[schema(example = "CRM")]
    name: String,
    /// Where the events are sent.
    url: BaseUrl,
    /// Which events.
    event_types: Vec<WebhookEventType>,
    /// From when on the secret before this one signs nothing; null where none does.
    #[schema(required = true)]
    previous_secret_ends_at: Option<IsoTime>,
    /// Whether events that happen now are sent.
    is_active: bool,
    /// Since when nothing is sent: after a day of failures, or because somebody said so. What is to be sent waits.
    #[schema(required = true)]
    paused_at: Option<IsoTime>,
    /// Since when no attempt has succeeded; null after one that did.
    #[schema(required = true)]
    failing_since: Option<IsoTime>,
    created_at: IsoTime,
    updated_at: IsoTime,
}

/// A new webhook.
#[derive(Debug, Clone, Deserialize, SchemaAttributes)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[schema(as = CreateWebhook)]
pub struct NewWebhook {
    /// The router whose events it takes. It cannot be changed later.
    pub router_id: RouterId,
    /// The name that people know it by.
    #[schema(value_type = String, min_length = 1, max_length = 200, pattern = r"\S", example = "CRM")]
    pub name: Name,
    /// Where the events are sent, by POST.
    pub url: BaseUrl,
    /// Which events.
    #[schema(min_items = 1, max_items = 20)]
    pub event_types: Vec<WebhookEventType>,
    /// Whether events are sent; true when it is absent.
    #[serde(default = "flowsdk_core::default::yes")]
    #[schema(required = false)]
    pub is_active: bool,
}

impl Reachable for NewWebhook {
    fn is_within(&self, reach: Reach<'_>) -> bool {
        self.router_id.is_within(reach)
    }
}

/// The changes to make to a webhook; an absent field stays.
#[derive(Debug, Clone, Default, Deserialize, SchemaAttributes)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[schema(as = PatchWebhook)]
pub struct WebhookChange {
    /// The new name.
    #[schema(value_type = String, required = false, min_length = 1, max_length = 200, pattern = r"\S", example = "CRM")]
    pub name: Option<Name>,
    /// Where the events are sent. What waits goes there, too.
    #[schema(value_type = BaseUrl, required = false)]
    pub url: Option<BaseUrl>,
    /// Which events.
    #[schema(value_type = Vec<WebhookEventType>, required = false, min_items = 1, max_items = 20)]
    pub event_types: Option<Vec<WebhookEventType>>,
    /// Whether events that happen from now on are sent.
    #[schema(value_type = bool, required = false)]
    pub is_active: Option<bool>,
    /// `false` sends what waits, after a pause; `true` lets it wait.
    #[schema(value_type = bool, required = false)]
    pub is_paused: Option<bool>,
}

impl WebhookChange {
    /// Returns the webhook after the change, which happens at `now`.
    pub(super) fn apply(self, webhook: Webhook, now: Timestamp) -> Webhook {
        let (paused_at, failing_since) = match self.is_paused {
            Some(true) => (webhook.paused_at.or(Some(now)), webhook.failing_since),
            Some(false) => (None, None),
            None => (webhook.paused_at, webhook.failing_since),
        };
        Webhook {
            name: self.name.map_or(webhook.name, String::from),
            url: self.url.unwrap_or(webhook.url),
            event_types: self.event_types.map_or(webhook.event_types, distinct),
            is_active: self.is_active.unwrap_or(webhook.is_active),
            paused_at,
            failing_since,
            ..webhook
        }
    }
}

/// Returns each type once, in their order.
pub(super) fn distinct(mut types: Vec<WebhookEventType>) -> Vec<WebhookEventType> {
    types.sort_unstable();
    types.dedup();
    types
}

#[cfg(test)]
mod tests {
    use flowsdk_core::change::Recorded as _;

    use super::*;

    fn webhook() -> Webhook {
        Webhook {
            id: "w1".parse().expect("an id"),
            router_id: "r1".parse().expect("an id"),
            name: "CRM".to_owned(),
            url: BaseUrl::parse("https://a.example/hook").expect("an address"),
            event_types: vec![WebhookEventType::TicketOpened],
            secret: Encrypted::from_stored("sealed".to_owned()),
            previous_secret: None,
            previous_secret_ends_at: None,
            is_active: true,
            paused_at: None,
            failing_since: Some(Timestamp::from_millis(1)),
            created_at: Timestamp::from_millis(0),
            updated_at: Timestamp::from_millis(0),
        }
    }

    #[test]
    fn a_pause_has_a_beginning_and_its_end_forgets_the_failures() {
        let (first, second) = (Timestamp::from_millis(10), Timestamp::from_millis(20));
        let pause = |is_paused| WebhookChange { is_paused: Some(is_paused), ..Default::default() };
        let paused = pause(true).apply(webhook(), first);
        assert_eq!((paused.paused_at, paused.failing_since.is_some()), (Some(first), true));
        assert_eq!(pause(true).apply(paused.clone(), second).paused_at, Some(first));
        let named = WebhookChange { name: Some(Name::parse("B").expect("a name")), ..Default::default() };
        assert_eq!(named.apply(paused.clone(), second).paused_at, Some(first));
        let resumed = pause(false).apply(paused, second);
        assert_eq!((resumed.paused_at, resumed.failing_since), (None, None));
    }

    #[test]
    fn what_is_not_subscribed_to_is_not_taken() {
        let opened = webhook();
        assert!(
            opened.takes(WebhookEventType::TicketOpened) && !opened.takes(WebhookEventType::TicketClosed)
        );
        let off = Webhook { is_active: false, ..webhook() };
        assert!(!off.takes(WebhookEventType::TicketOpened));
        use WebhookEventType::{TicketClosed, TicketOpened};
        assert_eq!(distinct(vec![TicketClosed, TicketOpened, TicketClosed]), [TicketOpened, TicketClosed]);
    }

    #[test]
    fn a_secret_that_is_replaced_signs_for_a_while() {
        let (now, hour) = (Timestamp::from_millis(10), Duration::from_hours(1));
        let sealed = |text: &str| Encrypted::from_stored(text.to_owned());
        for (hours, ends_at) in [
            (Some(0), Some(None)),
            (Some(1), Some(Some(now + hour))),
            (None, Some(Some(now + 24 * hour))),
            (Some(168), Some(Some(now + 168 * hour))),
            (Some(169), None),
        ] {
            let overlap = hours.map_or(Some(SecretOverlap::default()), SecretOverlap::from_hours);
            let rotated = overlap.map(|overlap| webhook().with_secret(sealed("new"), overlap, now));
            assert_eq!(rotated.as_ref().map(|one| one.previous_secret_ends_at), ends_at, "{hours:?}");
            if let Some(rotated) = rotated {
                assert_eq!(rotated.secret, sealed("new"));
                assert_eq!(rotated.previous_secret.is_some(), rotated.previous_secret_ends_at.is_some());
                let again = rotated.with_secret(sealed("newer"), SecretOverlap::default(), now);
                assert_eq!(again.previous_secret, Some(sealed("new")), "two secrets at most");
            }
        }
    }

    #[test]
    fn the_public_form_has_no_secret() {
        let rotated = webhook().with_secret(
            Encrypted::from_stored("sealed anew".to_owned()),
            SecretOverlap::default(),
            Timestamp::from_millis(10),
        );
        let shown = rotated.to_json();
        assert!(!shown.to_string().contains("sealed"), "{shown}");
        assert_eq!(shown["eventTypes"], serde_json::json!(["ticket.opened"]));
    }
}
