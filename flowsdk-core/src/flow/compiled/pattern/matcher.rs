//! Running an expression, with every step counted.
//!
//! The automaton is built by `regex-automata`; its engines take a text whole and tell nobody how long they will
//! need, so the states are walked here.

use regex_automata::nfa::thompson::{NFA, State};
use regex_automata::util::primitives::StateID;

use crate::flow::work::Work;

/// States of [`State::Sparse`] look at that many transitions in the time of one state.
const TRANSITIONS_A_STATE: usize = 8;

/// Returns whether `nfa` is found in `text` before the byte `end`, which begins a character. The text behind it
/// counts for what looks around, such as `$`.
///
/// All states in which the automaton may be are kept for each byte, so the work is at most the product of `end` and
/// the number of states. A search that the budget does not pay for finds nothing.
pub(super) fn is_found(nfa: &NFA, text: &str, end: usize, work: &Work) -> bool {
    // The marks below are written once.
    if !work.states(nfa.states().len() / TRANSITIONS_A_STATE) {
        return false;
    }
    let mut reach =
        Reach { nfa, text, marks: vec![0; nfa.states().len()], open: Vec::new(), steps: 0, matched: false };
    let (mut here, mut next) = (Vec::new(), Vec::new());
    reach.add(nfa.start_unanchored(), 0, &mut here);
    for (at, byte) in text.bytes().enumerate().take(end) {
        if reach.matched || here.is_empty() {
            break;
        }
        for state in here.drain(..) {
            if let Some(onward) = reach.onward(state, byte) {
                reach.add(onward, at + 1, &mut next);
            }
        }
        std::mem::swap(&mut here, &mut next);
        if !work.states(std::mem::take(&mut reach.steps)) {
            return false;
        }
    }
    work.states(reach.steps) && reach.matched
}

/// The states that are reached without reading a byte.
struct Reach<'a> {
    nfa: &'a NFA,
    text: &'a str,
    /// For each state the last place at which it was reached, from 1.
    marks: Vec<usize>,
    open: Vec<StateID>,
    steps: usize,
    matched: bool,
}

impl Reach<'_> {
    /// Returns the state to which `byte` leads.
    fn onward(&mut self, state: StateID, byte: u8) -> Option<StateID> {
        self.steps += 1;
        match self.nfa.state(state) {
            State::ByteRange { trans } => trans.matches_byte(byte).then_some(trans.next),
            State::Sparse(sparse) => {
                self.steps += sparse.transitions.len() / TRANSITIONS_A_STATE;
                sparse.matches_byte(byte)
            }
            State::Dense(dense) => dense.matches_byte(byte),
            _ => None,
        }
    }

    /// Adds the states that read bytes and that are reached from `state` at the place `at`.
    fn add(&mut self, state: StateID, at: usize, into: &mut Vec<StateID>) {
        self.open.push(state);
        while let Some(state) = self.open.pop() {
            self.steps += 1;
            if std::mem::replace(&mut self.marks[state.as_usize()], at + 1) == at + 1 {
                continue;
            }
            match self.nfa.state(state) {
                State::ByteRange { .. } | State::Sparse(_) | State::Dense(_) => into.push(state),
                State::Look { look, next } => {
                    if self.nfa.look_matcher().matches(*look, self.text.as_bytes(), at) {
                        self.open.push(*next);
                    }
                }
                State::Union { alternates } => self.open.extend_from_slice(alternates),
                State::BinaryUnion { alt1, alt2 } => self.open.extend([*alt1, *alt2]),
                State::Capture { next, .. } => self.open.push(*next),
                // An empty match may stand between the bytes of a character, where a text has no place.
                State::Match { .. } => self.matched |= self.text.is_char_boundary(at),
                State::Fail => {}
            }
        }
    }
}
