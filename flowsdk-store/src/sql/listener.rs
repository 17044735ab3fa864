//! Commits of other processes, by Postgres' LISTEN and NOTIFY: so that the relay need not poll.

use std::time::Duration;

use sqlx::postgres::PgListener;
use tokio_util::sync::CancellationToken;

use super::{SqlStore, published};

const CHANNEL: &str = "flowsdk_outbox";
/// Names the streams that a transaction put entries into; it takes effect with the commit.
pub(super) const TELL: &str = "SELECT pg_notify('flowsdk_outbox', $1)";
/// Pause before another connection.
const PAUSE: Duration = Duration::from_secs(1);

impl SqlStore {
    /// Wakes the readers of this process at every commit that put entries into their stream, whichever process made it,
    /// until `stop`. On SQLite there is no other process.
    pub async fn follow_commits(&self, stop: &CancellationToken) {
        while !stop.is_cancelled() {
            tokio::select! {
                () = stop.cancelled() => return,
                error = self.listen() => {
                    tracing::warn!(%error, "commits of other processes are seen late");
                }
            }
            // Wakes for the notifications missed meanwhile.
            self.published().tell_all();
            tokio::select! {
                () = stop.cancelled() => return,
                () = tokio::time::sleep(PAUSE) => {}
            }
        }
    }

    /// Ends with an error only.
    async fn listen(&self) -> sqlx::Error {
        let Some(pool) = self.postgres() else {
            return std::future::pending().await;
        };
        let listen = async {
            let mut listener = PgListener::connect_with(pool).await?;
            listener.listen(CHANNEL).await?;
            loop {
                let told = listener.recv().await?;
                match published::topics(told.payload()) {
                    Some(topics) => self.published().tell(&topics),
                    None => self.published().tell_all(),
                }
            }
        };
        match listen.await {
            Ok(never) => never,
            Err(error) => error,
        }
    }
}
