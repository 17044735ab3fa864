//! Groups of users (spec A 2.1).

mod error;
mod model;
mod repository;
mod service;
mod view;

pub use error::GroupError;
pub use model::{Group, GroupChange, NewGroup};
pub use repository::{GroupRepository, HasGroups};
pub use service::Groups;
pub use view::GroupView;
