//! What an AI agent works with: the agent itself, and all that stands beside it (spec B 2.5).

mod model;
mod read;
mod repository;
mod sentiment;

pub use model::{AgentConfiguration, ConfigurationWarning, RouteOut, WarningKind};
pub(crate) use read::is_in_service;
pub use read::{ConfigurationTx, read};
pub use repository::{AgentParts, AgentPartsRepository, HasAgentParts, ToolFlow};
pub use sentiment::SentimentSettings;
