//! Looks at the server once a second: its memory, and whether it answers a stranger.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use tokio::sync::oneshot;
use tokio::task::JoinSet;

use crate::attacks::Tally;
use crate::http::{Connection, Request};
use crate::machine;

const EVERY: Duration = Duration::from_secs(1);
/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// A watch that goes on.
pub(super) struct Watch {
    end: oneshot::Sender<()>,
    watching: JoinSet<Watched>,
}

/// What a watch has seen.
#[derive(Debug, Default)]
pub(super) struct Watched {
    /// Resident memory before and at its greatest, in KiB.
    pub(super) resident_before: u64,
    pub(super) resident_peak: u64,
    /// The longest answer of `/healthz`.
    pub(super) longest: Duration,
    /// Answers of `/healthz` that did not come, or not in time.
    pub(super) unanswered: u64,
}

impl Watch {
    pub(super) fn start(address: SocketAddr, pid: u32, tally: Tally) -> Self {
        let (end, mut ended) = oneshot::channel();
        let mut watching = JoinSet::new();
        watching.spawn(async move {
            let resident = || machine::resident_kib(pid).unwrap_or_default();
            let mut watched = Watched { resident_before: resident(), ..Watched::default() };
            let mut tick = tokio::time::interval(EVERY);
            loop {
                tokio::select! {
                    _ = &mut ended => return watched,
                    _ = tick.tick() => {}
                }
                watched.resident_peak = watched.resident_peak.max(resident());
                let began = Instant::now();
                match tokio::time::timeout(PATIENCE, health(address)).await {
                    Ok(Ok(200)) => watched.longest = watched.longest.max(began.elapsed()),
                    other => {
                        watched.unanswered += 1;
                        tally.count("healthz", format!("{other:?}"));
                    }
                }
            }
        });
        Self { end, watching }
    }

    pub(super) async fn finish(mut self) -> Watched {
        let _ended = self.end.send(());
        self.watching.join_next().await.and_then(Result::ok).unwrap_or_default()
    }
}

async fn health(address: SocketAddr) -> anyhow::Result<u16> {
    Connection::open(address).await?.ask(&Request::new("GET", "/healthz", None, None)).await
}
