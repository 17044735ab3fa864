//! System prompts: what an agent is and knows, in parts that can be switched off (spec B 2.5).

mod model;

use crate::part::AgentParts;

pub use model::{NewSystemPrompt, SystemPrompt, SystemPromptChange, SystemPromptId};

/// The use cases of system prompts.
pub type SystemPrompts<S> = AgentParts<S, SystemPrompt>;
