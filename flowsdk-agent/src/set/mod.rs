//! Agents that come as one piece: with what they are told, what they know and whom they hand conversations to. A file has such a
//! set for demonstrations, for evaluations, and for programs that have their agents with them.

mod install;
mod model;

pub use install::AgentSetTx;
pub use model::{AgentSet, InvalidAgentSet, SetAgent, SetDocument, SetRoute};
