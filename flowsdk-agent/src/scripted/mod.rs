//! A provider that answers by rules: for tests, for demonstrations without a key, and for scenarios that must be the same
//! every time.

mod provider;
mod script;

pub use provider::Scripted;
pub use script::{Fault, InvalidScript, Rule, Script, ScriptedCall, When};
