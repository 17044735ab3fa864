//! The phone channel over HTTP: the webhook of the provider, and the endpoint of interactive forms.

pub(crate) mod forms;
mod webhook;

pub(crate) use webhook::routes;
