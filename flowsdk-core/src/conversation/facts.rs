//! The facts on which a batch is decided: read once, a statement a kind and not a session.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use secrecy::SecretString;

use super::flow_cache::FlowCache;
use super::flows::Flows;
use super::opening::Opened;
use super::{ConversationError, ConversationEvent, ConversationTx};
use crate::contact::Contact;
use crate::crypto::MasterKey;
use crate::event::FlowEvent;
use crate::fault::StorageError;
use crate::id::{ContactId, FlowId, FlowVersionId, MessageId, RouterId};
use crate::router::{Router, StaticVariables, VariableOwner};
use crate::session::{Session, SessionId, StoredSession};

type VariableMaps = HashMap<VariableOwner, Arc<BTreeMap<String, SecretString>>>;

/// Everything read for a batch.
pub(super) struct Facts {
    pub(super) sessions: HashMap<SessionId, StoredSession>,
    pub(super) contacts: HashMap<ContactId, Contact>,
    pub(super) routers: HashMap<RouterId, Router>,
    pub(super) flows: Flows,
    /// Messages that were stored before, by their key. Empty while nothing speaks for a repetition.
    pub(super) duplicates: HashMap<String, MessageId>,
    /// Whether messages that are stored are handled all the same (rulings S5).
    pub(super) replaying: bool,
    statics: VariableMaps,
}

impl Facts {
    /// Reads, and locks, the sessions of `events` and their contacts.
    pub(super) async fn read<T: ConversationTx>(
        tx: &mut T,
        events: &[&ConversationEvent],
        look_for_duplicates: bool,
        flows: Flows,
    ) -> Result<Self, ConversationError> {
        let mut ids: Vec<SessionId> = events.iter().map(|event| event.session_id().clone()).collect();
        // The order in which rows are locked.
        ids.sort_unstable();
        let stored = tx.sessions().find_many_for_update(&ids).await?;
        let contact_ids: Vec<ContactId> = stored.iter().map(|s| s.session.contact_id.clone()).collect();
        let contacts = if contact_ids.is_empty() {
            Vec::new()
        } else {
            tx.contacts().find_many_for_update(&contact_ids).await?
        };
        let mut duplicates = HashMap::new();
        if look_for_duplicates {
            let keys: Vec<String> = events
                .iter()
                .filter_map(|event| event.incoming())
                .flat_map(|event| event.messages.iter().map(|message| message.dedupe_key(&event.session_id)))
                .collect();
            duplicates.extend(tx.messages().find_by_channel_ids(&keys).await?);
        }
        Ok(Self {
            sessions: stored.into_iter().map(|stored| (stored.session.id.clone(), stored)).collect(),
            contacts: contacts.into_iter().map(|contact| (contact.id.clone(), contact)).collect(),
            routers: HashMap::new(),
            flows,
            duplicates,
            replaying: false,
            statics: HashMap::new(),
        })
    }

    /// Reads the records that the flows of the batch need: their versions, the flows they lead to, the routers and,
    /// where a flow uses them, the static variables.
    pub(super) async fn read_flows<T: ConversationTx>(
        &mut self,
        tx: &mut T,
        cache: &FlowCache,
        key: &MasterKey,
        opened: &HashMap<SessionId, Opened>,
        events: &[&ConversationEvent],
    ) -> Result<(), ConversationError> {
        let stored = self.sessions.values().map(|stored| &stored.session);
        let sessions: Vec<&Session> = stored.chain(opened.values().filter_map(Opened::session)).collect();
        let stored = sessions.iter().map(|session| &session.router_id);
        let mut routers: Vec<RouterId> =
            stored.chain(opened.values().filter_map(Opened::router)).cloned().collect();
        routers.sort_unstable();
        routers.dedup();
        if !routers.is_empty() {
            let found = tx.routers().find_many(&routers).await?;
            self.routers = found.into_iter().map(|router| (router.id.clone(), router)).collect();
        }
        if sessions.is_empty() {
            return Ok(());
        }
        let versions: Vec<FlowVersionId> = sessions.iter().copied().flat_map(versions_of).cloned().collect();
        cache.load(&mut self.flows, &versions);
        for session in &sessions {
            self.flows.note_need(&session.router_id, versions_of(session));
        }
        let in_use = versions.iter().filter_map(|id| self.flows.version(id));
        let ahead = || self.sessions.values().flat_map(|stored| &stored.ahead);
        let targets = events.iter().filter_map(|event| event.target_flow());
        let targets = targets.chain(ahead().filter_map(FlowEvent::target_flow)).cloned();
        let referenced: Vec<FlowId> =
            in_use.flat_map(|flow| flow.referenced_flows()).chain(targets).collect();
        cache.load_reachable(tx.flows(), &mut self.flows, referenced).await?;

        let jumps: Vec<(&SessionId, &FlowId)> = events
            .iter()
            .filter_map(|event| Some((event.session_id(), event.target_flow()?)))
            .chain(ahead().filter_map(|event| Some((event.session_id(), event.target_flow()?))))
            .collect();
        let mut owners = Vec::new();
        for session in sessions {
            let known = versions_of(session).filter_map(|version| self.flows.version(version));
            for flow in known.filter(|flow| flow.uses_static_variables()) {
                owners.push(VariableOwner::Router(session.router_id.clone()));
                owners.push(VariableOwner::Flow(flow.flow_id().clone()));
            }
            let targets = jumps.iter().filter(|(id, _)| **id == session.id);
            let mut targets = targets.filter_map(|(_, flow)| self.flows.published(flow));
            if targets.any(|flow| flow.uses_static_variables()) {
                owners.push(VariableOwner::Router(session.router_id.clone()));
            }
        }
        if !owners.is_empty() {
            owners.extend(self.flows.published_ids().cloned().map(VariableOwner::Flow));
            self.statics = static_variables(tx, key, &owners).await?;
        }
        Ok(())
    }

    /// Returns the static variables that a turn of `session` sees.
    pub(super) fn statics_of(&self, session: &Session) -> StaticVariables {
        statics_among(&self.statics, &session.router_id)
    }
}

fn statics_among(maps: &VariableMaps, router: &RouterId) -> StaticVariables {
    let owned = maps.iter().filter_map(|(owner, map)| match owner {
        VariableOwner::Flow(flow) => Some((flow.clone(), Arc::clone(map))),
        VariableOwner::Router(_) => None,
    });
    StaticVariables {
        flows: owned.collect(),
        router: maps.get(&VariableOwner::Router(router.clone())).cloned().unwrap_or_default(),
    }
}

/// Returns the static variables that `flows` of a router see, if one of them reads any.
pub(super) async fn static_variables_of<T: ConversationTx>(
    tx: &mut T,
    key: &MasterKey,
    router: &RouterId,
    flows: &Flows,
) -> Result<StaticVariables, StorageError> {
    let published = || flows.published_ids().filter_map(|id| flows.published(id));
    if !published().any(|flow| flow.uses_static_variables()) {
        return Ok(StaticVariables::default());
    }
    let flows = published().map(|flow| VariableOwner::Flow(flow.flow_id().clone()));
    let owners: Vec<VariableOwner> = flows.chain([VariableOwner::Router(router.clone())]).collect();
    Ok(statics_among(&static_variables(tx, key, &owners).await?, router))
}

/// Returns the versions on which a session stands: its own, and those that called it as a sub-flow.
pub(super) fn versions_of(session: &Session) -> impl Iterator<Item = &FlowVersionId> {
    let position = session.position.iter().map(|position| &position.version_id);
    position.chain(session.calls.iter().map(|call| &call.version_id))
}

/// Returns the decrypted static variables of `owners`. One that no key opens is left out: the engine sees an empty
/// text, and the log names it.
async fn static_variables<T: ConversationTx>(
    tx: &mut T,
    key: &MasterKey,
    owners: &[VariableOwner],
) -> Result<VariableMaps, StorageError> {
    let mut maps: HashMap<VariableOwner, BTreeMap<String, SecretString>> = HashMap::new();
    for variable in tx.routers().static_variables(owners).await? {
        let value = match (&variable.value, &variable.encrypted) {
            (Some(clear), _) => Some(SecretString::from(clear.clone())),
            (None, Some(encrypted)) => key.decrypt(encrypted).ok(),
            (None, None) => None,
        };
        match value {
            Some(value) => drop(maps.entry(variable.owner).or_default().insert(variable.key, value)),
            None => tracing::error!(key = variable.key, "a static variable cannot be read"),
        }
    }
    Ok(maps.into_iter().map(|(owner, map)| (owner, Arc::new(map))).collect())
}
