//! The parts of the product: one file each, and one line in [`REGISTRY`].

mod agent;
mod api;
mod chat_gateway;
mod conversation;
mod desk;
mod helpdesk;
mod phone;
mod relay;
mod webchat;
mod webhooks;

use flowsdk_core::fault::BoxError;
use flowsdk_core::stream::topic::TopicName;
use futures_util::future::BoxFuture;

use super::ground::Ground;
use crate::config::Role;

/// Every part, in the order in which they start: a part finds the links of those before it.
pub(crate) const REGISTRY: &[&Part] = &[
    &chat_gateway::PART,
    &conversation::PART,
    &relay::PART,
    &webchat::PART,
    &phone::PART,
    &helpdesk::PART,
    &webhooks::PART,
    &agent::PART,
    &api::PART,
];

/// A part of the product.
pub(crate) struct Part {
    /// The role in which a process runs it.
    pub(crate) role: Role,
    /// The streams that it consumes.
    pub(crate) reads: &'static [Reads],
    /// Starts its tasks, and adds its routes and checks to the ground's surface.
    pub(crate) start: for<'a> fn(&'a mut Ground) -> BoxFuture<'a, Result<(), BoxError>>,
}

/// Streams that a consumer group reads.
#[derive(Debug)]
pub(crate) struct Reads {
    pub(crate) topics: &'static [TopicName],
    pub(crate) group: &'static str,
    /// The name of a readiness check of every process: each partition of the first stream has an owner that keeps
    /// up. `None` where a delay is no reason to turn clients away.
    pub(crate) watched_as: Option<&'static str>,
}

/// The groups that read streams out of the database. They are those of every part, whatever runs in this process: an
/// event whose group is elsewhere, or not running now, is kept for it.
pub(crate) fn outbox_groups<'a>(
    parts: &'a [&'a Part],
) -> impl Iterator<Item = (TopicName, &'static str)> + 'a {
    let reads = parts.iter().flat_map(|part| part.reads);
    reads.flat_map(|reads| reads.topics.iter().map(|&topic| (topic, reads.group)))
}

/// Every role of the product, by name.
pub(crate) fn roles() -> Vec<Role> {
    let mut roles: Vec<Role> = REGISTRY.iter().map(|part| part.role).collect();
    roles.sort_unstable();
    roles.dedup();
    roles
}

#[cfg(test)]
mod tests;
