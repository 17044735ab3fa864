//! Tools that are called outside of a turn: by interactive forms and by AI agents.
//!
//! No transaction is open while a tool asks the outside. What it does to the contact and leaves as records is one commit at
//! its end; a tool that fails has done nothing here. A tool that asks nothing can be part of its caller's transaction.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::ConversationTx;
use super::facts::static_variables_of;
use super::flow_cache::{Compiled, FlowCache};
use super::flows::Flows;
use super::records::Records;
use super::rehearsal::SHORT;
use super::service::{ATTEMPTS, evicted};
use crate::contact::Contact;
use crate::contact::HasContacts as _;
use crate::context::OpContext;
use crate::crypto::MasterKey;
use crate::fault::StorageError;
use crate::flow::HasFlows as _;
use crate::flow::definition::Parameter;
use crate::flow::{
    CompiledFlow, Effect, HttpCaller, Scene, ScriptRunner, ToolError, ToolOutcome, call_tool,
    call_tool_inside,
};
use crate::id::{ChatId, ContactId, FlowId, RouterId};
use crate::router::{HasRouters as _, Router, StaticVariables};
use crate::session::{HasSessions as _, Session, SessionId};
use crate::store::{Store, Transaction as _};
use crate::time::Timestamp;

/// The reason why a tool was not called, or gave nothing.
#[derive(Debug, thiserror::Error)]
pub enum ToolCallError {
    /// The session has ended, or is of another router.
    #[error("no such session")]
    NoSession,
    /// The router has no published tool of this id.
    #[error("the router has no published tool of this id")]
    NoTool,
    /// The tool was called.
    #[error(transparent)]
    Tool(#[from] ToolError),
    /// The database failed. What the tool asked of the outside may have happened.
    #[error("storage failed")]
    Storage(#[from] StorageError),
}

/// A call of a tool for a session.
#[derive(Debug)]
pub struct ToolCall<'a> {
    /// The router of session and tool.
    pub router: &'a RouterId,
    /// The session whose variables the tool sees.
    pub session: &'a SessionId,
    /// The tool: a flow of this kind.
    pub tool: &'a FlowId,
}

/// What a tool gave back.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolReturned {
    /// What it returns, by name.
    pub returns: Map<String, Value>,
    /// The variables of the contact, if it has changed them.
    pub contact_variables: Option<Map<String, Value>>,
}

/// Calls tools.
pub struct ToolCalls<S> {
    store: Arc<S>,
    cx: OpContext,
    master_key: Arc<MasterKey>,
    flows: Arc<FlowCache>,
    http: Arc<dyn HttpCaller>,
    scripts: Arc<dyn ScriptRunner>,
}

impl<S> fmt::Debug for ToolCalls<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ToolCalls")
    }
}

/// Everything that a call reads.
struct Prepared {
    kit: Kit,
    session: Session,
    contact: Contact,
}

/// What all calls of a tool have in common, as long as nobody publishes a flow or changes the router.
struct Kit {
    tool: Arc<CompiledFlow>,
    flows: Flows,
    router: Router,
    statics: StaticVariables,
}

impl Kit {
    fn scene(&self, now: Timestamp) -> Scene<'_> {
        let Self { tool, flows, router, statics } = self;
        Scene { flow: Arc::clone(tool), router, statics, now, flows }
    }
}

/// What the calls of one transaction have read.
#[derive(Default)]
pub struct ToolReading {
    /// `None` for a tool whose flows are not compiled.
    kits: HashMap<(RouterId, FlowId), Option<Kit>>,
    contacts: HashMap<ContactId, Contact>,
}

impl ToolReading {
    /// Reads contacts whose sessions may call tools.
    ///
    /// # Errors
    /// [`StorageError`].
    pub async fn read_contacts<T: ConversationTx>(
        &mut self,
        tx: &mut T,
        ids: &[ContactId],
    ) -> Result<(), StorageError> {
        if !ids.is_empty() {
            let found = tx.contacts().find_many(ids).await?.into_iter();
            self.contacts.extend(found.map(|contact| (contact.id.clone(), contact)));
        }
        Ok(())
    }

    /// Forgets a contact that was changed.
    pub fn forget(&mut self, id: &ContactId) {
        self.contacts.remove(id);
    }
}

impl<S: Store> ToolCalls<S>
where
    S::Tx: ConversationTx,
{
    /// Creates a service over `store`; `http` and `scripts` perform what tools ask of the outside.
    pub fn new(
        store: Arc<S>,
        cx: OpContext,
        master_key: Arc<MasterKey>,
        http: Arc<dyn HttpCaller>,
        scripts: Arc<dyn ScriptRunner>,
    ) -> Self {
        Self { store, cx, master_key, flows: Arc::default(), http, scripts }
    }

    /// Calls a tool with what `arguments` makes of its parameters; returns what it gives back.
    ///
    /// # Errors
    /// [`ToolCallError`].
    pub async fn call(
        &self,
        call: &ToolCall<'_>,
        arguments: impl FnOnce(&[Parameter]) -> Map<String, Value>,
    ) -> Result<ToolReturned, ToolCallError> {
        let Prepared { kit, session, contact } = self.prepare(call).await?;
        let arguments = arguments(kit.tool.parameters());
        let scene = kit.scene(self.now(&session));
        let before = contact.clone();
        let outcome = call_tool(&scene, &session, contact, arguments, &*self.http, &*self.scripts).await?;
        let done = self.done(&session, &before, outcome);
        if done.is_nothing() {
            return Ok(ToolReturned { returns: done.returns, contact_variables: None });
        }
        let mut tx = self.store.begin().await?;
        let returned = done.write(&mut tx).await?;
        tx.commit().await?;
        Ok(returned)
    }

    /// Calls a tool within the transaction of its caller, for a session that the caller has locked. What the tool does is part
    /// of that transaction.
    ///
    /// Returns `None` if the tool asks something of the outside, takes long, or has to be compiled first. Nothing has happened
    /// then, and [`Self::call`] does it.
    ///
    /// # Errors
    /// [`ToolCallError`].
    pub async fn call_within(
        &self,
        tx: &mut S::Tx,
        reading: &mut ToolReading,
        session: &Session,
        tool: &FlowId,
        arguments: Map<String, Value>,
    ) -> Result<Option<ToolReturned>, ToolCallError> {
        let key = (session.router_id.clone(), tool.clone());
        if !reading.kits.contains_key(&key) {
            let mut flows = Flows::default();
            let kit = self.kit(tx, &mut flows, &session.router_id, tool).await?;
            reading.kits.insert(key.clone(), kit);
        }
        if !reading.contacts.contains_key(&session.contact_id) {
            reading.read_contacts(tx, std::slice::from_ref(&session.contact_id)).await?;
        }
        let Some(Some(kit)) = reading.kits.get(&key) else { return Ok(None) };
        let Some(contact) = reading.contacts.get(&session.contact_id) else {
            return Err(ToolCallError::NoSession);
        };
        let scene = kit.scene(self.now(session));
        let Some(outcome) = call_tool_inside(&scene, session, contact.clone(), arguments, SHORT)? else {
            return Ok(None);
        };
        let returned = self.done(session, contact, outcome).write(tx).await?;
        if returned.contact_variables.is_some() {
            reading.forget(&session.contact_id);
        }
        Ok(Some(returned))
    }

    fn now(&self, session: &Session) -> Timestamp {
        self.cx.now().max(session.last_interaction_at)
    }

    async fn prepare(&self, call: &ToolCall<'_>) -> Result<Prepared, ToolCallError> {
        let mut compiled = Compiled::new();
        for _ in 0..ATTEMPTS {
            let mut tx = self.store.glance().await?;
            let stored = tx.sessions().find_many(std::slice::from_ref(call.session)).await?.pop();
            let session = stored.map(|stored| stored.session);
            let session = session.filter(|session| session.router_id == *call.router);
            let session = session.ok_or(ToolCallError::NoSession)?;
            let mut flows = Flows::among(compiled.clone());
            let Some(kit) = self.kit(&mut tx, &mut flows, call.router, call.tool).await? else {
                let Some(missing) = flows.take_missing() else { continue };
                let versions = tx.flows().find_versions(&missing.versions).await?;
                drop(tx);
                compiled.extend(self.flows.compile(missing.versions, versions).await?);
                continue;
            };
            let contact_id = std::slice::from_ref(&session.contact_id);
            let contact = tx.contacts().find_many(contact_id).await?.pop();
            let contact = contact.ok_or(ToolCallError::NoSession)?;
            return Ok(Prepared { kit, session, contact });
        }
        Err(evicted().into())
    }

    /// Returns what calls of a tool need; `None` if versions have to be compiled first, which `flows` names.
    async fn kit(
        &self,
        tx: &mut S::Tx,
        flows: &mut Flows,
        router: &RouterId,
        tool: &FlowId,
    ) -> Result<Option<Kit>, ToolCallError> {
        self.flows.load_reachable(tx.flows(), flows, vec![tool.clone()]).await?;
        if flows.is_missing_any() {
            return Ok(None);
        }
        let tool = flows.published(tool).filter(|flow| flow.router_id() == router).cloned();
        let tool = tool.ok_or(ToolCallError::NoTool)?;
        let found = tx.routers().find(router).await?.ok_or(ToolCallError::NoSession)?;
        let statics = static_variables_of(tx, &self.master_key, router, flows).await?;
        Ok(Some(Kit { tool, flows: std::mem::take(flows), router: found, statics }))
    }

    /// Returns what is to be written of a call.
    fn done(&self, session: &Session, before: &Contact, outcome: ToolOutcome) -> Done {
        let ToolOutcome { returns, contact: after, contact_changed, effects } = outcome;
        let mut records = Records::default();
        let mut closes_chat = false;
        for effect in effects {
            match records.note(&self.cx, session, self.cx.now(), effect) {
                Some(Effect::CloseChat) => closes_chat = true,
                // A tool neither speaks nor hands the session over.
                Some(effect) => tracing::error!(?effect, "a tool has an effect that no tool has"),
                None => {}
            }
        }
        Done {
            returns,
            contact: contact_changed.then(|| (before.clone(), after)),
            closed: closes_chat.then(|| session.chat_id.clone()),
            records,
        }
    }
}

/// What a tool gives back, and what is to be written of it.
struct Done {
    returns: Map<String, Value>,
    /// The contact before and after, if it was changed.
    contact: Option<(Contact, Contact)>,
    /// The chat, if it was closed.
    closed: Option<ChatId>,
    records: Records,
}

impl Done {
    fn is_nothing(&self) -> bool {
        self.contact.is_none() && self.closed.is_none() && self.records.is_empty()
    }

    /// Writes it. The contact may have been changed meanwhile: the tool's changes are made to it as it is now.
    async fn write<T: ConversationTx>(self, tx: &mut T) -> Result<ToolReturned, StorageError> {
        let mut contact_variables = None;
        if let Some((before, after)) = &self.contact
            && let Some(mut contact) =
                tx.contacts().find_many_for_update(std::slice::from_ref(&before.id)).await?.pop()
        {
            contact.change_as(before, after);
            tx.contacts().save_many(&[&contact]).await?;
            contact_variables = Some(contact.variables);
        }
        if let Some(chat) = &self.closed {
            tx.chats().close_many(std::slice::from_ref(chat)).await?;
        }
        self.records.write(tx).await?;
        Ok(ToolReturned { returns: self.returns, contact_variables })
    }
}
