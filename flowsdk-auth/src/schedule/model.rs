//! The schedule of an agent.

use flowsdk_core::id::RouterId;
use flowsdk_core::login_schedule::LoginSchedule;

/// The schedule of a user as an agent of one router.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentSchedule {
    /// The id of the router.
    pub router_id: RouterId,
    /// Its IANA time zone.
    pub tz: String,
    /// The hours in which the agent may log in.
    pub schedule: LoginSchedule,
}
