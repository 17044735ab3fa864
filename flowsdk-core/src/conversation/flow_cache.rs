//! Compiled flow versions. A version never changes, so that no entry is ever stale.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, RwLock, RwLockReadGuard};

use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, Shared, join_all};

use crate::aside::aside;
use crate::fault::StorageError;
use crate::flow::{CompiledFlow, FlowVersion};
use crate::id::FlowVersionId;

/// Most bytes that the kept versions take; a full cache starts anew.
const CAPACITY: usize = 64 * 1024 * 1024;

/// Versions that were looked for; `None` for one that is not there or does not compile.
pub(super) type Compiled = HashMap<FlowVersionId, Option<Arc<CompiledFlow>>>;

/// The compiled versions of this process. A version that several ask for at once is compiled once.
#[derive(Debug, Default)]
pub struct FlowCache {
    kept: RwLock<Kept>,
    running: Mutex<HashMap<FlowVersionId, Job>>,
}

/// Versions that one thread compiles. Everybody who asks for one of them waits for the same job.
type Job = Shared<BoxFuture<'static, Result<Arc<Compiled>, Arc<StorageError>>>>;

/// Versions, weighed by the memory that they take.
#[derive(Debug, Default)]
pub(super) struct Kept {
    versions: HashMap<FlowVersionId, Arc<CompiledFlow>>,
    size: usize,
}

impl Kept {
    pub(super) fn get(&self, id: &FlowVersionId) -> Option<&Arc<CompiledFlow>> {
        self.versions.get(id)
    }

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

/// Takes its versions out of those that are being compiled, however the job ends.
struct Ended {
    cache: Arc<FlowCache>,
    ids: Vec<FlowVersionId>,
}

impl Drop for Ended {
    fn drop(&mut self) {
        let mut running = self.cache.running.lock().unwrap_or_else(PoisonError::into_inner);
        self.ids.iter().for_each(|id| drop(running.remove(id)));
    }
}

impl FlowCache {
    /// Returns the versions that are kept. Turns wait while one is added.
    pub(super) fn kept(&self) -> RwLockReadGuard<'_, Kept> {
        self.kept.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Compiles versions and keeps them, on a thread where that holds nobody up; `ids` are those that were looked for.
    /// The sessions of one that does not compile freeze.
    ///
    /// A version that is being compiled already is not compiled again. Once begun, a version is compiled to the end, even
    /// if nobody waits for it any more.
    pub(super) async fn compile(
        self: &Arc<Self>,
        ids: Vec<FlowVersionId>,
        versions: Vec<FlowVersion>,
    ) -> Result<Compiled, StorageError> {
        let mut found: Compiled = ids.into_iter().map(|id| (id, None)).collect();
        for job in join_all(self.jobs(versions, &mut found)).await {
            let compiled = job.map_err(|error| StorageError::Other(Box::new(error)))?;
            for (id, flow) in compiled.iter() {
                found.entry(id.clone()).and_modify(|place| place.clone_from(flow));
            }
        }
        Ok(found)
    }

    /// Returns the jobs that compile `versions`: those that are running, and a new one for the rest. A version that was
    /// compiled meanwhile goes into `found`.
    fn jobs(self: &Arc<Self>, versions: Vec<FlowVersion>, found: &mut Compiled) -> Vec<Job> {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        let mut jobs: Vec<Job> = Vec::new();
        let mut rest = Vec::new();
        for version in versions {
            if let Some(job) = running.get(&version.id) {
                if !jobs.iter().any(|other| other.ptr_eq(job)) {
                    jobs.push(job.clone());
                }
            } else if let Some(flow) = self.kept().get(&version.id) {
                found.insert(version.id, Some(Arc::clone(flow)));
            } else {
                rest.push(version);
            }
        }
        if !rest.is_empty() {
            let ids: Vec<_> = rest.iter().map(|version| version.id.clone()).collect();
            let job = self.job(rest, ids.clone());
            running.extend(ids.into_iter().map(|id| (id, job.clone())));
            jobs.push(job);
        }
        jobs
    }

    /// Returns the job that compiles `versions`, whose ids are `ids`. It begins when it is first waited for.
    fn job(self: &Arc<Self>, versions: Vec<FlowVersion>, ids: Vec<FlowVersionId>) -> Job {
        let ended = Ended { cache: Arc::clone(self), ids };
        let compiled =
            aside(move || versions.iter().map(|version| ended.cache.compile_one(version)).collect());
        compiled.map(|compiled| compiled.map(Arc::new).map_err(Arc::new)).boxed().shared()
    }

    fn compile_one(&self, version: &FlowVersion) -> (FlowVersionId, Option<Arc<CompiledFlow>>) {
        let flow = match CompiledFlow::compile(version) {
            Ok(flow) => {
                // Turns wait for this lock, so nothing is dropped while it is held.
                let before = self.kept.write().unwrap_or_else(PoisonError::into_inner).insert(&flow);
                drop(before);
                Some(flow)
            }
            Err(problems) => {
                tracing::error!(version = %version.id, ?problems, "a published flow does not compile");
                None
            }
        };
        (version.id.clone(), flow)
    }
}

#[cfg(test)]
mod tests {
    use futures_util::poll;
    use serde_json::{Value, json};

    use super::*;
    use crate::flow::stage::{compile_as, flow_of, version_of};

    fn saying(title: &str) -> Value {
        flow_of(&[json!({ "id": "a", "type": "content", "title": title, "defaultOutput": { "end": true } })])
    }

    /// Compiles versions as somebody who has just read them.
    async fn compile<const N: usize>(cache: &Arc<FlowCache>, versions: [&FlowVersion; N]) -> Compiled {
        let ids = versions.map(|version| version.id.clone()).into();
        cache.compile(ids, versions.map(Clone::clone).into()).await.expect("a thread")
    }

    #[tokio::test]
    async fn a_version_that_several_ask_for_is_compiled_once() {
        let cache: Arc<FlowCache> = Arc::default();
        let [one, other] = ["one", "other"].map(|name| version_of(name, &saying(name)));
        let (first, second) = tokio::join!(compile(&cache, [&one]), compile(&cache, [&other, &one]));
        let third = compile(&cache, [&one]).await;
        let flow = first[&one.id].as_ref().expect("compiles");
        assert!([second, third].iter().all(|found| Arc::ptr_eq(flow, found[&one.id].as_ref().expect("it"))));
        assert!(cache.running.lock().expect("not poisoned").is_empty());
        assert_eq!(cache.kept().versions.len(), 2);
    }

    #[tokio::test]
    async fn a_version_is_compiled_though_nobody_waits_any_more() {
        let cache: Arc<FlowCache> = Arc::default();
        let version = version_of("one", &saying("one"));
        let mut first = Box::pin(compile(&cache, [&version]));
        let _begun = poll!(&mut first);
        drop(first);
        let running = cache.running.lock().expect("not poisoned").get(&version.id).cloned();
        let begun = match running {
            Some(job) => job.await.expect("a thread")[&version.id].clone(),
            None => cache.kept().get(&version.id).cloned(),
        };
        let later = compile(&cache, [&version]).await;
        assert!(Arc::ptr_eq(&begun.expect("compiles"), later[&version.id].as_ref().expect("it")));
    }

    #[tokio::test]
    async fn a_version_that_does_not_compile_or_is_not_there_is_none() {
        let cache: Arc<FlowCache> = Arc::default();
        let broken = version_of("broken", &json!({ "schemaVersion": 1 }));
        let gone = version_of("gone", &saying("gone"));
        let ids = vec![broken.id.clone(), gone.id.clone()];
        let found = cache.compile(ids, vec![broken.clone()]).await.expect("a thread");
        assert_eq!(found.len(), 2);
        assert!(found.values().all(Option::is_none));
        assert!(cache.running.lock().expect("not poisoned").is_empty());
    }

    #[test]
    fn versions_are_kept_by_their_size() {
        let of = |name: &str, bytes: usize| compile_as(name, &saying(&"x".repeat(bytes))).expect("compiles");
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
