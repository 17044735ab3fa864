//! Limits on how often something may be tried, shared by every process (rulings H10).

mod counter;
mod window;

pub(crate) use counter::{Attempts, Limit};
