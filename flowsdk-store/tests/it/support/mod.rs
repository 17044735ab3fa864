//! Fresh databases.

pub(crate) mod databases;
pub(crate) mod stepping;
