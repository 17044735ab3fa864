//! What stands beside AI agents and names them: system prompts, guardrails, and the routes between agents.

mod error;
mod model;
mod service;

pub use error::AgentPartError;
pub use model::{AgentField, AgentPart, AgentPartFilter};
pub use service::AgentParts;
