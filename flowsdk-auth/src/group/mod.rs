//! Groups of users (spec A 2.1).

mod model;
mod repository;

pub use model::Group;
pub use repository::GroupRepository;
