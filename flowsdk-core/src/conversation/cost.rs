//! The cost of turns, and the tenants who cause it: the tenants' turns share the writer (rulings S19).

use std::collections::HashMap;
use std::sync::{PoisonError, RwLock};
use std::time::Duration;

use super::turn::Run;
use super::{ConversationEvent, TurnReport};
use crate::flow::interpolate::size_of;
use crate::stream::lanes::Party;

/// Nanoseconds for a byte of a session's variables, which are read, decoded, encoded and written.
const BYTE: u64 = 30;
/// Most channels whose router is remembered; beyond them all are forgotten.
const CHANNELS: usize = 10_000;

/// Returns the processor time of a turn beyond that of every turn. A unit of work is worth a nanosecond.
pub(super) fn cost_of(run: &Run) -> Duration {
    let variables = run.session.variables.iter().map(|(key, value)| key.len() + size_of(value));
    let bytes = u64::try_from(variables.sum::<usize>()).unwrap_or(u64::MAX);
    Duration::from_nanos(bytes.saturating_mul(BYTE).saturating_add(run.work))
}

/// The routers of the channels whose turns cost something. The turns of other channels take turns by channel, as long
/// as their routers are not known.
#[derive(Debug, Default)]
pub(super) struct Parties(RwLock<HashMap<String, Party>>);

impl Parties {
    /// Returns the party of an event.
    pub(super) fn of(&self, event: &ConversationEvent) -> Party {
        let channel = event.session_id().phone_number_id();
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner).get(channel).copied();
        known.unwrap_or_else(|| Party::of(channel))
    }

    /// Remembers the router of the event's channel, if its turn costs something.
    pub(super) fn learn(&self, event: &ConversationEvent, report: &TurnReport) {
        if report.cost < Duration::from_millis(1) || report.party == Party::NOBODY {
            return;
        }
        let channel = event.session_id().phone_number_id();
        let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= CHANNELS && !known.contains_key(channel) {
            known.clear();
        }
        known.insert(channel.to_owned(), report.party);
    }
}
