//! Conversational customer service as a library.
//!
//! A [`Flow`] is a checked definition. It can be held against lines of text without any I/O:
//!
//! ```
//! use flowsdk::Flow;
//!
//! let flow = Flow::from_json(r#"{
//!     "schemaVersion": 1,
//!     "startBlockId": "ask",
//!     "blocks": [
//!         { "id": "ask", "type": "content",
//!           "contents": [{ "type": "text", "text": { "body": "What is your name?" } }],
//!           "input": { "variable": "name" },
//!           "defaultOutput": { "blockId": "greet" } },
//!         { "id": "greet", "type": "content",
//!           "contents": [{ "type": "text", "text": { "body": "Hello {{name}}!" } }],
//!           "defaultOutput": { "end": true } }
//!     ]
//! }"#)?;
//! let mut conversation = flow.conversation();
//! assert_eq!(conversation.say("Hi").texts(), ["What is your name?"]);
//! assert_eq!(conversation.say("Ana").texts(), ["Hello Ana!"]);
//! assert!(conversation.has_ended());
//! # Ok::<(), flowsdk::InvalidFlow>(())
//! ```
//!
//! A [`Bot`] answers with a flow over a store, in memory or in a SQLite file, and delivers by a transport of your own. With
//! [`BotBuilder::agents`] AI agents have the conversations that the flow hands to them.

#[cfg(feature = "bot")]
mod bot;
mod conversation;
mod flow;

#[cfg(feature = "bot")]
pub use bot::{Answer, Bot, BotBuilder, BotError, DeliveryError, Transport};
pub use conversation::{Conversation, Reply};
pub use flow::{Flow, InvalidFlow};

#[cfg(feature = "bot")]
pub use flowsdk_agent as agent;
pub use flowsdk_core as core;
pub use flowsdk_core::message::ContentMessage;
#[cfg(feature = "bot")]
pub use flowsdk_store as store;

/// Compiles the samples of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
