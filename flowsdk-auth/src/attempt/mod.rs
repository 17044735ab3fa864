//! Limits on how often something may be tried, shared by every process (rulings H10).

mod counter;
mod place;
mod window;

pub(crate) use counter::{Attempts, Limit};
pub(crate) use place::place;
