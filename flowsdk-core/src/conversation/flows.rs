//! Compiled flow versions. A version never changes, so that no entry is ever stale.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, PoisonError, RwLock};

use crate::aside::aside;
use crate::fault::StorageError;
use crate::flow::{CompiledFlow, FlowRepository, FlowVersion};
use crate::id::{FlowId, FlowVersionId, RouterId};

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
    /// Returns the versions that are kept no longer.
    fn insert(&mut self, flow: &Arc<CompiledFlow>) -> Self {
        let is_full = self.size + flow.size() > CAPACITY;
        let before = if is_full { std::mem::take(self) } else { Self::default() };
        if self.versions.insert(flow.version_id().clone(), Arc::clone(flow)).is_none() {
            self.size += flow.size();
        }
        before
    }
}

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

/// Versions that were looked for; `None` for one that is not there or does not compile.
pub(super) type Compiled = HashMap<FlowVersionId, Option<Arc<CompiledFlow>>>;

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
        let cached = &self.kept.read().unwrap_or_else(PoisonError::into_inner).versions;
        for id in ids {
            if flows.versions.contains_key(id) {
                continue;
            }
            let known = flows.compiled.get(id).cloned().or_else(|| cached.get(id).cloned().map(Some));
            match known {
                Some(flow) => flows.versions.extend(flow.map(|flow| (id.clone(), flow))),
                None if !flows.missing.versions.contains(id) => flows.missing.versions.push(id.clone()),
                None => {}
            }
        }
    }

    /// Compiles versions and keeps them, on a thread where that holds nobody up; `ids` are those that were looked for.
    /// The sessions of one that does not compile freeze.
    pub(super) async fn compile(
        self: &Arc<Self>,
        ids: Vec<FlowVersionId>,
        versions: Vec<FlowVersion>,
    ) -> Result<Compiled, StorageError> {
        let this = Arc::clone(self);
        aside(move || {
            let mut found: Compiled = ids.into_iter().map(|id| (id, None)).collect();
            for version in versions {
                match CompiledFlow::compile(&version) {
                    Ok(flow) => {
                        // Turns wait for this lock, so nothing is dropped while it is held.
                        let before = this.kept.write().unwrap_or_else(PoisonError::into_inner).insert(&flow);
                        drop(before);
                        found.insert(version.id, Some(flow));
                    }
                    Err(problems) => {
                        tracing::error!(version = %version.id, ?problems, "a published flow does not compile");
                    }
                }
            }
            found
        })
        .await
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
        let before = kept.insert(&of("small", 100));
        assert!(before.versions.is_empty());
        assert_eq!(kept.versions.len(), 2);
        assert!((CAPACITY / 2..CAPACITY).contains(&kept.size), "the same one counts once");
        let before = kept.insert(&of("other", CAPACITY / 2));
        assert_eq!(before.versions.len(), 2);
        assert_eq!(kept.versions.len(), 1);
        assert!((CAPACITY / 2..CAPACITY).contains(&kept.size));
    }
}
