//! A provider of the phone channel in the box: it takes what is sent, has phones that write, and delivers webhooks.
//!
//! It answers as the WhatsApp Cloud API does, as far as this product calls it. What it is told to do wrong it does, call by
//! call. The same seed and calls give the same ids.

mod calls;
mod command;
mod control;
mod fault;
mod provider;
mod webhook;

pub use command::{Simulator, run};
pub use fault::Fault;
pub use provider::{Provider, ProviderConfig, SentMessage};

use axum::Router;

/// Returns the routes: those of the provider, and those below `/simulator` by which it is told what to do.
pub fn routes(provider: &Provider) -> Router {
    calls::routes(provider.clone()).merge(control::routes(provider.clone()))
}
