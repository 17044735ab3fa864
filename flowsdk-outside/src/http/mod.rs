//! HTTP requests of flows.

mod address;
mod allowed;
mod caller;
mod resolver;
mod trust;

pub use address::is_public;
pub use allowed::{AllowedHosts, NotAHost};
pub use caller::{GuardedHttp, guarded_client};
pub use trust::build_trusting;
