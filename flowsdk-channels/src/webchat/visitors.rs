//! Recognises visitors (spec B 3.1, 4.2, 4.3).

use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;

use flowsdk_core::chat::{Attachments, StartOn};
use flowsdk_core::contact::{Contact, ContactChange, HasContacts, UNNAMED_VISITOR};
use flowsdk_core::context::OpContext;
use flowsdk_core::crypto::{Encrypted, MasterKey};
use flowsdk_core::event::IncomingEvent;
use flowsdk_core::fault::{Chain, StorageError};
use flowsdk_core::id::{ChannelId, ContactId, FlowId, IdentityId, MessageId, RouterId, VisitorId};
use flowsdk_core::message::IncomingMessage;
use flowsdk_core::schema::SchemaAttributes;
use flowsdk_core::session::{Channel, SessionId};
use flowsdk_core::store::{Store, Transaction as _};
use flowsdk_crypto::{PasswordError, PasswordHasher, SESSION_KEY_COST};
use secrecy::{ExposeSecret as _, SecretString};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::key_digest::{has_digest, key_digest};
use super::payload::AuthOk;
use super::remembered::Remembered;
use super::{AuthError, HasWebchat, Limits, WebchatChannel, WebchatIdentity, embed};

/// `contactName` of webchat events (spec B 4.2).
const CONTACT_NAME: &str = "WebChat User";
/// An id that no message has.
const UNKNOWN_MESSAGE: &str = "unknown";

/// The data that a socket or a history request sends about itself. A new visitor names the channel only.
#[derive(Clone, Default, Deserialize, SchemaAttributes)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[schema(as = WebchatHandshake)]
pub struct Handshake {
    /// The channel to enter.
    #[serde(default)]
    #[schema(required = true, example = "cmi7w0q2p00000qx1b3k9z5ra")]
    pub channel_id: String,
    /// The id of a returning visitor.
    #[serde(default)]
    pub user_id: Option<String>,
    /// The key of a returning visitor.
    #[serde(default)]
    #[schema(value_type = Option<String>)]
    pub session_key: Option<SecretString>,
    /// An embed token, for closed channels.
    #[serde(default)]
    #[schema(value_type = Option<String>)]
    pub token: Option<SecretString>,
    /// The last message the visitor has.
    #[serde(default)]
    pub since: Option<String>,
    /// The origin of the page whose widget holds the chat page.
    #[serde(default)]
    pub embedder: Option<String>,
}

impl fmt::Debug for Handshake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handshake")
            .field("channel_id", &self.channel_id)
            .field("user_id", &self.user_id)
            .field("since", &self.since)
            .finish_non_exhaustive()
    }
}

/// The caller, as the transport knows it.
#[derive(Debug, Clone, Copy)]
pub struct Caller<'a> {
    /// The address that rate limits count by.
    pub address: IpAddr,
    /// The origin of the calling page, if a browser calls.
    pub origin: Option<&'a str>,
}

/// A visitor who was let in.
#[derive(Debug, Clone)]
pub struct Visitor {
    /// The session of the visitor; the room that their sockets join.
    pub session_id: SessionId,
    /// The channel that the visitor entered.
    pub channel_id: ChannelId,
    /// The router of the channel.
    pub router_id: RouterId,
    /// The contact of the visitor.
    pub contact_id: ContactId,
    /// Variables that seed a new session.
    pub context: Option<Map<String, Value>>,
    /// The flow that the embed token asks for.
    pub flow_id: Option<FlowId>,
    /// What begins a session of the channel.
    pub start_on: StartOn,
    /// What the visitor may send beside texts.
    pub attachments: Option<Attachments>,
    /// The last message that the visitor has.
    pub since: Option<MessageId>,
    /// The embed secret of the channel when the visitor was let in; `None` of an open channel.
    pub embed_secret: Option<Encrypted>,
}

impl Visitor {
    /// Returns the incoming event of a message of the visitor.
    pub fn incoming(&self, message: IncomingMessage, cx: &OpContext) -> IncomingEvent {
        IncomingEvent { messages: vec![message], ..self.event(cx) }
    }

    /// Returns the incoming event of the visitor who begins without a message, in a chat whose newest message has this
    /// number; 0 in a new chat.
    pub fn opening(&self, newest: i64, cx: &OpContext) -> IncomingEvent {
        IncomingEvent { opened_after: Some(newest), ..self.event(cx) }
    }

    fn event(&self, cx: &OpContext) -> IncomingEvent {
        IncomingEvent {
            channel_type: Channel::Webchat,
            session_id: self.session_id.clone(),
            phone_number_id: self.session_id.phone_number_id().to_owned(),
            from: Some(self.session_id.party().to_owned()),
            aliases: Vec::new(),
            contact_name: CONTACT_NAME.to_owned(),
            messages: Vec::new(),
            timestamp: cx.now(),
            context: self.context.clone(),
            flow_id: self.flow_id.clone(),
            opened_after: None,
        }
    }
}

/// Recognises visitors and lets them in.
#[derive(Debug)]
pub struct Visitors<S> {
    store: Arc<S>,
    cx: OpContext,
    master_key: Arc<MasterKey>,
    hasher: PasswordHasher,
    limits: Arc<Limits>,
    remembered: Remembered,
}

impl<S: Store> Visitors<S>
where
    S::Tx: HasContacts + HasWebchat,
{
    /// A service over `store`.
    pub fn new(
        store: Arc<S>,
        cx: OpContext,
        master_key: Arc<MasterKey>,
        hasher: PasswordHasher,
        limits: Arc<Limits>,
    ) -> Self {
        Self { store, cx, master_key, hasher, limits, remembered: Remembered::new() }
    }

    /// Lets a socket in: a new visit, a returning visitor or an embed token.
    ///
    /// # Errors
    /// A returning visitor whose key is wrong never becomes a new visit (spec B 3.1).
    pub async fn enter(
        &self,
        handshake: &Handshake,
        caller: Caller<'_>,
    ) -> Result<(Visitor, AuthOk), AuthError> {
        let mut tx = self.store.glance().await?;
        let channel = channel(&mut tx, handshake, caller).await?;
        self.enter_channel(tx, handshake, channel, caller).await
    }

    /// The same for a test channel.
    ///
    /// # Errors
    /// As [`Visitors::enter`]; [`AuthError::NotForTests`].
    pub async fn enter_test_channel(
        &self,
        handshake: &Handshake,
        caller: Caller<'_>,
    ) -> Result<(Visitor, AuthOk), AuthError> {
        let mut tx = self.store.glance().await?;
        let channel = channel(&mut tx, handshake, caller).await?;
        if !channel.purpose.is_test() {
            return Err(AuthError::NotForTests);
        }
        self.enter_channel(tx, handshake, channel, caller).await
    }

    async fn enter_channel(
        &self,
        tx: S::Tx,
        handshake: &Handshake,
        channel: WebchatChannel,
        caller: Caller<'_>,
    ) -> Result<(Visitor, AuthOk), AuthError> {
        let anonymous = handshake.user_id.is_none() && handshake.session_key.is_none();
        if channel.embed_secret.is_none() && anonymous {
            drop(tx);
            if !self.limits.admit_visit(caller.address) {
                return Err(AuthError::RateLimited);
            }
            return self.new_visit(handshake, &channel).await;
        }
        let visitor = self.known(tx, handshake, &channel, caller).await?;
        let key = handshake.session_key.as_ref().filter(|_| channel.embed_secret.is_none());
        let ok = AuthOk::of(&channel, visitor.session_id.party(), key);
        Ok((visitor, ok))
    }

    /// Recognises a visitor who must be known already: for their history.
    pub async fn recognise(&self, handshake: &Handshake, caller: Caller<'_>) -> Result<Visitor, AuthError> {
        let mut tx = self.store.glance().await?;
        let channel = channel(&mut tx, handshake, caller).await?;
        self.known(tx, handshake, &channel, caller).await
    }

    /// The clock and ids of the service.
    pub fn context(&self) -> &OpContext {
        &self.cx
    }

    async fn known(
        &self,
        tx: S::Tx,
        handshake: &Handshake,
        channel: &WebchatChannel,
        caller: Caller<'_>,
    ) -> Result<Visitor, AuthError> {
        match &channel.embed_secret {
            Some(secret) => {
                let secret = self.master_key.decrypt(secret).map_err(|_| StorageError::Corrupt {
                    entity: "webchat_channel",
                    reason: "its embed secret cannot be opened".to_owned(),
                })?;
                self.with_token(tx, handshake, channel, &secret).await
            }
            None => self.returning(tx, handshake, channel, caller).await,
        }
    }

    async fn new_visit(
        &self,
        handshake: &Handshake,
        channel: &WebchatChannel,
    ) -> Result<(Visitor, AuthOk), AuthError> {
        let visitor = VisitorId::generate(self.cx.ids());
        let session_key = SecretString::from(self.cx.ids().secret(2));
        let session_key_hash = self.hasher.hash(&session_key, SESSION_KEY_COST).await.map_err(refused)?;
        let session_id =
            SessionId::webchat(&channel.id, &visitor, None).map_err(|_| AuthError::IdentityInvalid)?;
        let identity = session_id.contact_identity();
        let contact =
            Contact::create(&self.cx, identity.clone(), UNNAMED_VISITOR.to_owned(), Channel::Webchat);
        let mut tx = self.store.begin().await?;
        let contact = tx.contacts().insert_or_get(&contact).await?;
        let id = IdentityId::generate(self.cx.ids());
        let row = WebchatIdentity {
            session_key_digest: key_digest(&id, &session_key),
            id,
            channel_id: channel.id.clone(),
            contact_id: contact.id.clone(),
            session_key_hash: session_key_hash.clone(),
            created_at: self.cx.now(),
        };
        tx.webchat().insert_identity(&row).await?;
        tx.commit().await?;
        self.remembered.note(&identity, &session_key, &session_key_hash);
        let ok = AuthOk::of(channel, visitor.as_str(), Some(&session_key));
        Ok((self.visitor(handshake, channel, session_id, contact.id), ok))
    }

    async fn returning(
        &self,
        mut tx: S::Tx,
        handshake: &Handshake,
        channel: &WebchatChannel,
        caller: Caller<'_>,
    ) -> Result<Visitor, AuthError> {
        let (Some(user_id), Some(key)) = (&handshake.user_id, &handshake.session_key) else {
            return Err(AuthError::IdentityInvalid);
        };
        let visitor = VisitorId::parse(user_id.clone()).map_err(|_| AuthError::IdentityInvalid)?;
        let session_id =
            SessionId::webchat(&channel.id, &visitor, None).map_err(|_| AuthError::IdentityInvalid)?;
        let identity = session_id.contact_identity();
        let row = tx.webchat().find_identity(&channel.id, &identity).await?;
        // Others read while the key is compared.
        drop(tx);
        let row = match row {
            Some(row) if self.remembered.knows(&identity, key, &row.session_key_hash) => row,
            Some(row) if has_digest(&row.id, key, row.session_key_digest.as_deref()) => {
                self.remembered.note(&identity, key, &row.session_key_hash);
                row
            }
            row => {
                // Guesses must not keep others waiting for their bcrypt.
                if !self.limits.admit_key_check(caller.address) {
                    return Err(AuthError::RateLimited);
                }
                let stored = row.as_ref().map(|row| &*row.session_key_hash);
                match (self.hasher.verify_or_pretend(key, stored, SESSION_KEY_COST).await, row) {
                    (Ok(true), Some(row)) => {
                        self.remembered.note(&identity, key, &row.session_key_hash);
                        self.note_digest(&row, key).await;
                        row
                    }
                    (Ok(_) | Err(PasswordError::TooLong), _) => return Err(AuthError::IdentityInvalid),
                    (Err(error), _) => return Err(refused(error)),
                }
            }
        };
        Ok(self.visitor(handshake, channel, session_id, row.contact_id))
    }

    /// Stores the digest of a key that was checked by bcrypt, which need not be done again.
    async fn note_digest(&self, row: &WebchatIdentity, key: &SecretString) {
        let Some(digest) = key_digest(&row.id, key) else {
            return;
        };
        let noted = async {
            let mut tx = self.store.begin().await?;
            tx.webchat().note_key_digest(&row.id, &digest).await?;
            tx.commit().await
        };
        if let Err(error) = noted.await {
            tracing::debug!(error = %Chain(&error), "a key is checked by bcrypt once more");
        }
    }

    async fn with_token(
        &self,
        tx: S::Tx,
        handshake: &Handshake,
        channel: &WebchatChannel,
        secret: &SecretString,
    ) -> Result<Visitor, AuthError> {
        let token = handshake.token.as_ref().ok_or(AuthError::TokenInvalid("missing"))?;
        let token = embed::verify(token.expose_secret(), secret, self.cx.now())?;
        let session_id =
            SessionId::webchat(&channel.id, &token.visitor, token.context.fingerprint.as_deref())
                .map_err(|_| AuthError::TokenInvalid("sub is not usable"))?;
        let contact = self.contact_of_token(tx, &session_id, token.name).await?;
        let mut visitor = self.visitor(handshake, channel, session_id, contact);
        visitor.context = Some(token.context.variables).filter(|map| !map.is_empty());
        visitor.flow_id = token.flow_id;
        Ok(visitor)
    }

    /// The contact of a token's `sub`, created or renamed as the token says. A name that a flow has set
    /// stays.
    async fn contact_of_token(
        &self,
        mut tx: S::Tx,
        session_id: &SessionId,
        name: Option<String>,
    ) -> Result<ContactId, StorageError> {
        let identity = session_id.contact_identity();
        let found = tx.contacts().find_by_phone_numbers(std::slice::from_ref(&identity)).await?;
        drop(tx);
        if let Some(contact) = found.first()
            && (contact.name_locked || name.as_ref().is_none_or(|name| *name == contact.name))
        {
            return Ok(contact.id.clone());
        }
        let mut tx = self.store.begin().await?;
        let new_name = name.clone().unwrap_or_else(|| UNNAMED_VISITOR.to_owned());
        let new = Contact::create(&self.cx, identity, new_name, Channel::Webchat);
        let contact_id = tx.contacts().insert_or_get(&new).await?.id;
        if let Some(name) = name {
            // A turn may be changing the session's variables, and the whole row is saved.
            let locked = tx.contacts().find_many_for_update(std::slice::from_ref(&contact_id)).await?.pop();
            if let Some(mut contact) = locked.filter(|contact| contact.name != name && !contact.name_locked) {
                contact.apply(&ContactChange::Name(name));
                contact.name_locked = false;
                tx.contacts().save_many(&[&contact]).await?;
            }
        }
        tx.commit().await?;
        Ok(contact_id)
    }

    fn visitor(
        &self,
        handshake: &Handshake,
        channel: &WebchatChannel,
        session_id: SessionId,
        contact_id: ContactId,
    ) -> Visitor {
        Visitor {
            session_id,
            channel_id: channel.id.clone(),
            router_id: channel.router_id.clone(),
            contact_id,
            context: None,
            flow_id: None,
            start_on: channel.start_on,
            attachments: channel.attachments.clone(),
            // A text that is not an id names no message of the session: everything was missed.
            since: handshake.since.as_ref().and_then(|id| {
                MessageId::parse(id.clone()).or_else(|_| MessageId::parse(UNKNOWN_MESSAGE)).ok()
            }),
            embed_secret: channel.embed_secret.clone(),
        }
    }
}

/// The channel, if the page's origin is among those it allows, and so is that of the page around it.
async fn channel<T: HasWebchat>(
    tx: &mut T,
    handshake: &Handshake,
    caller: Caller<'_>,
) -> Result<WebchatChannel, AuthError> {
    let id = ChannelId::parse(handshake.channel_id.clone()).map_err(|_| AuthError::ChannelUnknown)?;
    let channel = tx.webchat().find_channel(&id).await?.ok_or(AuthError::ChannelUnknown)?;
    let origins = caller.origin.into_iter().chain(handshake.embedder.as_deref());
    match &channel.allowed_origins {
        Some(allowed) if !all_in(allowed, origins) => Err(AuthError::OriginRefused),
        _ => Ok(channel),
    }
}

fn all_in<'a>(allowed: &[String], mut origins: impl Iterator<Item = &'a str>) -> bool {
    origins.all(|origin| allowed.iter().any(|known| known == origin))
}

fn refused(error: PasswordError) -> AuthError {
    match error {
        PasswordError::Busy => AuthError::RateLimited,
        PasswordError::TooLong => AuthError::IdentityInvalid,
        PasswordError::Corrupt => AuthError::Storage(StorageError::Corrupt {
            entity: "webchat_identity",
            reason: "its key hash is no bcrypt hash".to_owned(),
        }),
    }
}
