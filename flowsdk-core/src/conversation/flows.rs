//! The compiled flow versions that a batch of events needs.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::flow_cache::{Compiled, FlowCache};
use crate::fault::StorageError;
use crate::flow::{CompiledFlow, FlowRepository};
use crate::id::{FlowId, FlowVersionId, RouterId};

/// Flows at hand for one batch.
#[derive(Debug, Default, Clone)]
pub(super) struct Flows {
    versions: HashMap<FlowVersionId, Arc<CompiledFlow>>,
    published: HashMap<FlowId, FlowVersionId>,
    tests: HashMap<FlowId, FlowVersionId>,
    missing: Missing,
    /// Versions that were compiled for this batch.
    compiled: Compiled,
}

/// Versions that are not compiled; the events that need them are not decided before they are.
#[derive(Debug, Default, Clone)]
pub(super) struct Missing {
    pub(super) versions: Vec<FlowVersionId>,
    /// The routers whose sessions may need them.
    pub(super) routers: HashSet<RouterId>,
}

impl Flows {
    /// Returns no flows, with those to choose from that were compiled for this batch.
    pub(super) fn among(compiled: Compiled) -> Self {
        Self { compiled, ..Self::default() }
    }

    /// Returns the versions that were compiled for this batch.
    pub(super) fn compiled(&self) -> &Compiled {
        &self.compiled
    }

    /// Returns the versions to compile first, outside of the transaction that asked for them; `None` if all are there.
    pub(super) fn take_missing(&mut self) -> Option<Missing> {
        let missing = std::mem::take(&mut self.missing);
        (!missing.versions.is_empty()).then_some(missing)
    }

    /// Returns whether versions have to be compiled first.
    pub(super) fn is_missing_any(&self) -> bool {
        !self.missing.versions.is_empty()
    }

    /// Notes that sessions of `router` need `versions`, if one of these is not compiled.
    pub(super) fn note_need<'i>(
        &mut self,
        router: &RouterId,
        versions: impl IntoIterator<Item = &'i FlowVersionId>,
    ) {
        if versions.into_iter().any(|id| self.missing.versions.contains(id)) {
            self.missing.routers.insert(router.clone());
        }
    }

    pub(super) fn version(&self, id: &FlowVersionId) -> Option<&Arc<CompiledFlow>> {
        self.versions.get(id)
    }

    /// Returns the flows whose published versions are at hand.
    pub(super) fn published_ids(&self) -> impl Iterator<Item = &FlowId> {
        self.published.keys()
    }

    /// Returns the published version of a flow, if it was asked for with [`FlowCache::load_published`].
    pub(super) fn published(&self, id: &FlowId) -> Option<&Arc<CompiledFlow>> {
        self.versions.get(self.published.get(id)?)
    }

    /// Returns the version of a flow that a new session of the test channel runs: its test version, if it has one
    /// (spec B 4.1), else the published one.
    pub(super) fn tested(&self, id: &FlowId) -> Option<&Arc<CompiledFlow>> {
        self.tests.get(id).and_then(|version| self.versions.get(version)).or_else(|| self.published(id))
    }
}

impl FlowCache {
    /// Brings those of `ids` into `flows` that are compiled; the others are noted as missing there.
    pub(super) fn load<'i>(&self, flows: &mut Flows, ids: impl IntoIterator<Item = &'i FlowVersionId>) {
        let kept = self.kept();
        for id in ids {
            if flows.versions.contains_key(id) {
                continue;
            }
            let known = flows.compiled.get(id).cloned().or_else(|| kept.get(id).cloned().map(Some));
            match known {
                Some(flow) => flows.versions.extend(flow.map(|flow| (id.clone(), flow))),
                None if !flows.missing.versions.contains(id) => flows.missing.versions.push(id.clone()),
                None => {}
            }
        }
    }

    /// Brings the published versions of `ids`, and their test versions, into `flows`; returns the flows found.
    pub(super) async fn load_published(
        &self,
        repository: &mut dyn FlowRepository,
        flows: &mut Flows,
        ids: &[FlowId],
    ) -> Result<Vec<crate::flow::Flow>, StorageError> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let found = repository.find_many(ids).await?;
        for flow in &found {
            if let Some(version) = &flow.published_version_id {
                flows.published.insert(flow.id.clone(), version.clone());
            }
            if let Some(version) = &flow.test_version_id {
                flows.tests.insert(flow.id.clone(), version.clone());
            }
        }
        let versions: Vec<_> = found
            .iter()
            .flat_map(|flow| [&flow.published_version_id, &flow.test_version_id])
            .filter_map(Clone::clone)
            .collect();
        self.load(flows, &versions);
        for flow in &found {
            flows.note_need(&flow.router_id, flow.published_version_id.iter().chain(&flow.test_version_id));
        }
        Ok(found)
    }

    /// Brings the published versions of `ids` and of every flow that those lead to into `flows`.
    pub(super) async fn load_reachable(
        &self,
        repository: &mut dyn FlowRepository,
        flows: &mut Flows,
        mut ids: Vec<FlowId>,
    ) -> Result<(), StorageError> {
        // Some may be at hand already, without the flows they lead to.
        let mut visited = HashSet::new();
        while !ids.is_empty() {
            ids.retain(|id| visited.insert(id.clone()));
            let missing: Vec<_> =
                ids.iter().filter(|id| !flows.published.contains_key(id)).cloned().collect();
            self.load_published(repository, flows, &missing).await?;
            let reached = ids.iter().filter_map(|id| flows.published(id));
            ids = reached.flat_map(|flow| flow.referenced_flows()).collect();
        }
        Ok(())
    }
}
