//! The one-command demonstration: a data folder with secrets of its own, a router, a flow that shows
//! off and a test channel. A second start on the same folder goes on where it was.

mod folder;
mod pages;
mod phone;
mod seed;

pub(crate) use folder::DATABASE;
pub use folder::{DataFolder, FolderError};
pub use pages::{Facts, pages};
pub use phone::{api_url, phone};
pub use seed::{Demo, seed};
