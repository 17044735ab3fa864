//! AI agents: who answers, with which model and tools (spec B 2.5).

mod error;
mod model;
mod service;

pub use error::AiAgentError;
pub use model::{AgentType, AiAgent, AiAgentChange, AiAgentFilter, NewAiAgent};
pub use service::AiAgents;
