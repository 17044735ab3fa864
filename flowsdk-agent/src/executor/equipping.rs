//! What a turn is run by.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use flowsdk_core::contact::ContactDetails;
use flowsdk_core::credential::LlmCredential;
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::{AgentId, ContactId, LlmCredentialId};
use flowsdk_core::session::{AgentConfigSnapshot, Channel, Session, SessionId};
use flowsdk_core::store::Store;
use serde_json::{Map, Value};

use super::acting::Outside;
use super::seeing::Pictures;
use super::{Executor, ExecutorTx};
use crate::agent::AiAgent;
use crate::configuration::{self, AgentConfiguration};
use crate::guardrail::{EnforcedRules, KnownRules};
use crate::ledger::{AgentTurn, PastTurn};
use crate::model::Item;
use crate::tool::Toolset;
use crate::turn::Instructions;
use crate::usage::ModelCall;

/// Most turns whose items are the history of a turn.
const HISTORY: u32 = 100;

/// A turn that runs, with what it is run by.
pub(super) struct OpenTurn {
    pub(super) record: AgentTurn,
    pub(super) session: Session,
    pub(super) configuration: Arc<AgentConfiguration>,
    pub(super) instructions: Instructions,
    pub(super) toolset: Arc<Toolset>,
    /// What its messages and effects have to keep to.
    pub(super) rules: Arc<EnforcedRules>,
    /// The variables of the contact.
    pub(super) contact: Map<String, Value>,
    /// What was said in the turns before.
    pub(super) history: Vec<Item>,
    /// How many of the items, those of the history among them, the provider has: the session has the id of its response.
    pub(super) known: usize,
    /// How many answers are written, with what they used.
    pub(super) noted: usize,
    /// Calls of models since the last step that are no answers: of recordings and searches.
    pub(super) beside: Vec<ModelCall>,
    /// The credentials of the model and of the fallback.
    pub(super) credentials: [Option<LlmCredential>; 2],
    /// The call that is to be made now.
    pub(super) outside: Option<Outside>,
    /// The images of the turn, once they were looked at.
    pub(super) pictures: Option<Pictures>,
}

/// What all turns of an agent have in common, as long as nobody changes it.
pub(super) struct Equipment {
    pub(super) configuration: Arc<AgentConfiguration>,
    rules: Arc<EnforcedRules>,
    toolsets: Mutex<HashMap<Channel, Arc<Toolset>>>,
}

impl Equipment {
    /// Returns the tools of the agent on a channel.
    fn toolset(&self, channel: Channel) -> Arc<Toolset> {
        let mut toolsets = self.toolsets.lock().unwrap_or_else(PoisonError::into_inner);
        let new = || Arc::new(Toolset::new(&self.configuration.tool_settings(), channel.capabilities()));
        Arc::clone(toolsets.entry(channel).or_insert_with(new))
    }
}

/// Most agents whose equipment is kept.
const KEPT: usize = 1_000;

/// The equipment of agents. It is made anew when their configuration has changed.
#[derive(Default)]
pub(super) struct KnownEquipment {
    rules: KnownRules,
    by_agent: Mutex<HashMap<AgentId, Arc<Equipment>>>,
}

impl KnownEquipment {
    /// Returns the equipment of an agent with this configuration.
    fn of(&self, configuration: AgentConfiguration) -> Arc<Equipment> {
        let mut by_agent = self.by_agent.lock().unwrap_or_else(PoisonError::into_inner);
        let known = by_agent.get(&configuration.agent_id);
        if let Some(known) = known.filter(|known| *known.configuration == configuration) {
            return Arc::clone(known);
        }
        if by_agent.len() >= KEPT {
            by_agent.clear();
        }
        let rules = self.rules.of(&configuration.guardrail_rules);
        let configuration = Arc::new(configuration);
        let id = configuration.agent_id.clone();
        let equipment = Arc::new(Equipment { configuration, rules, toolsets: Mutex::default() });
        by_agent.insert(id, Arc::clone(&equipment));
        equipment
    }
}

/// What was read for the turns of a group. Turns of one agent that begin together are run by one configuration.
#[derive(Default)]
pub(super) struct Reading {
    agents: HashMap<AgentId, Option<Arc<AiAgent>>>,
    equipment: HashMap<AgentId, Arc<Equipment>>,
    credentials: HashMap<LlmCredentialId, Option<LlmCredential>>,
    contacts: HashMap<ContactId, ContactDetails>,
    past: HashMap<SessionId, Vec<PastTurn>>,
}

impl Reading {
    /// Returns an agent.
    pub(super) async fn agent<T: ExecutorTx>(
        &mut self,
        tx: &mut T,
        id: &AgentId,
    ) -> Result<Option<Arc<AiAgent>>, StorageError> {
        if let Some(known) = self.agents.get(id) {
            return Ok(known.clone());
        }
        let agent: Option<AiAgent> = tx.records().find(id).await?;
        let agent = agent.map(Arc::new);
        self.agents.insert(id.clone(), agent.clone());
        Ok(agent)
    }

    /// Returns the equipment of an agent.
    pub(super) async fn equipment<T: ExecutorTx>(
        &mut self,
        tx: &mut T,
        known: &KnownEquipment,
        agent: &AiAgent,
    ) -> Result<Arc<Equipment>, StorageError> {
        if let Some(read) = self.equipment.get(&agent.id) {
            return Ok(Arc::clone(read));
        }
        let equipment = known.of(configuration::read(tx, agent).await?);
        self.equipment.insert(agent.id.clone(), Arc::clone(&equipment));
        Ok(equipment)
    }

    /// Returns a credential.
    pub(super) async fn credential<T: ExecutorTx>(
        &mut self,
        tx: &mut T,
        id: Option<&LlmCredentialId>,
    ) -> Result<Option<LlmCredential>, StorageError> {
        let Some(id) = id else { return Ok(None) };
        if let Some(known) = self.credentials.get(id) {
            return Ok(known.clone());
        }
        let credential = tx.llm_credentials().find(id).await?;
        self.credentials.insert(id.clone(), credential.clone());
        Ok(credential)
    }

    /// Reads the contacts of sessions, and what was said in the turns before these.
    pub(super) async fn read_past<T: ExecutorTx>(
        &mut self,
        tx: &mut T,
        contacts: &[ContactId],
        turns: &[&AgentTurn],
    ) -> Result<(), StorageError> {
        if turns.is_empty() {
            return Ok(());
        }
        let details = tx.contact_catalog().find(contacts, None).await?.into_iter();
        self.contacts = details.map(|details| (details.contact.id.clone(), details)).collect();
        for past in tx.agent_turns().past(turns, HISTORY).await? {
            self.past.entry(past.session_id.clone()).or_default().push(past);
        }
        Ok(())
    }
}

impl<S: Store> Executor<S>
where
    S::Tx: ExecutorTx,
{
    /// Gives a turn all that it is run by.
    pub(super) async fn equip(
        &self,
        tx: &mut S::Tx,
        session: Session,
        record: AgentTurn,
        equipment: &Equipment,
        reading: &mut Reading,
    ) -> Result<OpenTurn, StorageError> {
        let Equipment { configuration, rules, .. } = equipment;
        let before = reading.past.remove(&session.id).unwrap_or_default();
        // The provider has everything up to the last answer, whichever turn that was in.
        let (mut known, mut length) = (0, 0);
        for turn in &before {
            if turn.answered > 0 {
                known = length + turn.answered as usize;
            }
            length += turn.items.len();
        }
        if record.answered > 0 {
            known = length + record.answered as usize;
        }
        let history: Vec<Item> = before.into_iter().flat_map(|turn| turn.items).collect();
        let credentials = [
            reading.credential(tx, configuration.llm_credential_id.as_ref()).await?,
            reading.credential(tx, configuration.fallback_llm_credential_id.as_ref()).await?,
        ];
        let (context, last_summary, contact) = match reading.contacts.get(&session.contact_id) {
            Some(details) => {
                let name = details.contact.spoken_name();
                let name = (!name.is_empty()).then(|| format!("Name: {name}"));
                let known: Vec<String> = name.into_iter().chain(details.context.clone()).collect();
                (known.join("\n"), details.last_session_summary.clone(), details.contact.variables.clone())
            }
            None => (String::new(), None, Map::new()),
        };
        let instructions = Instructions {
            system_prompt: configuration.system_prompt.clone(),
            guardrails: configuration.guardrails.clone(),
            colleagues: configuration.colleagues(),
            last_summary,
            contact_context: Some(context).filter(|text| !text.is_empty()),
        };
        Ok(OpenTurn {
            noted: record.answers.len(),
            beside: Vec::new(),
            record,
            configuration: Arc::clone(configuration),
            instructions,
            toolset: equipment.toolset(session.id.channel()),
            rules: Arc::clone(rules),
            session,
            contact,
            history,
            known,
            credentials,
            outside: None,
            pictures: None,
        })
    }
}

/// Returns the configuration as the session keeps it.
pub(super) fn snapshot(
    configuration: &AgentConfiguration,
    provider: &str,
    max_messages: u32,
) -> AgentConfigSnapshot {
    AgentConfigSnapshot {
        agent_id: configuration.agent_id.clone(),
        system_prompt: configuration.system_prompt.clone(),
        model: configuration.model.clone(),
        provider: provider.to_owned(),
        guardrails: configuration.guardrails.clone(),
        max_messages,
    }
}
