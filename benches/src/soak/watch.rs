//! Watches a set-up: samples of its processes, and a line each minute.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use flowsdk_core::context::OpContext;
use tokio::task::JoinSet;

use super::record::Sample;
use super::server::Roster;
use super::visitor::Scene;

/// How often processes are looked at.
const EVERY: Duration = Duration::from_secs(2);
const LINE_EVERY: Duration = Duration::from_secs(60);

/// Returns the milliseconds since 1970.
pub(super) fn now() -> i64 {
    OpContext::system().now().as_millis()
}

#[derive(Default)]
struct Found {
    samples: Mutex<Vec<Sample>>,
    wal_peak: AtomicU64,
    faults: AtomicU64,
}

/// The watch, until it is ended or dropped.
pub(super) struct Watch {
    found: Arc<Found>,
    _task: JoinSet<()>,
}

impl Watch {
    pub(super) fn start(name: &'static str, roster: Roster, scene: Arc<Scene>, wal: PathBuf) -> Self {
        let found = Arc::<Found>::default();
        let mut task = JoinSet::new();
        task.spawn(watch(name, roster, scene, wal, Arc::clone(&found)));
        Self { found, _task: task }
    }

    pub(super) fn count_fault(&self) {
        self.found.faults.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns the samples, and the most bytes of the write-ahead log.
    pub(super) fn end(self) -> (Vec<Sample>, u64) {
        let samples = std::mem::take(&mut *self.found.samples.lock().unwrap_or_else(PoisonError::into_inner));
        (samples, self.found.wal_peak.load(Ordering::Relaxed))
    }
}

async fn watch(name: &'static str, roster: Roster, scene: Arc<Scene>, wal: PathBuf, found: Arc<Found>) {
    let began = Instant::now();
    let mut line = LINE_EVERY;
    loop {
        tokio::time::sleep(EVERY).await;
        let samples = roster.sample();
        let bytes = std::fs::metadata(&wal).map_or(0, |file| file.len());
        found.wal_peak.fetch_max(bytes, Ordering::Relaxed);
        if began.elapsed() >= line {
            let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
            let memory: Vec<String> = samples
                .iter()
                .map(|sample| format!("{} {} MiB", sample.server, sample.rss_kib / 1_024))
                .collect();
            println!(
                "{name}: minute {}: {} messages, {} acknowledged, {} answers seen, {} faults; {}",
                line.as_secs() / 60,
                count(&scene.said),
                count(&scene.acknowledged),
                count(&scene.seen),
                count(&found.faults),
                memory.join(", "),
            );
            line += LINE_EVERY;
        }
        found.samples.lock().unwrap_or_else(PoisonError::into_inner).extend(samples);
    }
}
