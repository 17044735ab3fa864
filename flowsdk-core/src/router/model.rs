//! The router and the static variables of routers and flows (spec A 2.2, 2.3).

use std::collections::BTreeMap;
use std::sync::Arc;

use secrecy::SecretString;

use crate::id::{FlowId, RouterId};
use crate::time::Timestamp;

/// A router.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Router {
    /// Its id.
    pub id: RouterId,
    /// Its name.
    pub name: String,
    /// The flow that a first message starts; `None` stores messages and starts nothing.
    pub initial_flow_id: Option<FlowId>,
    /// IANA time zone, default `America/Sao_Paulo`.
    pub tz: String,
    /// When it was created.
    pub created_at: Timestamp,
}

/// The time zone of a router that names none.
pub const DEFAULT_TZ: &str = "America/Sao_Paulo";

/// Whose a static variable is.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum VariableOwner {
    /// `{{router.<key>}}`, seen by all flows of the router.
    Router(RouterId),
    /// `{{flow.<key>}}`, seen by its own flow only.
    Flow(FlowId),
}

/// A static variable as stored: clear, or encrypted when it is a secret.
#[derive(Debug, Clone)]
pub struct StaticVariable {
    /// Whose it is.
    pub owner: VariableOwner,
    /// Its key.
    pub key: String,
    /// The clear value; `None` for a secret.
    pub value: Option<String>,
    /// The encrypted value; `None` unless it is a secret.
    pub encrypted: Option<crate::crypto::Encrypted>,
}

/// The decrypted static variables a turn reads (spec A 9). Missing maps are empty maps.
#[derive(Debug, Clone, Default)]
pub struct StaticVariables {
    /// Of the router.
    pub router: Arc<BTreeMap<String, SecretString>>,
    /// Of the flows that the turn may run through; each flow sees its own only.
    pub flows: BTreeMap<FlowId, Arc<BTreeMap<String, SecretString>>>,
}
