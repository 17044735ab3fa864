//! Keys of attributes.

use syn::{Error, Ident, Result};

/// Stores the value of a key.
///
/// # Errors
/// The key stands there for a second time.
pub(crate) fn set<T>(place: &mut Option<T>, key: &Ident, value: T) -> Result<()> {
    match place.replace(value) {
        Some(_) => Err(Error::new_spanned(key, format!("a second `{key}`"))),
        None => Ok(()),
    }
}
