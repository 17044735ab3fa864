//! Takes the deliveries of the provider: checks them, and appends what they tell to the streams.

use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;
use std::sync::Arc;

use flowsdk_core::contact::{ContactAlias, HasContacts, is_phone_number, is_user_id};
use flowsdk_core::context::OpContext;
use flowsdk_core::crypto::MasterKey;
use flowsdk_core::event::IncomingEvent;
use flowsdk_core::fault::{Fault, StorageError};
use flowsdk_core::id::RouterId;
use flowsdk_core::store::{Store, Transaction as _};
use flowsdk_core::stream::broker::{Broker, BrokerError, NewEntry};
use flowsdk_core::stream::topic::{self, Incoming, Status};
use secrecy::SecretString;
use subtle::ConstantTimeEq as _;

use super::account::HasPhoneAccounts;
use super::accounts::{Accounts, AccountsError, Number};
use super::appender::{Appender, IntakeWriter, queue};
use super::reading::{Reading, Signed, Taken, same};
use super::webhook::{Delivery, DeliveryError, NumberChange, Signature, Told, mended};
use crate::channel_number::ProviderId;

/// What a delivery lacks to count as signed, for the log of whoever sets a number up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Unsigned {
    /// It has no signature, or one of another shape.
    #[error("there is no signature of the shape sha256=<64 lower-case hexadecimal digits>")]
    Missing,
    /// It names no business account.
    #[error("its first entry has no id of a business account")]
    NoAccount,
    /// Nothing is known of the account.
    #[error("no number with an app secret is known of the business account, at this address")]
    UnknownAccount,
    /// The secret is another one.
    #[error("the signature is not made with the app secret of the business account")]
    OtherSecret,
}

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
    /// The signature is not one of the account's app, or the account is not known. The caller is not told which.
    #[error(transparent)]
    #[fault(Forbidden, "signature_invalid", pt = "Assinatura inválida", en = "Invalid signature")]
    Unsigned(#[from] Unsigned),
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
    /// Creates an intake which finds accounts in `store`, and its writer, which appends to the streams of `broker`. A place
    /// may name `lookups_per_minute` unknown accounts or verify tokens; 0 is no limit.
    pub fn new(
        store: Arc<S>,
        broker: Arc<dyn Broker>,
        key: Arc<MasterKey>,
        cx: OpContext,
        lookups_per_minute: u32,
    ) -> (Self, IntakeWriter) {
        let accounts = Accounts::new(Arc::clone(&store), Arc::clone(&key), cx.clone(), lookups_per_minute);
        let (appender, writer) = queue(broker);
        (Self { store, appender, accounts, key, cx }, writer)
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
    /// keys of its messages and the ranks of its statuses make it have no second effect. A text with half a character in it
    /// is stored with the replacement character there, so that the others of the delivery are not lost.
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
        let signature = signature.and_then(Signature::parse).ok_or(Unsigned::Missing)?;
        match self.take_as(router, &signature, (body, body), caller).await {
            Err(IntakeError::Malformed(error)) => match mended(body) {
                Some(mended) => self.take_as(router, &signature, (body, &mended), caller).await,
                None => Err(error.into()),
            },
            other => other,
        }
    }

    /// Takes a delivery whose signature is of the first body, and which is read from the second one.
    async fn take_as(
        &self,
        router: Option<&RouterId>,
        signature: &Signature,
        (body, read): (&[u8], &[u8]),
        caller: IpAddr,
    ) -> Result<Taken, IntakeError> {
        let delivery = Delivery::read(read)?;
        let signer = delivery.signer().filter(|id| ProviderId::parse(id).is_ok());
        let signer = signer.ok_or(Unsigned::NoAccount)?;
        let of_router = |number: &&Number| router.is_none_or(|router| number.router_id == *router);
        let numbers = self.accounts.signer(signer, caller).await?;
        let mut secrets: Vec<&SecretString> = Vec::new();
        for number in numbers.iter().filter(of_router) {
            if !secrets.iter().any(|known| same(known, &number.secret)) {
                secrets.push(&number.secret);
            }
        }
        let why = if secrets.is_empty() { Unsigned::UnknownAccount } else { Unsigned::OtherSecret };
        let secret = secrets.into_iter().find(|secret| signature.is_of(secret, body)).ok_or(why)?;
        let told = delivery.told()?;
        let others =
            delivery.accounts().into_iter().filter(|id| *id != signer && ProviderId::parse(id).is_ok());
        let others: Vec<&str> = others.collect();
        let signed =
            Signed { signer: (signer, Arc::clone(&numbers)), others: HashMap::new(), router, secret };
        let signed = self.known(signed, &others, &told).await?;
        let mut reading = Reading::new(&self.cx, &signed);
        told.into_iter().for_each(|told| reading.note(told));
        let Reading { taken, mut conversations, statuses, news, changes, foreign, .. } = reading;
        // It comes before what they write under the new number, which has a lane of its own.
        self.renumber(&changes, secret).await?;
        if taken.refused > 0 {
            metrics::counter!("flowsdk_phone_refused").increment(taken.refused as u64);
            let (account, number) = foreign.unzip();
            let number = number.flatten();
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

    /// Adds the numbers of `others`, which are told of too. Where a number is not known that is told of, all are read anew:
    /// it may have been set up a moment ago.
    async fn known<'a>(
        &self,
        mut signed: Signed<'a>,
        others: &[&str],
        told: &[Told<'_>],
    ) -> Result<Signed<'a>, IntakeError> {
        signed.others = self.accounts.numbers(others, false).await?;
        let is_known = |told: &Told<'_>| {
            let number = told.phone_number_id.as_ref();
            number.is_none_or(|number| signed.number(told.account_id, number).is_some())
        };
        if !told.iter().all(is_known) {
            let (signer, numbers) = &mut signed.signer;
            signed.others = self.accounts.numbers(&[others, &[*signer]].concat(), true).await?;
            *numbers = signed.others.remove(*signer).unwrap_or_default();
        }
        Ok(signed)
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
