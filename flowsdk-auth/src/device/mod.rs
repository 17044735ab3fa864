//! Devices of users, for push notifications (spec A 2.1). They play no role in authentication.

mod change;
mod error;
mod model;
mod repository;
mod service;
mod view;

pub use change::{NewUserDevice, UserDeviceChange};
pub use error::UserDeviceError;
pub use model::UserDevice;
pub use repository::{HasUserDevices, UserDeviceRepository};
pub use service::UserDevices;
pub use view::UserDeviceView;
