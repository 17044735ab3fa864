//! Compiled flow versions. A version never changes, so that no entry is ever stale.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, PoisonError, RwLock};

use crate::fault::StorageError;
use crate::flow::{CompiledFlow, FlowRepository};
use crate::id::{FlowId, FlowVersionId};

/// Most bytes that the kept versions take; a full cache starts anew.
const CAPACITY: usize = 64 * 1024 * 1024;

/// The compiled versions of this process.
#[derive(Debug, Default)]
pub struct FlowCache {
    kept: RwLock<Kept>,
}

/// Versions, weighed by the memory that they take.
#[derive(Debug, Default)]
struct Kept {
    versions: HashMap<FlowVersionId, Arc<CompiledFlow>>,
    size: usize,
}

impl Kept {
    fn insert(&mut self, flow: &Arc<CompiledFlow>) {
        if self.size + flow.size() > CAPACITY {
            *self = Self::default();
        }
        if self.versions.insert(flow.version_id().clone(), Arc::clone(flow)).is_none() {
            self.size += flow.size();
        }
    }
}

/// Flows at hand for one batch.
#[derive(Debug, Default)]
pub(super) struct Flows {
    versions: HashMap<FlowVersionId, Arc<CompiledFlow>>,
    published: HashMap<FlowId, FlowVersionId>,
    tests: HashMap<FlowId, FlowVersionId>,
}

impl Flows {
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
    /// Brings `ids` into `flows`. A version that does not compile is left out: its session freezes.
    pub(super) async fn load(
        &self,
        repository: &mut dyn FlowRepository,
        flows: &mut Flows,
        ids: impl IntoIterator<Item = &FlowVersionId>,
    ) -> Result<(), StorageError> {
        let mut missing = Vec::new();
        {
            let cached = &self.kept.read().unwrap_or_else(PoisonError::into_inner).versions;
            for id in ids {
                if flows.versions.contains_key(id) {
                    continue;
                }
                match cached.get(id) {
                    Some(flow) => drop(flows.versions.insert(id.clone(), Arc::clone(flow))),
                    None if !missing.contains(id) => missing.push(id.clone()),
                    None => {}
                }
            }
        }
        if missing.is_empty() {
            return Ok(());
        }
        for version in repository.find_versions(&missing).await? {
            match CompiledFlow::compile(&version) {
                Ok(flow) => {
                    self.kept.write().unwrap_or_else(PoisonError::into_inner).insert(&flow);
                    flows.versions.insert(version.id, flow);
                }
                Err(problems) => {
                    tracing::error!(version = %version.id, ?problems, "a published flow does not compile");
                }
            }
        }
        Ok(())
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
        self.load(repository, flows, &versions).await?;
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::flow::stage::compile_as;

    #[test]
    fn versions_are_kept_by_their_size() {
        let of = |name: &str, bytes: usize| {
            compile_as(
                name,
                &json!({ "schemaVersion": 1, "startBlockId": "a", "blocks": [{ "id": "a", "type": "content",
                    "title": "x".repeat(bytes), "defaultOutput": { "end": true } }] }),
            )
            .expect("compiles")
        };
        let mut kept = Kept::default();
        let large = of("large", CAPACITY / 2);
        kept.insert(&large);
        kept.insert(&large);
        kept.insert(&of("small", 100));
        assert_eq!(kept.versions.len(), 2);
        assert!((CAPACITY / 2..CAPACITY).contains(&kept.size), "the same one counts once");
        kept.insert(&of("other", CAPACITY / 2));
        assert_eq!(kept.versions.len(), 1);
        assert!((CAPACITY / 2..CAPACITY).contains(&kept.size));
    }
}
