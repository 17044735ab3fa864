//! Where the contents of files are kept.

mod folder;
#[cfg(feature = "s3")]
mod object;

pub use folder::{FolderBlobs, UNFINISHED};
#[cfg(feature = "s3")]
pub use object::ObjectBlobs;
