//! Tools that are called outside of a turn: by interactive forms and by AI agents.
//!
//! A tool may ask the outside, so no transaction is open while it runs. What it does to the contact and leaves as records is
//! one commit at its end; a tool that fails has done nothing here.

use std::fmt;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::ConversationTx;
use super::facts::static_variables_of;
use super::flow_cache::{Compiled, FlowCache};
use super::flows::Flows;
use super::records::Records;
use super::service::{ATTEMPTS, evicted};
use crate::chat::HasChats as _;
use crate::contact::Contact;
use crate::contact::HasContacts as _;
use crate::context::OpContext;
use crate::crypto::MasterKey;
use crate::fault::StorageError;
use crate::flow::HasFlows as _;
use crate::flow::definition::Parameter;
use crate::flow::{CompiledFlow, Effect, HttpCaller, Scene, ScriptRunner, ToolError, ToolOutcome, call_tool};
use crate::id::{FlowId, RouterId};
use crate::router::{HasRouters as _, Router, StaticVariables};
use crate::session::{HasSessions as _, Session, SessionId};
use crate::store::{Store, Transaction as _};

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
    tool: Arc<CompiledFlow>,
    flows: Flows,
    session: Session,
    contact: Contact,
    router: Router,
    statics: StaticVariables,
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
        let Prepared { tool, flows, session, contact, router, statics } = self.prepare(call).await?;
        let arguments = arguments(tool.parameters());
        let now = self.cx.now().max(session.last_interaction_at);
        let scene = Scene { flow: tool, router: &router, statics: &statics, now, flows: &flows };
        let before = contact.clone();
        let outcome = call_tool(&scene, &session, contact, arguments, &*self.http, &*self.scripts).await?;
        self.commit(&session, &before, outcome).await
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
            self.flows.load_reachable(tx.flows(), &mut flows, vec![call.tool.clone()]).await?;
            if let Some(missing) = flows.take_missing() {
                let versions = tx.flows().find_versions(&missing.versions).await?;
                drop(tx);
                compiled.extend(self.flows.compile(missing.versions, versions).await?);
                continue;
            }
            let tool = flows.published(call.tool).filter(|flow| flow.router_id() == call.router).cloned();
            let tool = tool.ok_or(ToolCallError::NoTool)?;
            let contact_id = std::slice::from_ref(&session.contact_id);
            let contact = tx.contacts().find_many(contact_id).await?.pop();
            let router = tx.routers().find(call.router).await?;
            let (Some(contact), Some(router)) = (contact, router) else {
                return Err(ToolCallError::NoSession);
            };
            let statics = static_variables_of(&mut tx, &self.master_key, call.router, &flows).await?;
            return Ok(Prepared { tool, flows, session, contact, router, statics });
        }
        Err(evicted().into())
    }

    /// Writes what a tool has done. Contacts may have been changed meanwhile: the tool's changes are made to them as they
    /// are now.
    async fn commit(
        &self,
        session: &Session,
        before: &Contact,
        outcome: ToolOutcome,
    ) -> Result<ToolReturned, ToolCallError> {
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
        let mut contact_variables = None;
        if !contact_changed && !closes_chat && records.is_empty() {
            return Ok(ToolReturned { returns, contact_variables });
        }
        let mut tx = self.store.begin().await?;
        if contact_changed {
            let id = std::slice::from_ref(&before.id);
            if let Some(mut contact) = tx.contacts().find_many_for_update(id).await?.pop() {
                contact.change_as(before, &after);
                tx.contacts().save_many(&[&contact]).await?;
                contact_variables = Some(contact.variables);
            }
        }
        if closes_chat {
            tx.chats().close_many(std::slice::from_ref(&session.chat_id)).await?;
        }
        records.write(&mut tx).await?;
        tx.commit().await?;
        Ok(ToolReturned { returns, contact_variables })
    }
}
