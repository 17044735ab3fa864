//! The names that written code of the derives uses. A crate that derives needs no dependency and no feature for them.

pub use serde;
pub use serde_json;
#[cfg(feature = "schema")]
pub use utoipa;

/// Keeps the schemas that derives write: this crate has the feature `schema`, whichever crate derives.
#[cfg(feature = "schema")]
#[doc(hidden)]
#[macro_export]
macro_rules! __schema {
    ($($schema:tt)*) => { $($schema)* };
}

/// Drops the schemas that derives write, because this crate lacks the feature `schema`.
#[cfg(not(feature = "schema"))]
#[doc(hidden)]
#[macro_export]
macro_rules! __schema {
    ($($schema:tt)*) => {};
}
