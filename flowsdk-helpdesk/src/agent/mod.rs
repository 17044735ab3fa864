//! Agents: the users who work the tickets of a router, and their presence (spec B 2.4).

mod error;
mod model;
mod presence;
mod repository;
mod service;

pub use error::AgentError;
pub use model::{DeskAgent, DeskAgentChange, DeskAgentId, DeskAgentView, NewDeskAgent};
pub use presence::{Absence, PRESENCE_LIFETIME, Presence, PresenceStatus};
pub use repository::{HasPresence, Person, PresenceRepository};
pub use service::DeskAgents;
