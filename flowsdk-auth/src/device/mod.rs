//! Devices of users, for push notifications (spec A 2.1). They play no role in authentication.

mod model;
mod repository;

pub use model::UserDevice;
pub use repository::UserDeviceRepository;
