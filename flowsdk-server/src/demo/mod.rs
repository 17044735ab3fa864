//! The one-command demonstration: a data folder with secrets of its own, a router, a flow that shows
//! off, a test channel, and a queue with agents. A second start on the same folder goes on where it was.

mod desk;
mod folder;
mod login;
mod pages;
mod phone;
mod seed;

pub use desk::DeskSeed;
pub(crate) use folder::DATABASE;
pub use folder::{DataFolder, FolderError};
pub use login::DeskLogin;
pub use pages::{Facts, pages};
pub use phone::{api_url, phone};
pub use seed::{Demo, seed};
