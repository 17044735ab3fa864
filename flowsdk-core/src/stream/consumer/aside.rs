//! Work that takes long, beside the batches: nobody else waits for its end.

use std::sync::Arc;

use tokio::task::JoinSet;

use super::running::{Bench, EndedBatch};
use super::work::{RunOf, Work};
use super::{BatchHandler, ConsumerConfig};
use crate::fair_queue::{FairLimits, FairQueue};
use crate::stream::lanes::Party;

/// The pieces that run aside, and those that wait for it: the parties take turns.
pub(super) struct Aside<H: BatchHandler> {
    waiting: FairQueue<Party, RunOf<H>>,
    pub(super) running: JoinSet<EndedBatch<H>>,
}

impl<H: BatchHandler> Aside<H> {
    pub(super) fn new(config: &ConsumerConfig) -> Self {
        let (places, waiting) = (config.aside.max(1), config.capacity);
        let limits = FairLimits { places, places_of_one: places, waiting, waiting_of_one: waiting };
        Self { waiting: FairQueue::new(limits), running: JoinSet::new() }
    }

    /// Adds a piece.
    ///
    /// # Errors
    /// The piece, if more wait than the consumer holds.
    pub(super) fn push(&mut self, run: RunOf<H>) -> Result<(), Box<RunOf<H>>> {
        self.waiting.push(run.turn.party, run).map_err(|refused| Box::new(refused.into_item()))
    }

    /// Starts the pieces that may run now. Returns those that belong to the next owner of their partition.
    pub(super) fn start(&mut self, bench: &Arc<Bench<H>>) -> Vec<RunOf<H>> {
        let mut over = Vec::new();
        while let Some((party, run)) = self.waiting.start() {
            if run.first.is_over() {
                self.waiting.end(&party);
                over.push(run);
                continue;
            }
            // An entry that cannot be read does not come here: it was never handled.
            let Ok(mut work) = Work::of(run) else { continue };
            work.is_aside = true;
            bench.spawn(&mut self.running, vec![work]);
        }
        over
    }

    /// Gives back the places of pieces that ended.
    pub(super) fn ended(&mut self, batch: &EndedBatch<H>) {
        for (run, _) in batch {
            self.waiting.end(&run.turn.party);
        }
    }
}
