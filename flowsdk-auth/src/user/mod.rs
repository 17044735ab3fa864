//! Users (spec A 2.1).

mod change;
mod error;
mod model;
mod operator;
mod password;
mod repository;
mod service;
mod view;

pub use change::{NewUser, UserChange};
pub use error::UserError;
pub use model::{Email, InvalidEmail, InvalidPhone, Phone, User, UserRole};
pub use operator::UserOperator;
pub use password::{MIN_PASSWORD_CHARS, PasswordRule};
pub use repository::{HasUsers, UserFilter, UserRepository};
pub use service::{UserWithGroup, Users};
pub use view::UserView;
