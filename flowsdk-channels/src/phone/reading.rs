//! What a signed delivery tells, as events of the streams.

use std::collections::HashMap;
use std::sync::Arc;

use flowsdk_core::contact::{is_phone_number, is_user_id, other_form};
use flowsdk_core::context::OpContext;
use flowsdk_core::event::{IncomingEvent, ProviderNews, StatusEvent};
use flowsdk_core::id::{MessageId, RouterId};
use flowsdk_core::session::{Channel, SessionId};
use secrecy::{ExposeSecret as _, SecretString};

use super::accounts::Number;
use super::webhook::{Fields, News, NumberChange, PhoneMessage, PhoneStatus, Sender, Told};

/// How much of a delivery was taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Taken {
    /// Messages of contacts.
    pub messages: usize,
    /// Statuses of messages to contacts.
    pub statuses: usize,
    /// Parts of accounts that another app signs, or of numbers that are not known.
    pub refused: usize,
}

/// The numbers of which the holder of a secret may tell.
pub(super) struct Signed<'a> {
    /// The account that signs, and its numbers.
    pub(super) signer: (&'a str, Arc<[Number]>),
    pub(super) others: HashMap<String, Arc<[Number]>>,
    /// The router of the address, where it names one.
    pub(super) router: Option<&'a RouterId>,
    pub(super) secret: &'a SecretString,
}

impl Signed<'_> {
    /// Returns a number of an account, if the holder of the secret may tell of it.
    pub(super) fn number(&self, account: &str, id: &str) -> Option<&Number> {
        let is_asked = |number: &&Number| number.phone_number_id == id && self.may_tell_of(number);
        self.numbers(account).iter().find(is_asked)
    }

    fn numbers(&self, account: &str) -> &[Number] {
        let (signer, numbers) = &self.signer;
        if account == *signer { numbers } else { self.others.get(account).map_or(&[], |numbers| numbers) }
    }

    /// Returns the routers with numbers of an account of which the holder of the secret may tell, each once.
    fn routers(&self, account: &str) -> Vec<RouterId> {
        let mut routers: Vec<RouterId> = self
            .numbers(account)
            .iter()
            .filter(|number| self.may_tell_of(number))
            .map(|number| number.router_id.clone())
            .collect();
        routers.sort_unstable();
        routers.dedup();
        routers
    }

    fn may_tell_of(&self, number: &Number) -> bool {
        self.router.is_none_or(|router| number.router_id == *router) && same(&number.secret, self.secret)
    }
}

/// What a delivery tells so far.
pub(super) struct Reading<'a> {
    cx: &'a OpContext,
    signed: &'a Signed<'a>,
    pub(super) taken: Taken,
    /// An event for each conversation, with its messages in their order.
    pub(super) conversations: Vec<IncomingEvent>,
    /// Where the event of a session is.
    places: HashMap<SessionId, usize>,
    pub(super) statuses: Vec<StatusEvent>,
    /// What is told of accounts.
    pub(super) news: Vec<ProviderNews>,
    /// Identities that have changed.
    pub(super) changes: Vec<NumberChange>,
    /// The first account, and its number, of which the holder of the secret may not tell.
    pub(super) foreign: Option<(String, Option<String>)>,
}

impl<'a> Reading<'a> {
    pub(super) fn new(cx: &'a OpContext, signed: &'a Signed<'a>) -> Self {
        let (conversations, places) = (Vec::new(), HashMap::new());
        let (taken, statuses, news, changes) = (Taken::default(), Vec::new(), Vec::new(), Vec::new());
        Self { cx, signed, taken, conversations, places, statuses, news, changes, foreign: None }
    }

    /// Notes what a change tells.
    pub(super) fn note(&mut self, told: Told<'_>) {
        let Told { account_id, phone_number_id, news } = told;
        let signed = self.signed;
        let number = phone_number_id.as_deref().and_then(|number| signed.number(account_id, number));
        for news in news {
            match (news, number) {
                (News::Message(message), Some(number)) => self.message(&number.phone_number_id, *message),
                (News::Status(status), Some(number)) => self.status(&number.phone_number_id, *status),
                (News::Number(change), Some(_)) => self.changes.push(change),
                (News::Account { field, value }, Some(number)) => {
                    self.news(account_id, vec![number.router_id.clone()], field, value);
                }
                (News::Account { field, value }, None) if phone_number_id.is_none() => {
                    self.news(account_id, signed.routers(account_id), field, value);
                }
                (News::Message(_) | News::Status(_) | News::Number(_) | News::Account { .. }, None) => {
                    self.taken.refused += 1;
                    // Both are ids that a signed delivery has, so the log may hold them.
                    self.foreign.get_or_insert_with(|| (account_id.to_owned(), phone_number_id.clone()));
                }
                // Nothing of a conversation: it can be stored in none.
                (News::Other { field, .. }, _) => {
                    tracing::info!(
                        account = account_id,
                        field,
                        "the provider tells something that this version passes over"
                    );
                    metrics::counter!("flowsdk_phone_passed_over").increment(1);
                }
            }
        }
    }

    fn message(&mut self, number: &str, message: PhoneMessage) {
        let Some(mut event) = self.incoming(number, message) else {
            self.taken.refused += 1;
            return;
        };
        self.taken.messages += 1;
        match self.places.get(&event.session_id) {
            Some(&at) => self.conversations[at].messages.append(&mut event.messages),
            None => {
                self.places.insert(event.session_id.clone(), self.conversations.len());
                self.conversations.push(event);
            }
        }
    }

    /// Returns the event of a message; `None`, if its sender has no identity that a session can have.
    fn incoming(&self, number: &str, message: PhoneMessage) -> Option<IncomingEvent> {
        let PhoneMessage { sender, mut message, at } = message;
        // A delivery names no contact of another channel.
        let identity = sender.identity().filter(|id| is_phone_number(id) || is_user_id(id))?;
        let session_id = SessionId::parse(format!("wa-{number}-{identity}")).ok()?;
        message.internal_id = Some(MessageId::generate(self.cx.ids()));
        message.sent_at = at;
        Some(IncomingEvent {
            channel_type: Channel::Phone,
            session_id,
            phone_number_id: number.to_owned(),
            aliases: aliases(&sender, identity),
            contact_name: sender.name.clone().unwrap_or_else(|| identity.to_owned()),
            from: sender.number,
            messages: vec![message],
            timestamp: self.cx.now(),
            context: None,
            flow_id: None,
            opened_after: None,
        })
    }

    fn news(&mut self, account_id: &str, router_ids: Vec<RouterId>, field: String, value: Fields) {
        self.news.push(ProviderNews {
            channel_type: Channel::Phone,
            account_id: account_id.to_owned(),
            router_ids,
            field,
            value,
            timestamp: self.cx.now(),
        });
    }

    fn status(&mut self, number: &str, status: PhoneStatus) {
        let PhoneStatus { message_id, internal_id, status, at, error, .. } = status;
        self.taken.statuses += 1;
        self.statuses.push(StatusEvent {
            status,
            internal_id,
            channel_message_id: Some(message_id),
            session_id: None,
            phone_number_id: Some(number.to_owned()),
            error,
            // Whoever signs may write any time.
            timestamp: at.map_or_else(|| self.cx.now(), |at| at.min(self.cx.now())),
        });
    }
}

/// Returns the other identities of a sender: the other form of its number, and its user id. A number that is neither form
/// proves nothing, whoever signs it.
fn aliases(sender: &Sender, identity: &str) -> Vec<String> {
    let number = sender.number.as_deref().and_then(other_form);
    let user_id = sender.user_id.clone().filter(|id| is_user_id(id));
    number.into_iter().chain(user_id).filter(|alias| alias != identity).collect()
}

/// Returns whether two app secrets are the same. Neither is a caller's.
pub(super) fn same(one: &SecretString, other: &SecretString) -> bool {
    one.expose_secret() == other.expose_secret()
}
