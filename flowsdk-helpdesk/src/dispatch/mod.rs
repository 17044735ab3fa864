//! Distribution: waiting tickets go to agents who are there, by the strategy of their queue (rulings D1, D2).

mod distribution;
mod service;
mod staffing;

pub use distribution::{Candidate, Distribution};
pub use service::{DispatchTx, Dispatcher};
