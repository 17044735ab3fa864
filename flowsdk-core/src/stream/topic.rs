//! The streams by name, the type each carries, and how sessions spread over partitions.

use std::fmt::Debug;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::cell::Named;
use crate::event;

/// A stream by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, Named)]
#[named(schema = "StreamName")]
pub enum TopicName {
    /// `stream:incoming`: gateways to orchestrator.
    #[serde(rename = "stream:incoming")]
    Incoming,
    /// `stream:flow`: core, orchestrator and agents to engine.
    #[serde(rename = "stream:flow")]
    Flow,
    /// `stream:agent`: engine, agents and core to agents.
    #[serde(rename = "stream:agent")]
    Agent,
    /// `stream:helpdesk`: engine, orchestrator and agents to the helpdesk.
    #[serde(rename = "stream:helpdesk")]
    Helpdesk,
    /// `stream:summary`: summary requests.
    #[serde(rename = "stream:summary")]
    Summary,
    /// `stream:status`: gateways to orchestrator and core.
    #[serde(rename = "stream:status")]
    Status,
    /// `stream:outgoing-phone`.
    #[serde(rename = "stream:outgoing-phone")]
    OutgoingPhone,
    /// `stream:outgoing-chat`.
    #[serde(rename = "stream:outgoing-chat")]
    OutgoingChat,
    /// `stream:outgoing-social`.
    #[serde(rename = "stream:outgoing-social")]
    OutgoingSocial,
    /// `stream:social-comments`: the social gateway to itself.
    #[serde(rename = "stream:social-comments")]
    SocialComments,
    /// `stream:social-activations`: the social gateway to core.
    #[serde(rename = "stream:social-activations")]
    SocialActivations,
    /// `stream:read-receipts`: engine to phone gateways.
    #[serde(rename = "stream:read-receipts")]
    ReadReceipts,
    /// `stream:provider-news`: phone gateways to themselves.
    #[serde(rename = "stream:provider-news")]
    ProviderNews,
    /// `stream:agent-turns`: telemetry.
    #[serde(rename = "stream:agent-turns")]
    AgentTurns,
    /// `stream:llm-usage`: telemetry.
    #[serde(rename = "stream:llm-usage")]
    LlmUsage,
    /// `stream:webhooks`: whatever changes something, to the webhooks of its router.
    #[serde(rename = "stream:webhooks")]
    Webhooks,
}

impl TopicName {
    /// Returns the outgoing stream of a session, by its prefix (spec A 4.5 rule 5, rulings S10, C9).
    pub fn outgoing(session: &crate::session::SessionId) -> Self {
        match session.channel() {
            crate::session::Channel::Phone => Self::OutgoingPhone,
            crate::session::Channel::Webchat => Self::OutgoingChat,
            crate::session::Channel::Social => Self::OutgoingSocial,
        }
    }
}

/// A stream with the type of its events.
pub trait Topic {
    /// The name of the stream.
    const NAME: TopicName;
    /// The type of its events.
    type Event: Serialize + DeserializeOwned + Clone + Debug + Send + Sync + 'static;
    /// Returns the key that keeps events in order: those with one key are handled one at a time, in the order they
    /// were published. It is the session id wherever the event has one.
    fn key(event: &Self::Event) -> &str;
}

macro_rules! topics {
    ($($(#[$doc:meta])* $name:ident: $event:ty, |$e:ident| $key:expr;)*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy)]
        pub struct $name;
        impl Topic for $name {
            const NAME: TopicName = TopicName::$name;
            type Event = $event;
            fn key($e: &$event) -> &str {
                $key
            }
        }
    )*};
}

topics! {
    /// `stream:incoming`.
    Incoming: event::IncomingEvent, |e| e.session_id.as_str();
    /// `stream:flow`.
    Flow: event::FlowEvent, |e| e.session_id().as_str();
    /// `stream:agent`.
    Agent: event::AgentEvent, |e| e.session_id().as_str();
    /// `stream:helpdesk`.
    Helpdesk: event::HelpdeskEvent, |e| e.session_id().as_str();
    /// `stream:summary`.
    Summary: event::SummaryRequest, |e| e.chat_id.as_str();
    /// `stream:status`.
    Status: event::StatusEvent, |e| e.key();
    /// `stream:outgoing-phone`.
    OutgoingPhone: event::OutgoingEvent, |e| e.session_id.as_str();
    /// `stream:outgoing-chat`.
    OutgoingChat: event::OutgoingEvent, |e| e.session_id.as_str();
    /// `stream:outgoing-social`.
    OutgoingSocial: event::OutgoingEvent, |e| e.session_id.as_str();
    /// `stream:social-comments`.
    SocialComments: event::CommentEvent, |e| &e.from_id;
    /// `stream:social-activations`.
    SocialActivations: event::ActivationEvent, |e| &e.comment_id;
    /// `stream:read-receipts`.
    ReadReceipts: event::ReadReceipt, |e| e.session_id.as_str();
    /// `stream:provider-news`.
    ProviderNews: event::ProviderNews, |e| &e.account_id;
    /// `stream:agent-turns`.
    AgentTurns: event::AgentTurnEvent, |e| e.session_id.as_str();
    /// `stream:llm-usage`.
    LlmUsage: event::LlmUsageEvent, |e| e.session_id.as_str();
    /// `stream:webhooks`.
    Webhooks: event::WebhookEvent, |e| &e.key;
}

/// Returns the partition of `key` among `partitions` (at least 1). FNV-1a: the same in every process and version.
pub fn partition_of(key: &str, partitions: u32) -> u32 {
    let hash = key.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    u32::try_from(hash % u64::from(partitions.max(1))).unwrap_or(0)
}

/// One partition of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StreamPartition {
    /// The stream.
    pub topic: TopicName,
    /// 0, 1, ...
    pub index: u32,
}

impl StreamPartition {
    /// Returns the name on a broker: with one partition exactly the contract's (`stream:flow`, spec B 6), else
    /// `stream:flow:{n}`.
    pub fn name(self, partitions: u32) -> String {
        if partitions <= 1 {
            self.topic.name().to_owned()
        } else {
            format!("{}:{}", self.topic.name(), self.index)
        }
    }
}
