//! The storage port: transactions over repositories, with the outbox in the same commit.

use std::fmt::Debug;

use async_trait::async_trait;

use crate::channel_number::ChannelNumberRepository;
use crate::chat::{ChatCatalog, ChatRepository, ChatTagRepository};
use crate::contact::{
    ContactCatalog, ContactInsightRepository, ContactRepository, OptInCatalog, OptInRepository,
};
use crate::credential::LlmCredentialRepository;
use crate::fault::StorageError;
use crate::flow::{FlowCatalog, FlowRepository, TrackedEventRepository};
use crate::idempotency::IdempotencyTx;
use crate::integration::IntegrationRepository;
use crate::message::MessageRepository;
use crate::observability::ObservabilityRepository;
use crate::router::{RouterCatalog, RouterRepository};
use crate::session::{LiveSessions, SessionCatalog, SessionRepository, SessionTraceRepository};
use crate::stream::broker::NewEntry;
use crate::template::TemplateRepository;
use crate::transfer::ChannelTransfer;
use crate::variable::VariableRepository;

/// What a [generation](Store::generation) is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Records {
    /// Users, groups and API clients: what principals may do.
    Access,
    /// Routers.
    Routers,
}

/// A database.
#[async_trait]
pub trait Store: Send + Sync + Debug + 'static {
    /// Its transaction. Dropped without a commit, it is rolled back.
    type Tx: Transaction;

    /// Begins a transaction that may write.
    async fn begin(&self) -> Result<Self::Tx, StorageError>;

    /// Begins a transaction that only reads; it neither waits for a writer nor holds one up. Only a
    /// database of one connection (SQLite in memory) lets transactions follow each other: never open a
    /// second one while the same task holds the first.
    async fn read(&self) -> Result<Self::Tx, StorageError>;

    /// The same for a look at a few rows by their keys, which a store may give on the spot. Whoever holds it waits
    /// for nothing else.
    async fn glance(&self) -> Result<Self::Tx, StorageError> {
        self.read().await
    }

    /// A number that is another one after every commit that changes such records: what was read while it had
    /// its present value still holds. `None` when others may commit unseen, so that only reading tells.
    fn generation(&self, of: Records) -> Option<u64>;
}

/// A transaction.
#[async_trait]
pub trait Transaction: Send {
    /// Makes everything of it durable, or nothing.
    async fn commit(self) -> Result<(), StorageError>;
}

/// Events that become visible with the commit (rulings S3).
#[async_trait]
pub trait Outbox: Send {
    /// Appends events, in order.
    async fn push_many(&mut self, entries: &[NewEntry]) -> Result<(), StorageError>;
}

/// A transaction with an outbox.
pub trait OutboxTx: Transaction {
    /// The outbox.
    fn outbox(&mut self) -> &mut dyn Outbox;
}

/// What administering contacts, chats and sessions needs of a transaction, beyond what conversations do.
pub trait PeopleTx: ConversationTx + IdempotencyTx {
    /// Sessions, as they are administered.
    fn session_catalog(&mut self) -> &mut dyn SessionCatalog;
    /// Chats, as they are administered.
    fn chat_catalog(&mut self) -> &mut dyn ChatCatalog;
    /// Contacts, as they are administered.
    fn contact_catalog(&mut self) -> &mut dyn ContactCatalog;
    /// Doings of contacts.
    fn contact_insights(&mut self) -> &mut dyn ContactInsightRepository;
    /// Opt-ins, as they are administered.
    fn opt_in_catalog(&mut self) -> &mut dyn OptInCatalog;
}

/// What conversations need of a transaction.
pub trait ConversationTx: OutboxTx {
    /// Contacts.
    fn contacts(&mut self) -> &mut dyn ContactRepository;
    /// Chats.
    fn chats(&mut self) -> &mut dyn ChatRepository;
    /// Messages.
    fn messages(&mut self) -> &mut dyn MessageRepository;
    /// Sessions.
    fn sessions(&mut self) -> &mut dyn SessionRepository;
    /// Routers and static variables.
    fn routers(&mut self) -> &mut dyn RouterRepository;
    /// Flows and their versions.
    fn flows(&mut self) -> &mut dyn FlowRepository;
    /// Opt-ins.
    fn opt_ins(&mut self) -> &mut dyn OptInRepository;
    /// Labels of chats.
    fn chat_tags(&mut self) -> &mut dyn ChatTagRepository;
    /// What flows record.
    fn tracked_events(&mut self) -> &mut dyn TrackedEventRepository;
    /// What turns did.
    fn traces(&mut self) -> &mut dyn SessionTraceRepository;
}

/// What building routers and flows needs of a transaction, beyond what conversations do.
pub trait BuilderTx: ConversationTx + IdempotencyTx {
    /// Routers, as they are administered.
    fn router_catalog(&mut self) -> &mut dyn RouterCatalog;
    /// Flows, their drafts and versions, as they are administered.
    fn flow_catalog(&mut self) -> &mut dyn FlowCatalog;
    /// Static variables.
    fn variables(&mut self) -> &mut dyn VariableRepository;
    /// The sessions that depend on something.
    fn live_sessions(&mut self) -> &mut dyn LiveSessions;
    /// Channels, as far as they travel with their router.
    fn channel_transfer(&mut self) -> &mut dyn ChannelTransfer;
    /// Credentials of model providers, which routers name.
    fn llm_credentials(&mut self) -> &mut dyn LlmCredentialRepository;
}

/// What administering the ways to the outside needs of a transaction, beyond what building does.
pub trait ConnectionTx: BuilderTx {
    /// Numbers of the phone channel.
    fn channel_numbers(&mut self) -> &mut dyn ChannelNumberRepository;
    /// Message templates.
    fn templates(&mut self) -> &mut dyn TemplateRepository;
    /// Integrations of routers.
    fn integrations(&mut self) -> &mut dyn IntegrationRepository;
    /// The settings of observability.
    fn observability(&mut self) -> &mut dyn ObservabilityRepository;
}
