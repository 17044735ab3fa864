//! Takes the deliveries of the provider: checks them, and appends what they tell to the streams.

use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;
use std::sync::Arc;

use flowsdk_core::contact::{ContactAlias, HasContacts, is_phone_number, is_user_id, other_form};
use flowsdk_core::context::OpContext;
use flowsdk_core::crypto::MasterKey;
use flowsdk_core::event::{IncomingEvent, ProviderNews, StatusEvent};
use flowsdk_core::fault::{Fault, StorageError};
use flowsdk_core::id::{MessageId, RouterId};
use flowsdk_core::session::{Channel, SessionId};
use flowsdk_core::store::{Store, Transaction as _};
use flowsdk_core::stream::broker::{Broker, BrokerError, NewEntry};
use flowsdk_core::stream::topic::{self, Incoming, Status};
use secrecy::{ExposeSecret as _, SecretString};
use subtle::ConstantTimeEq as _;

use super::account::HasPhoneAccounts;
use super::accounts::{Accounts, AccountsError, Number};
use super::appender::Appender;
use super::webhook::{
    Delivery, DeliveryError, DeliveryHead, Fields, News, NumberChange, PhoneMessage, PhoneStatus, Sender,
    Told, is_signature, is_signed,
};
use crate::channel_number::ProviderId;

/// The reason why a delivery is not taken.
#[derive(Debug, thiserror::Error, Fault)]
pub enum IntakeError {
    /// The body cannot be read.
    #[error("a body that cannot be read")]
    #[fault(
        Invalid,
        "delivery_malformed",
        pt = "O corpo não é uma entrega do provedor",
        en = "The body is not a delivery of the provider"
    )]
    Malformed(#[from] DeliveryError),
    /// The signature is not one of the account's app, or the account is not known.
    #[error("not signed by the app of a known account")]
    #[fault(Forbidden, "signature_invalid", pt = "Assinatura inválida", en = "Invalid signature")]
    Unsigned,
    /// It is no verify token of a router.
    #[error("not a verify token")]
    #[fault(
        Forbidden,
        "verify_token_invalid",
        pt = "Token de verificação inválido",
        en = "Invalid verify token"
    )]
    Unverified,
    /// The place of the caller has named too many unknown accounts, or tried too many tokens.
    #[error("too many attempts from one place")]
    #[fault(
        RateLimited,
        "rate_limited",
        pt = "Muitas tentativas, aguarde um momento",
        en = "Too many attempts, wait a moment"
    )]
    TooMany,
    /// The database cannot be asked.
    #[error("the accounts or contacts cannot be read")]
    #[fault(Unavailable, "unavailable", text = .0.text())]
    Storage(#[from] StorageError),
    /// The streams cannot take it: the provider sends it again.
    #[error("not appended")]
    #[fault(Unavailable, "unavailable", pt = "Indisponível no momento", en = "Not available now")]
    Broker(#[from] BrokerError),
}

impl From<AccountsError> for IntakeError {
    fn from(error: AccountsError) -> Self {
        match error {
            AccountsError::TooMany => Self::TooMany,
            AccountsError::Storage(error) => Self::Storage(error),
        }
    }
}

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
struct Signed<'a> {
    accounts: HashMap<String, Arc<[Number]>>,
    /// The router of the address, where it names one.
    router: Option<&'a RouterId>,
    secret: &'a SecretString,
}

impl Signed<'_> {
    /// Returns a number of an account, if the holder of the secret may tell of it.
    fn number(&self, account: &str, id: &str) -> Option<&Number> {
        let is_asked = |number: &&Number| number.phone_number_id == id && self.may_tell_of(number);
        self.accounts.get(account)?.iter().find(is_asked)
    }

    /// Returns the routers with numbers of an account of which the holder of the secret may tell, each once.
    fn routers(&self, account: &str) -> Vec<RouterId> {
        let numbers = self.accounts.get(account).into_iter().flat_map(|numbers| numbers.iter());
        let mut routers: Vec<RouterId> = numbers
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

/// Takes deliveries.
#[derive(Debug)]
pub struct PhoneIntake<S> {
    store: Arc<S>,
    appender: Appender,
    accounts: Accounts<S>,
    key: Arc<MasterKey>,
    cx: OpContext,
}

impl<S: Store> PhoneIntake<S>
where
    S::Tx: HasPhoneAccounts + HasContacts,
{
    /// Creates an intake which finds accounts in `store`, and appends to the streams of `broker`. A place may name
    /// `lookups_per_minute` unknown accounts or verify tokens; 0 is no limit.
    pub fn new(
        store: Arc<S>,
        broker: Arc<dyn Broker>,
        key: Arc<MasterKey>,
        cx: OpContext,
        lookups_per_minute: u32,
    ) -> Self {
        let accounts = Accounts::new(Arc::clone(&store), Arc::clone(&key), cx.clone(), lookups_per_minute);
        Self { store, appender: Appender::new(broker), accounts, key, cx }
    }

    /// Forgets callers that have been quiet; an idempotent tick.
    pub fn forget_quiet(&self) {
        self.accounts.forget_quiet();
    }

    /// Checks that `token` is the verify token of a router; of `router` alone, if it is given. The comparison takes the
    /// same time for every token of the same length.
    ///
    /// # Errors
    /// [`IntakeError::Unverified`], [`IntakeError::TooMany`] and [`IntakeError::Storage`].
    pub async fn verify(
        &self,
        router: Option<&RouterId>,
        token: &str,
        caller: IpAddr,
    ) -> Result<(), IntakeError> {
        if !self.accounts.admit(caller) {
            return Err(IntakeError::TooMany);
        }
        let tokens = self.store.read().await?.phone_accounts().verify_tokens(router).await?;
        let same = |known: &String| bool::from(known.as_bytes().ct_eq(token.as_bytes()));
        // Every one is compared, so that the time does not tell which one it was.
        let is_known = tokens.iter().map(same).fold(false, |found, same| found | same);
        if is_known && !token.is_empty() { Ok(()) } else { Err(IntakeError::Unverified) }
    }

    /// Checks a delivery, and appends all that it tells in one write. A delivery that comes again is appended again: the
    /// keys of its messages and the ranks of its statuses make it have no second effect.
    ///
    /// # Errors
    /// [`IntakeError`]: nothing of it was appended.
    pub async fn take(
        &self,
        router: Option<&RouterId>,
        signature: Option<&str>,
        body: &[u8],
        caller: IpAddr,
    ) -> Result<Taken, IntakeError> {
        // Without a signature nothing of the body is looked at.
        let signature = signature.filter(|text| is_signature(text)).ok_or(IntakeError::Unsigned)?;
        let head = DeliveryHead::read(body)?;
        let signer = head.signer().filter(|id| ProviderId::parse(id).is_ok()).ok_or(IntakeError::Unsigned)?;
        let of_router = |number: &&Number| router.is_none_or(|router| number.router_id == *router);
        let numbers = self.accounts.signer(signer, caller).await?;
        let mut secrets: Vec<&SecretString> = Vec::new();
        for number in numbers.iter().filter(of_router) {
            if !secrets.iter().any(|known| same(known, &number.secret)) {
                secrets.push(&number.secret);
            }
        }
        let secret = secrets.into_iter().find(|secret| is_signed(secret, signature, body));
        let secret = secret.ok_or(IntakeError::Unsigned)?;
        let delivery = Delivery::read(body)?;
        let signed = self.signed(&head, &delivery, router, secret).await?;
        let mut reading = Reading::new(&self.cx);
        let (mut changes, mut foreign) = (Vec::new(), None);
        for Told { account_id, phone_number_id, news } in delivery.told {
            let number = phone_number_id.as_deref();
            let number = number.and_then(|number| signed.number(&account_id, number));
            match (news, number) {
                (News::Message(message), Some(number)) => reading.message(&number.phone_number_id, *message),
                (News::Status(status), Some(number)) => reading.status(&number.phone_number_id, *status),
                (News::Number(change), Some(_)) => changes.push(change),
                (News::Account { field, value }, number) if number.is_some() || phone_number_id.is_none() => {
                    let one = |number: &Number| vec![number.router_id.clone()];
                    let router_ids = number.map_or_else(|| signed.routers(&account_id), one);
                    reading.news(account_id, router_ids, field, value);
                }
                (News::Message(_) | News::Status(_) | News::Number(_) | News::Account { .. }, _) => {
                    reading.taken.refused += 1;
                    // Both are ids that a signed delivery has, so the log may hold them.
                    foreign.get_or_insert((account_id, phone_number_id.unwrap_or_default()));
                }
                // What is told of numbers has no consumer yet.
                (News::Other { .. }, _) => {}
            }
        }
        // It comes before what they write under the new number, which has a lane of its own.
        self.renumber(&changes, secret).await?;
        let Reading { taken, mut conversations, statuses, news, .. } = reading;
        if taken.refused > 0 {
            metrics::counter!("flowsdk_phone_refused").increment(taken.refused as u64);
            let (account, number) = foreign.unzip();
            tracing::warn!(
                refused = taken.refused,
                account,
                number,
                "a delivery tells of accounts of other apps, of unknown numbers, or of senders who cannot be named"
            );
        }
        self.join_sessions(&mut conversations).await?;
        let mut entries: Vec<NewEntry> = conversations.iter().map(NewEntry::of::<Incoming>).collect();
        entries.extend(statuses.iter().map(NewEntry::of::<Status>));
        entries.extend(news.iter().map(NewEntry::of::<topic::ProviderNews>));
        if !entries.is_empty() {
            self.appender.append(entries).await?;
        }
        Ok(taken)
    }

    /// Returns the numbers of which the holder of this secret may tell. Where the delivery names a number that is not known,
    /// all are read anew: it may have been set up a moment ago.
    async fn signed<'a>(
        &self,
        head: &DeliveryHead,
        delivery: &Delivery,
        router: Option<&'a RouterId>,
        secret: &'a SecretString,
    ) -> Result<Signed<'a>, IntakeError> {
        let ids: Vec<&str> = head.accounts().into_iter().filter(|id| ProviderId::parse(id).is_ok()).collect();
        let signed = Signed { accounts: self.accounts.numbers(&ids, false).await?, router, secret };
        let is_known = |told: &Told| {
            let number = told.phone_number_id.as_ref();
            number.is_none_or(|number| signed.number(&told.account_id, number).is_some())
        };
        if delivery.told.iter().all(is_known) {
            return Ok(signed);
        }
        Ok(Signed { accounts: self.accounts.numbers(&ids, true).await?, router, secret })
    }

    /// Lets a contact who writes without a number go on in the session that it has with one.
    async fn join_sessions(&self, conversations: &mut [IncomingEvent]) -> Result<(), IntakeError> {
        let mut asked: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for event in conversations.iter().filter(|event| event.from.is_none()) {
            let users = asked.entry(event.phone_number_id.clone()).or_default();
            users.push(event.session_id.party().to_owned());
        }
        for (number, users) in asked {
            let found = self.store.read().await?.phone_accounts().sessions_at(&number, &users).await?;
            let unnumbered = conversations.iter_mut().filter(|event| event.from.is_none());
            for event in unnumbered.filter(|event| event.phone_number_id == number) {
                let newest = found.iter().find(|(user, _)| user == event.session_id.party());
                if let Some((_, session)) = newest {
                    // Without a profile the name is the identity of the session.
                    if event.contact_name == event.session_id.party() {
                        session.party().clone_into(&mut event.contact_name);
                    }
                    event.session_id = session.clone();
                }
            }
        }
        Ok(())
    }

    /// Gives contacts the numbers or user ids that they have now, in one transaction.
    async fn renumber(&self, changes: &[NumberChange], secret: &SecretString) -> Result<(), IntakeError> {
        if changes.is_empty() {
            return Ok(());
        }
        let mut tx = self.store.begin().await?;
        // One may follow from another, and a delivery has few.
        for change in changes {
            self.renumber_one(&mut tx, change, secret).await?;
        }
        tx.commit().await?;
        Ok(())
    }

    /// What the app of one business says counts for contacts that no other business knows (rulings A12).
    async fn renumber_one(
        &self,
        tx: &mut S::Tx,
        change: &NumberChange,
        secret: &SecretString,
    ) -> Result<(), IntakeError> {
        let Some(from) = &change.from else { return Ok(()) };
        let found = tx.contacts().find_by_phone_numbers(std::slice::from_ref(from)).await?;
        let Some(contact) = found.first() else { return Ok(()) };
        let around = tx.phone_accounts().secrets_around(&contact.id).await?;
        let is_own = |encrypted: Option<_>| {
            let known = encrypted.and_then(|encrypted| self.key.decrypt(&encrypted).ok());
            known.is_some_and(|known| same(&known, secret))
        };
        if !around.into_iter().all(is_own) {
            tracing::warn!(contact = %contact.id, "a new number of a contact that other businesses know is left out");
            return Ok(());
        }
        let now = self.cx.now();
        let at = change.at.map_or(now, |at| at.min(now));
        let number = change.number.as_ref().filter(|number| is_phone_number(number));
        let user_id = change.user_id.as_ref().filter(|id| is_user_id(id));
        let mut is_taken = false;
        if let Some(number) = number {
            is_taken |= !tx.contacts().renumber(from, number, at).await?;
        }
        if let Some(user_id) = user_id {
            // A number says more than the id, which is kept beside it.
            let known = tx.contacts().find_many_for_update(std::slice::from_ref(&contact.id)).await?;
            if known.first().is_some_and(|contact| is_phone_number(&contact.phone_number)) {
                let alias =
                    ContactAlias { contact_id: contact.id.clone(), alias: user_id.clone(), created_at: at };
                tx.contacts().add_aliases(&[alias]).await?;
            } else {
                is_taken |= !tx.contacts().renumber(from, user_id, at).await?;
            }
        }
        if is_taken {
            tracing::info!(contact = %contact.id, "a new number of a contact is another contact's already");
        }
        Ok(())
    }
}

/// Returns whether two app secrets are the same. Neither is a caller's.
fn same(one: &SecretString, other: &SecretString) -> bool {
    one.expose_secret() == other.expose_secret()
}

/// What a delivery tells so far: an event for each conversation, with its messages in their order, the statuses, and the news of accounts.
struct Reading<'a> {
    cx: &'a OpContext,
    taken: Taken,
    conversations: Vec<IncomingEvent>,
    /// Where the event of a session is.
    places: HashMap<SessionId, usize>,
    statuses: Vec<StatusEvent>,
    news: Vec<ProviderNews>,
}

impl<'a> Reading<'a> {
    fn new(cx: &'a OpContext) -> Self {
        let (conversations, places) = (Vec::new(), HashMap::new());
        let (taken, statuses, news) = (Taken::default(), Vec::new(), Vec::new());
        Self { cx, taken, conversations, places, statuses, news }
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

    fn news(&mut self, account_id: String, router_ids: Vec<RouterId>, field: String, value: Fields) {
        self.news.push(ProviderNews {
            channel_type: Channel::Phone,
            account_id,
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
