//! Tasks that run in one process at a time.

use std::sync::Arc;
use std::time::Duration;

use flowsdk_core::lease::Tenure;
use tokio_util::sync::CancellationToken;

use super::ground::Ground;

impl Ground {
    /// Runs `task` in one process at a time, until it is told to stop or the lease is lost. Another process, or the
    /// next start, goes on where it ended.
    pub(crate) fn under_lease<F, Fut>(&self, lease: String, name: &'static str, task: F)
    where
        F: Fn(CancellationToken) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = ()> + Send + 'static,
    {
        let leases = self.leases.clone();
        let stop = self.supervisor.work.clone();
        self.supervisor.work(name, async move {
            while !stop.is_cancelled() {
                let Some(held) = leases.take(&lease, &stop).await else { return };
                let lost = stop.child_token();
                let running = task(lost.clone());
                held.hold_while(&lost, running).await;
                if let Err(error) = held.release().await {
                    tracing::warn!(%error, lease, "a lease runs out by itself");
                }
                tokio::select! {
                    () = stop.cancelled() => {}
                    () = tokio::time::sleep(leases.period()) => {}
                }
            }
        });
    }

    /// Returns the tenure of a lease. In a process that shares its database with nobody it never ends.
    pub(crate) fn tenure(&self, lease: &str) -> Tenure {
        if self.redis().is_some() { self.leases.tenure(lease) } else { Tenure::unlimited() }
    }

    /// Calls the idempotent `tick` every `period`, in one process at a time.
    pub(crate) fn every_alone<F, Fut>(&self, lease: &str, name: &'static str, period: Duration, tick: F)
    where
        F: Fn() -> Fut + Send + Sync + 'static,
        Fut: Future<Output = ()> + Send + 'static,
    {
        if self.redis().is_none() {
            return self.every(name, period, tick);
        }
        let tick = Arc::new(tick);
        self.under_lease(lease.to_owned(), name, move |stop| {
            let tick = Arc::clone(&tick);
            async move {
                while !stop.is_cancelled() {
                    tick().await;
                    tokio::select! {
                        () = stop.cancelled() => {}
                        () = tokio::time::sleep(period) => {}
                    }
                }
            }
        });
    }
}
