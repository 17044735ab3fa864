//! The use cases of the helpdesk on real databases.

mod commands;
mod deflection;
mod desk;
mod dispatch;
mod intake;
mod news;
mod races;
mod sweep;
