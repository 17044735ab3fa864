//! Routes: to which agents an agent may hand its conversations (spec B 2.5, 3.4).

mod model;

use crate::part::AgentParts;

pub use model::{AgentRoute, AgentRouteChange, AgentRouteId, NewAgentRoute};

/// The use cases of routes.
pub type AgentRoutes<S> = AgentParts<S, AgentRoute>;
