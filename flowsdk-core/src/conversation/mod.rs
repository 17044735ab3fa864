//! Conversations: the way of a message from the moment a gateway took it (spec B 4.2).
//!
//! The orchestrator finds or begins the session and passes the message to its owner; when that is the flow engine,
//! its turn runs at once. Message, session, answers and events are one commit ([`Conversations::handle`]), so a
//! crash leaves a turn done or not begun. Batches of turns of different sessions share a commit, which makes
//! durable commits cheap.

mod ahead;
mod backpressure;
mod consumer;
mod cost;
mod decide;
mod error;
mod event;
mod facts;
mod fallback;
mod flow_cache;
mod flows;
mod opening;
mod persister;
mod records;
mod rehearsal;
mod resume;
mod rows;
mod say;
mod service;
mod timers;
mod tools;
mod traced;
mod turn;
mod tx;
mod writes;

pub use ahead::publish_ahead;
pub use backpressure::{BACKPRESSURE_PERIOD, SharedBackpressure, parties_of};
pub use consumer::{CONVERSATION_GROUP, CONVERSATION_TOPICS, ConversationConsumer};
pub use error::ConversationError;
pub use event::{ConversationEvent, StoredMessage, TurnReport};
pub use fallback::{Unsaid, fallback_messages};
pub use flow_cache::FlowCache;
pub use persister::{MessagePersister, PERSISTER_GROUP};
pub use say::{say, say_all};
pub use service::{Conversations, Handover, OutgoingSink, Outside};
pub use timers::InputTimers;
pub use tools::{ToolCall, ToolCallError, ToolCalls, ToolReading, ToolReturned};
pub use tx::ConversationTx;
