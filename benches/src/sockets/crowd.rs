//! Visitors who sit there and answer heartbeats.

use std::cell::Cell;
use std::rc::Rc;

use anyhow::{Context as _, Result, ensure};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use crate::load::{Entrance, Visitor};

/// Visitors that connect at once. Fewer than the keys that may wait to be hashed.
const ENTERING: usize = 128;

/// Visitors who are in. Dropping them drops their connections.
#[derive(Debug, Default)]
pub(super) struct Crowd {
    sitting: JoinSet<()>,
    gone: Rc<Cell<usize>>,
}

impl Crowd {
    /// Lets a visitor in for each of `auths`, and returns the payloads of `auth_ok` in the same order.
    pub(super) async fn enter(&mut self, entrance: &Entrance, auths: Vec<String>) -> Result<Vec<String>> {
        let mut entered = vec![String::new(); auths.len()];
        let entrance = Rc::new(entrance.clone());
        let doors = Rc::new(Semaphore::new(ENTERING));
        let mut entering = JoinSet::new();
        for (number, auth) in auths.into_iter().enumerate() {
            let (entrance, doors) = (Rc::clone(&entrance), Rc::clone(&doors));
            entering.spawn_local(async move {
                let _door = doors.acquire().await?;
                let (visitor, auth_ok) = Visitor::enter_and_read(&entrance, &auth, false).await?;
                Ok::<_, anyhow::Error>((number, visitor, auth_ok))
            });
        }
        while let Some(done) = entering.join_next().await {
            let (number, visitor, auth_ok) = done??;
            entered[number] = auth_ok;
            let gone = Rc::clone(&self.gone);
            self.sitting.spawn_local(async move {
                let _why = sit(visitor).await;
                gone.set(gone.get() + 1);
            });
        }
        Ok(entered)
    }

    /// Fails if a connection has broken.
    pub(super) fn expect_all(&self) -> Result<()> {
        ensure!(
            self.gone.get() == 0,
            "{} of {} connections broke at rest",
            self.gone.get(),
            self.sitting.len()
        );
        Ok(())
    }

    /// Drops all connections and waits until they are closed on this side.
    pub(super) async fn leave(mut self) {
        self.sitting.shutdown().await;
    }
}

async fn sit(mut visitor: Visitor) -> Result<()> {
    loop {
        while visitor.take_answer().is_some() {}
        visitor.flush().await?;
        visitor.listen().await.context("at rest")?;
    }
}
