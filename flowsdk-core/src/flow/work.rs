//! The work of a turn, counted: the engine has no clock, and a turn must end soon all the same.

use std::cell::Cell;

/// Most units of work in one turn. A unit is about a nanosecond, so that a turn ends within some 50 ms.
pub const MAX_TURN_WORK: u64 = 50_000_000;

/// A block that is entered, with its trace and its bookkeeping.
const BLOCK: u64 = 500;
/// An action that is looked at.
const ACTION: u64 = 300;
/// A message or a record that the turn makes: a row to write.
const EFFECT: u64 = 2_000;
/// A condition that is evaluated, without its texts.
const CONDITION: u64 = 200;
/// A value that a condition compares with.
const COMPARISON: u64 = 100;
/// A token or a node of JSON that is filled in.
const TOKEN: u64 = 60;
/// A byte of text without letters beyond ASCII that is folded.
const FOLDED_BYTE: u64 = 2;
/// A byte of any other text that is folded: it is decomposed first.
const FOLDED_UNICODE_BYTE: u64 = 30;
/// A state of a regular expression that is looked at.
const PATTERN_STATE: u64 = 6;

/// The budget of one turn. Everything that a flow can make long draws on it; a turn that has spent it ends with
/// `turn_too_long`.
///
/// Drawing never fails by itself: who draws stops when the answer is `false`, and the turn looks at the budget
/// after each condition, action and message.
#[derive(Debug)]
pub struct Work {
    used: Cell<u64>,
    /// The budget of this run, from what was used before it.
    allowance: u64,
    end: u64,
}

impl Default for Work {
    fn default() -> Self {
        Self::within(MAX_TURN_WORK)
    }
}

impl Work {
    /// Returns a budget of at most `allowance` units.
    pub fn within(allowance: u64) -> Self {
        Self { used: Cell::new(0), allowance, end: allowance.min(MAX_TURN_WORK) }
    }

    /// Returns the budget of the same turn, which has used `used` units before it waited for something outside. The
    /// allowance begins anew, the budget of the turn does not.
    #[must_use]
    pub fn resumed(&self, used: u64) -> Self {
        let end = used.saturating_add(self.allowance).min(MAX_TURN_WORK);
        Self { used: Cell::new(used), allowance: self.allowance, end }
    }

    /// Returns how many units are used.
    pub const fn used(&self) -> u64 {
        self.used.get()
    }

    /// Returns whether nothing is left.
    pub const fn is_spent(&self) -> bool {
        self.used.get() > self.end
    }

    /// Draws `units`; returns whether the turn may go on.
    pub fn draw(&self, units: u64) -> bool {
        self.used.set(self.used.get().saturating_add(units));
        !self.is_spent()
    }

    /// Draws all that is left.
    pub fn exhaust(&self) {
        self.used.set(u64::MAX);
    }

    /// Draws a block that is entered.
    pub fn block(&self) -> bool {
        self.draw(BLOCK)
    }

    /// Draws an action that is looked at.
    pub fn action(&self) -> bool {
        self.draw(ACTION)
    }

    /// Draws a message or a record that the turn makes.
    pub fn effect(&self) -> bool {
        self.draw(EFFECT)
    }

    /// Draws a condition that is evaluated.
    pub fn condition(&self) -> bool {
        self.draw(CONDITION)
    }

    /// Draws the comparison of two texts of `bytes` in all.
    pub fn comparison(&self, bytes: usize) -> bool {
        self.draw(COMPARISON + as_units(bytes))
    }

    /// Draws a token that wrote `bytes`.
    pub fn token(&self, bytes: usize) -> bool {
        self.draw(TOKEN + as_units(bytes))
    }

    /// Draws a text that is copied or measured.
    pub fn bytes(&self, bytes: usize) -> bool {
        self.draw(as_units(bytes))
    }

    /// Draws the folding of `text`.
    pub fn folding(&self, text: &str) -> bool {
        let byte = if text.is_ascii() { FOLDED_BYTE } else { FOLDED_UNICODE_BYTE };
        self.draw(as_units(text.len()).saturating_mul(byte))
    }

    /// Draws `states` of a regular expression that are looked at.
    pub fn states(&self, states: usize) -> bool {
        self.draw(as_units(states).saturating_mul(PATTERN_STATE))
    }
}

fn as_units(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_is_spent_once_and_for_all() {
        let work = Work::default();
        assert!(work.draw(MAX_TURN_WORK) && !work.is_spent());
        assert!(!work.block() && work.is_spent());
        assert!(!work.bytes(0), "it stays spent");
        let resumed = work.resumed(work.used());
        assert!(resumed.is_spent());
        let short = Work::within(10);
        assert!(!short.bytes(11) && short.resumed(11).bytes(10) && !short.resumed(11).bytes(11));
        assert!(short.resumed(MAX_TURN_WORK + 1).is_spent(), "an allowance is no more than the budget");
        resumed.exhaust();
        assert!(!resumed.states(usize::MAX), "and does not overflow");
    }

    #[test]
    fn letters_beyond_ascii_cost_more_to_fold() {
        let (plain, accents) = (Work::default(), Work::default());
        plain.folding("acao");
        accents.folding("ação");
        assert!(plain.used() < accents.used());
    }
}
