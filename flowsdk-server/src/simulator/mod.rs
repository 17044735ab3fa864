//! A provider of the phone channel in the box: it takes what is sent, has phones that write, and delivers webhooks.
//!
//! It answers as the WhatsApp Cloud API does, as far as this product calls it. What it is told to do wrong it does, call by
//! call. The same seed and calls give the same ids.

mod calls;
mod command;
mod control;
mod disorder;
mod fault;
mod filled;
mod form;
mod lanes;
mod limits;
mod media;
mod page;
mod phone;
mod profile;
mod provider;
mod tap;
mod template;
mod webhook;

pub use command::{Simulator, run};
pub use disorder::Disorder;
pub use fault::{CallKind, Fault};
pub use form::{Answered, Asked};
pub use limits::Limits;
pub use media::{KeptMedia, MediaFault, SentFile};
pub(crate) use page::PHONE;
pub use page::Shown;
pub use phone::{Bubble, Delivered, Screen, Side};
pub use profile::Profile;
pub(crate) use provider::seed_at;
pub use provider::{Provider, ProviderConfig, Reach, SentMessage};
pub use template::{KeptTemplate, Review};

use axum::Router;

/// Where the API of the provider is, if it is below the address of something else.
pub const API_PATH: &str = "/simulator/api";

/// Returns the routes of a provider with an address of its own: those of its API, and those below `/simulator` by which
/// it is told what to do, with the page of a phone.
pub fn routes(provider: &Provider, shown: Shown) -> Router {
    calls::routes(provider.clone()).merge(control(provider, shown))
}

/// Returns the routes of a provider at the address of a server: all of them below `/simulator`.
pub fn routes_below(provider: &Provider, shown: Shown) -> Router {
    Router::new().nest(API_PATH, calls::routes(provider.clone())).merge(control(provider, shown))
}

fn control(provider: &Provider, shown: Shown) -> Router {
    control::routes(provider.clone()).merge(page::routes(shown))
}
