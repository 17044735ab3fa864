//! Attacks on a server: by a tenant who may do what tenants may, and by strangers who are not let in.

mod attack;
pub(crate) mod definitions;
pub(crate) mod strangers;
mod tally;
mod target;
pub(crate) mod tenant;

pub(crate) use attack::Attack;
pub(crate) use tally::Tally;
pub(crate) use target::{Target, Tenant};

use std::time::Duration;

/// The pause after a connection that was refused or that broke. A server that is away is not asked without a rest.
const PAUSE: Duration = Duration::from_millis(100);
