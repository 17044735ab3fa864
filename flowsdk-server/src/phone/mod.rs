//! The phone channel over HTTP: the webhook of the provider.

mod webhook;

pub(crate) use webhook::routes;
