//! A session with the names of its flows and blocks (spec A 2.6).

use std::collections::HashMap;

use serde_json::Value;

use crate::fault::StorageError;
use crate::flow::{FlowVersion, HasFlows};
use crate::id::{BlockId, FlowId};
use crate::session::{Position, Session, Stop};

/// An id and the name that people know the thing by.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "the fields say it")]
pub struct Named {
    pub id: String,
    /// The name: the id, where the thing is gone.
    pub name: String,
}

/// The public state of a session.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs, reason = "the fields say it")]
pub struct SessionState {
    pub session: Session,
    /// The flow it stands in.
    pub current_flow: Option<Named>,
    /// The block it stands on.
    pub current_block: Option<Named>,
    /// The stop before; absent at the first one.
    pub previous_block: Option<Named>,
    /// The stops so far, flow and block, oldest first.
    pub history: Vec<(Named, Named)>,
}

/// Names of flows and blocks.
#[derive(Debug, Default)]
pub(super) struct Names {
    flows: HashMap<FlowId, String>,
    blocks: HashMap<(FlowId, String), String>,
}

impl Names {
    /// Reads the names of `flows`, and of the version on which a session stands.
    pub(super) async fn of<T: HasFlows>(
        tx: &mut T,
        position: Option<&Position>,
        mut flows: Vec<FlowId>,
    ) -> Result<Self, StorageError> {
        flows.extend(position.map(|position| position.flow_id.clone()));
        flows.sort_unstable();
        flows.dedup();
        let published = tx.flows().find_many(&flows).await?;
        let mut versions: Vec<_> = position.map(|position| position.version_id.clone()).into_iter().collect();
        versions.extend(published.into_iter().filter_map(|flow| flow.published_version_id));
        versions.dedup();
        let mut found = tx.flows().find_versions(&versions).await?;
        // The version it stands on comes first: its names are the ones that count.
        found.sort_by_key(|version| position.is_none_or(|position| position.version_id != version.id));
        let mut names = Self::default();
        found.iter().for_each(|version| names.add(version));
        Ok(names)
    }

    /// Adds the names of a version; those that are known already stay.
    fn add(&mut self, version: &FlowVersion) {
        let flow = &version.flow_id;
        self.flows.entry(flow.clone()).or_insert_with(|| version.flow_name.clone());
        for block in version.definition["blocks"].as_array().into_iter().flatten() {
            if let (Some(id), Some(title)) =
                (block["id"].as_str(), block.get("title").and_then(Value::as_str))
            {
                self.blocks.entry((flow.clone(), id.to_owned())).or_insert_with(|| title.to_owned());
            }
        }
    }

    fn flow(&self, id: &FlowId) -> Named {
        let name = self.flows.get(id).cloned().unwrap_or_else(|| id.to_string());
        Named { id: id.to_string(), name }
    }

    fn block(&self, flow: &FlowId, id: &BlockId) -> Named {
        let name = self.blocks.get(&(flow.clone(), id.to_string()));
        Named { id: id.to_string(), name: name.cloned().unwrap_or_else(|| id.to_string()) }
    }

    /// Returns the flow and the block of a stop.
    pub(super) fn stop(&self, stop: &Stop) -> (Named, Named) {
        (self.flow(&stop.flow_id), self.block(&stop.flow_id, &stop.block_id))
    }

    /// Returns the state of a session in these names.
    pub(super) fn state(&self, session: Session) -> SessionState {
        let position = session.position.as_ref();
        let block = position.and_then(|position| Some((&position.flow_id, position.block_id.as_ref()?)));
        let previous = previous_stop(&session);
        SessionState {
            current_flow: position.map(|position| self.flow(&position.flow_id)),
            current_block: block.map(|(flow, block)| self.block(flow, block)),
            previous_block: previous.map(|stop| self.block(&stop.flow_id, &stop.block_id)),
            history: session.history.iter().map(|stop| self.stop(stop)).collect(),
            session,
        }
    }
}

/// Returns the stop before the current block. While the session waits at a stop, the last one is that block.
fn previous_stop(session: &Session) -> Option<&Stop> {
    let position = session.position.as_ref()?;
    let last = session.history.last()?;
    let is_here = position.waiting.is_some()
        && last.flow_id == position.flow_id
        && Some(&last.block_id) == position.block_id.as_ref();
    session.history.iter().rev().nth(usize::from(is_here))
}
