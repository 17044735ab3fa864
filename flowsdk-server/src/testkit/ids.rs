//! Ids and secrets that are the same in every run.

use std::sync::{Mutex, PoisonError};

use flowsdk_core::id::IdSource;
use flowsdk_core::time::{Clock as _, ManualClock};

const DIGITS: &[u8; 36] = b"0123456789abcdefghijklmnopqrstuvwxyz";

/// Ids in the order of time, and secrets, of a seed and a count. Nothing about them is secret.
#[derive(Debug)]
pub struct ScriptedIds {
    clock: ManualClock,
    seed: u64,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// The time of the last id, in milliseconds.
    time: i64,
    /// Ids and words so far.
    count: u64,
}

impl ScriptedIds {
    /// Ids whose time comes from `clock`. Sources of different seeds give different ids and secrets.
    pub fn new(clock: ManualClock, seed: u64) -> Self {
        Self { clock, seed, state: Mutex::default() }
    }

    /// The time, never one before the last, and the next count.
    fn next(&self) -> (i64, u64) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.time = state.time.max(self.clock.now().as_millis());
        state.count += 1;
        (state.time, state.count)
    }

    /// Twelve digits that differ for every seed and count.
    fn tail(&self, count: u64) -> u64 {
        mixed(self.seed.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ count) % 36_u64.pow(12)
    }
}

/// The finaliser of SplitMix64: one to one, and every bit of `value` changes half of the result.
fn mixed(value: u64) -> u64 {
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

/// `value` in base 36, in exactly `width` digits.
fn base36(mut value: u64, width: usize) -> String {
    let mut digits = vec![b'0'; width];
    for digit in digits.iter_mut().rev() {
        *digit = DIGITS[(value % 36) as usize];
        value /= 36;
    }
    digits.into_iter().map(char::from).collect()
}

impl IdSource for ScriptedIds {
    fn next_id(&self) -> String {
        let (time, count) = self.next();
        format!("c{}{}{}", base36(time.unsigned_abs(), 8), base36(count, 4), base36(self.tail(count), 12))
    }

    fn secret(&self, words: usize) -> String {
        let word = |_| {
            let (_, count) = self.next();
            format!("s{}{}", base36(self.tail(count), 12), base36(self.tail(!count), 11))
        };
        (0..words).map(word).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn ids_grow_and_repeat() {
        let made = |seed| {
            let clock = ManualClock::at(1_800_000_000_000);
            let ids = ScriptedIds::new(clock.clone(), seed);
            let mut made = vec![ids.next_id(), ids.next_id()];
            clock.advance(Duration::from_secs(1));
            made.extend([ids.next_id(), ids.secret(2)]);
            made
        };
        let first = made(1);
        assert!(first[0] < first[1] && first[1] < first[2], "{first:?}");
        assert!(first[..3].iter().all(|id| id.len() == 25));
        assert_eq!((first[3].len(), made(1)), (48, first.clone()));
        assert!(made(2).iter().zip(&first).all(|(other, id)| other != id));
    }
}
