//! HTTP requests of flows, and pages that are fetched.

mod address;
mod allowed;
mod caller;
mod page;
mod resolver;
mod trust;

pub use address::is_public;
pub use allowed::{AllowedHosts, NotAHost};
pub use caller::{GuardedHttp, guarded_client};
pub use page::{Page, PageFailure};
pub use trust::build_trusting;
