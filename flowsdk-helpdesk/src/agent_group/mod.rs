//! Groups of agents: what they may, their agents may (spec B 2.4).

mod error;
mod model;

use flowsdk_core::record::RouterRecords;

pub use error::AgentGroupError;
pub use model::{AgentGroup, AgentGroupChange, AgentGroupId, NewAgentGroup};

/// The use cases of groups of agents. A group that is deleted leaves its agents without one.
pub type AgentGroups<S> = RouterRecords<S, AgentGroup>;
