//! Outgoing webhooks on real databases.

mod announced;
mod any_order;
mod contacts;
mod place;
mod sent;
mod statuses;
