//! Outgoing webhooks on real databases.

mod announced;
mod any_order;
mod place;
mod sent;
mod statuses;
