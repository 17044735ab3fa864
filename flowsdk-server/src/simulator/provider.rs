//! The state of the provider.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use flowsdk_core::context::OpContext;
use flowsdk_core::time::Timestamp;
use reqwest::{Client, Url};
use secrecy::SecretString;
use serde::Serialize;
use serde_json::Value;
use tokio_util::task::TaskTracker;

use super::disorder::{Disorder, Held};
use super::fault::{CallKind, Fault, Faults};
use super::lanes::Lanes;
use super::limits::{Excess, Limits, Traffic};
use super::media::Files;
use super::phone::{Bubble, Delivered, Screen, Side};
use super::profile::Profile;
use super::template::KeptTemplate;
use super::webhook::{Delivery, Written};

/// Most messages that are kept to be shown to a test.
const SENT: usize = 20_000;
/// Most phones whose chat is kept.
const SCREENS: usize = 1_000;

/// What the provider knows of the business.
#[derive(Debug, Clone)]
pub struct ProviderConfig {
    /// Makes ids differ from those of other seeds.
    pub seed: u64,
    /// The business account of every number.
    pub account_id: String,
    /// Signs the webhooks.
    pub app_secret: SecretString,
    /// What calls have to bring; `None` takes any token.
    pub access_token: Option<SecretString>,
    /// Where webhooks go; `None` delivers none.
    pub callback: Option<Url>,
    /// How far messages come by themselves, with webhooks that say so.
    pub reach: Reach,
    /// The name of the business, as phones show it.
    pub business: String,
    /// Whether templates are approved as soon as they are submitted.
    pub approves_templates: bool,
}

/// How far a message comes by itself. The page of a phone reads it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reach {
    /// The provider has it.
    Sent,
    /// The phone has it.
    Delivered,
    /// The contact has read it.
    Read,
}

/// A message that was taken.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SentMessage {
    /// The id that the provider gave it.
    pub id: String,
    /// The number that sent it.
    pub phone_number_id: String,
    /// The phone that has it: digits, or a user id.
    pub to: String,
    /// The body of the call.
    pub body: Value,
}

/// A provider, shared by its routes.
#[derive(Debug, Clone)]
pub struct Provider(Arc<Shared>);

#[derive(Debug)]
pub(super) struct Shared {
    pub(super) cx: OpContext,
    pub(super) client: Client,
    pub(super) tasks: TaskTracker,
    state: Mutex<State>,
}

#[derive(Debug)]
pub(super) struct State {
    pub(super) config: ProviderConfig,
    ids: u64,
    /// The newest that were taken.
    pub(super) sent: VecDeque<SentMessage>,
    calls: u64,
    faults: Faults,
    limits: Limits,
    traffic: Traffic,
    pub(super) disorder: Disorder,
    pub(super) held: Held<Delivery>,
    pub(super) lanes: Lanes<Delivery>,
    /// Deliveries that were neither taken nor given up yet.
    pub(super) under_way: usize,
    pub(super) templates: Vec<KeptTemplate>,
    pub(super) templates_made: u64,
    pub(super) files: Files,
    /// The public keys of forms, by number.
    pub(super) form_keys: BTreeMap<String, String>,
    /// By number.
    pub(super) profiles: BTreeMap<String, Profile>,
    /// By number and phone.
    screens: BTreeMap<(String, String), Screen>,
}

/// Returns the seed of a provider that starts at `time`.
pub(crate) fn seed_at(time: Timestamp) -> u64 {
    time.as_millis().unsigned_abs() % (1 << 32)
}

impl Provider {
    /// Creates a provider. `client` delivers the webhooks.
    pub fn new(config: ProviderConfig, cx: OpContext, client: Client) -> Self {
        let state = State {
            disorder: Disorder::default(),
            held: Held::new(config.seed),
            lanes: Lanes::default(),
            under_way: 0,
            config,
            ids: 0,
            sent: VecDeque::new(),
            calls: 0,
            faults: Faults::default(),
            limits: Limits::default(),
            traffic: Traffic::default(),
            templates: Vec::new(),
            templates_made: 0,
            files: Files::default(),
            form_keys: BTreeMap::new(),
            profiles: BTreeMap::new(),
            screens: BTreeMap::new(),
        };
        Self(Arc::new(Shared { cx, client, tasks: TaskTracker::new(), state: Mutex::new(state) }))
    }

    /// Returns a provider that leaves what it is sent at `sent`, and templates in review.
    #[cfg(test)]
    pub(super) fn of_tests(callback: Option<Url>) -> Self {
        let config = ProviderConfig {
            seed: 1,
            account_id: "900".to_owned(),
            app_secret: "secret".into(),
            access_token: None,
            callback,
            reach: Reach::Sent,
            business: "Shop".to_owned(),
            approves_templates: false,
        };
        Self::new(config, OpContext::system(), Client::new())
    }

    pub(super) fn shared(&self) -> &Shared {
        &self.0
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets where webhooks go.
    pub fn set_callback(&self, callback: Option<Url>) {
        self.state().config.callback = callback;
    }

    /// Returns the beginning of the endpoints of forms, which the server has beside its webhook.
    pub(super) fn forms_endpoint(&self) -> Option<Url> {
        self.state().config.callback.as_ref()?.join("forms/").ok()
    }

    /// Sets the token that calls have to bring.
    pub fn set_access_token(&self, token: Option<SecretString>) {
        self.state().config.access_token = token;
    }

    /// Does something wrong in the next call that sends; further faults are for the calls after it.
    pub fn fail_next(&self, fault: Fault) {
        self.fail_next_of(CallKind::Send, fault);
    }

    /// Does something wrong in the next call of a kind; further faults of the kind are for the calls after it.
    pub fn fail_next_of(&self, call: CallKind, fault: Fault) {
        self.state().faults.add(call, fault);
    }

    /// Sets how fast messages are taken. What was sent before counts no more.
    pub fn limit(&self, limits: Limits) {
        let mut state = self.state();
        state.limits = limits;
        state.traffic = Traffic::default();
    }

    /// Counts a message of a number for a phone, unless it comes too soon.
    pub(super) fn pace(&self, number: &str, phone: &str) -> Result<(), Excess> {
        let now = self.shared().cx.now();
        let state = &mut *self.state();
        state.traffic.take(state.limits, number, phone, now)
    }

    /// Returns the newest 20,000 messages that were taken, in order.
    pub fn sent(&self) -> Vec<SentMessage> {
        self.state().sent.iter().cloned().collect()
    }

    /// Returns the chat of a phone with a number.
    pub fn screen(&self, phone_number_id: &str, phone: &str) -> Screen {
        self.state().screen(phone_number_id, phone).clone()
    }

    /// Returns the public key of the forms of a number, if it was given one.
    pub fn form_key(&self, phone_number_id: &str) -> Option<String> {
        self.state().form_keys.get(phone_number_id).cloned()
    }

    /// Shows a message on a phone.
    pub(super) fn show(&self, number: &str, phone: &str, id: &str, from: Side, message: Value) {
        let at = self.shared().cx.now();
        self.state().show((number, phone), id, from, message, at);
    }

    /// Keeps a message that was taken, and shows its content on its phone. Whoever finds it in one place finds it in the
    /// other.
    pub(super) fn keep(&self, message: &SentMessage, shown: Option<Value>) {
        let at = self.shared().cx.now();
        let state = &mut *self.state();
        if state.sent.len() >= SENT {
            state.sent.pop_front();
        }
        state.sent.push_back(message.clone());
        if let Some(content) = shown {
            state.show((&message.phone_number_id, &message.to), &message.id, Side::Business, content, at);
        }
    }

    /// Returns why a message fails that is no template and comes too long after what its phone wrote, if it does.
    pub(super) fn closed_window(&self, message: &SentMessage) -> Option<(i64, &'static str)> {
        let now = self.shared().cx.now();
        let is_free = message.body["type"] != "template";
        let chat = (message.phone_number_id.clone(), message.to.clone());
        let is_quiet = |state: &State| state.screens.get(&chat).is_some_and(|screen| screen.is_quiet(now));
        (is_free && is_quiet(&self.state())).then_some((131_047, "Re-engagement message"))
    }

    /// Returns how many calls to send were made, refused ones included. Read receipts send nothing.
    pub fn calls(&self) -> u64 {
        self.state().calls
    }
}

impl State {
    /// Returns the chat of a phone with a number.
    pub(super) fn screen(&mut self, number: &str, phone: &str) -> &mut Screen {
        let key = (number.to_owned(), phone.to_owned());
        if self.screens.len() >= SCREENS && !self.screens.contains_key(&key) {
            let quietest =
                self.screens.iter().min_by_key(|(_, screen)| screen.messages.back().map(|last| last.at));
            if let Some(quietest) = quietest.map(|(key, _)| key.clone()) {
                self.screens.remove(&quietest);
            }
        }
        self.screens.entry(key).or_default()
    }

    /// Notes what became of a message that a phone wrote, if its chat is still kept.
    pub(super) fn note_delivery(&mut self, written: &Written, how: Delivered) {
        let Written { number, phone, id } = written;
        if let Some(screen) = self.screens.get_mut(&(number.clone(), phone.clone())) {
            screen.note_delivery(id, how);
        }
    }

    /// Notes that the business has read a message, on whatever phone it is.
    pub(super) fn read_by_business(&mut self, number: &str, id: &str, types: bool) -> bool {
        let of_number = self.screens.iter_mut().filter(|((known, _), _)| known == number);
        of_number
            .map(|(_, screen)| screen.read_by_business(id, types))
            .fold(false, |found, read| found | read)
    }

    /// Returns what is to go wrong in a call. One that sends is counted.
    pub(super) fn begin_call(&mut self, call: CallKind) -> Option<Fault> {
        self.calls += u64::from(call == CallKind::Send);
        self.faults.next(call)
    }

    /// Shows a message in the chat of a phone with a number.
    fn show(&mut self, (number, phone): (&str, &str), id: &str, from: Side, message: Value, at: Timestamp) {
        let read = from == Side::Business && self.config.reach == Reach::Read;
        self.screen(number, phone).add(Bubble {
            id: id.to_owned(),
            from,
            at,
            read,
            delivered: None,
            message,
        });
    }

    /// Returns a message id that was not given before.
    pub(super) fn next_id(&mut self) -> String {
        self.ids += 1;
        format!("wamid.{:08x}{:08x}", self.config.seed, self.ids)
    }
}
