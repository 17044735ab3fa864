//! Hops between parts of one process that are function calls.

use std::sync::Arc;

use flowsdk_channels::webchat::Gateway;
use flowsdk_core::conversation::ConversationConsumer;
use flowsdk_core::stream::consumer::Submitter;
use flowsdk_outside::requests::Requests;
use flowsdk_store::sql::SqlStore;

/// The way into the conversation consumer.
pub(crate) type Turns = Submitter<ConversationConsumer<SqlStore>>;

/// Handles that the parts of this process pass to the parts that start after them.
#[derive(Default)]
pub(crate) struct Links {
    /// The web chat gateway.
    pub(crate) gateway: Option<Arc<Gateway>>,
    /// The conversation consumer. Only where the turn itself is the durable write.
    pub(crate) turns: Option<Turns>,
    /// The queue of requests that flows make to the outside.
    pub(crate) outside: Option<Arc<Requests>>,
}
