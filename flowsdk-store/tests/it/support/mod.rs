//! Fresh databases.

pub(crate) mod databases;
