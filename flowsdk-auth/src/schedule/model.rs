//! The schedule.

use flowsdk_core::id::RouterId;
use serde::{Deserialize, Serialize};

/// A range of a week, in the router's time zone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LoginRange {
    /// The day it begins on: 0 is Sunday, 6 Saturday.
    pub weekday: u8,
    /// `HH:MM`.
    pub from: String,
    /// `HH:MM`; not after `from` means on the day after.
    pub to: String,
}

/// The ranges in which an agent may log in; none means always.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct LoginSchedule(pub Vec<LoginRange>);

/// The schedule of a user as an agent of one router.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentSchedule {
    /// The router.
    pub router_id: RouterId,
    /// Its IANA time zone.
    pub tz: String,
    /// When he may log in.
    pub schedule: LoginSchedule,
}
