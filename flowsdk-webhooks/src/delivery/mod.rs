//! Deliveries: one event for one webhook, its attempts, and what both sides agree on.

mod model;
mod repository;
mod schedule;
mod signature;

pub use model::{
    Attempt, AttemptView, Delivery, DeliveryDetail, DeliveryFilter, DeliveryId, DeliveryStatus, DeliveryView,
    DueDelivery, ReplayRange, of_event,
};
pub use repository::{DeliveryRepository, HasDeliveries};
pub use schedule::{GIVE_UP_AFTER, KEPT_FOR, pause_after};
pub use signature::{InvalidSecret, Secret, sign, sign_by_each};
