//! The connection that writes a SQLite database, and one for looks at a few rows of a file.
//!
//! A turn is some ten short statements, and the driver that the other connections go through pays more for the way to
//! its thread, for copies of binds and columns, and for look-ups than SQLite does for some of them. Here a statement
//! runs at once, on the thread that asks for it: nothing waits for the disk before the commit. Commits wait for it, so
//! they have a thread of their own (docs/adr/0014).

mod statement;
mod writer;

pub(super) use statement::Prepared;
pub(super) use writer::{DirectTx, Glances, Writer};

use flowsdk_core::fault::StorageError;
use rusqlite::ffi;

use super::executor::of_code;

/// Names the error, without the library's types.
pub(super) fn storage_error(error: rusqlite::Error) -> StorageError {
    let Some(cause) = error.sqlite_error() else {
        return StorageError::Other(Box::new(error));
    };
    let code = cause.extended_code;
    match code {
        ffi::SQLITE_CONSTRAINT_UNIQUE | ffi::SQLITE_CONSTRAINT_PRIMARYKEY => {
            StorageError::Unique { constraint: error.to_string() }
        }
        ffi::SQLITE_CONSTRAINT_FOREIGNKEY => StorageError::Orphan { constraint: error.to_string() },
        _ => of_code(Some(&code.to_string()), Box::new(error)),
    }
}
