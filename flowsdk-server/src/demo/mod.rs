//! The one-command demonstration: a data folder with secrets of its own, a router, a flow that shows
//! off, AI agents on a scripted model, a test channel, and a queue with agents. A second start on the same folder goes on where it was.

mod assistant;
mod desk;
mod folder;
mod login;
mod models;
mod pages;
mod phone;
mod seed;

pub use desk::DeskSeed;
pub(crate) use folder::DATABASE;
pub use folder::{DataFolder, FolderError};
pub use login::DeskLogin;
pub use models::models;
pub use pages::{Facts, pages};
pub use phone::{api_url, phone};
pub use seed::{Demo, seed};
