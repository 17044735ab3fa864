//! The streams by name, the type each carries, and how sessions spread over partitions.

use std::fmt::Debug;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::event;

/// A stream by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TopicName {
    /// `stream:incoming`: gateways to orchestrator.
    Incoming,
    /// `stream:flow`: core, orchestrator and agents to engine.
    Flow,
    /// `stream:agent`: engine, agents and core to agents.
    Agent,
    /// `stream:helpdesk`: engine, orchestrator and agents to the helpdesk.
    Helpdesk,
    /// `stream:summary`: summary requests.
    Summary,
    /// `stream:status`: gateways to orchestrator and core.
    Status,
    /// `stream:outgoing-phone`.
    OutgoingPhone,
    /// `stream:outgoing-chat`.
    OutgoingChat,
    /// `stream:outgoing-social`.
    OutgoingSocial,
    /// `stream:social-comments`: the social gateway to itself.
    SocialComments,
    /// `stream:social-activations`: the social gateway to core.
    SocialActivations,
    /// `stream:agent-turns`: telemetry.
    AgentTurns,
    /// `stream:llm-usage`: telemetry.
    LlmUsage,
}

impl TopicName {
    /// Every stream.
    pub const ALL: [TopicName; 13] = [
        Self::Incoming,
        Self::Flow,
        Self::Agent,
        Self::Helpdesk,
        Self::Summary,
        Self::Status,
        Self::OutgoingPhone,
        Self::OutgoingChat,
        Self::OutgoingSocial,
        Self::SocialComments,
        Self::SocialActivations,
        Self::AgentTurns,
        Self::LlmUsage,
    ];

    /// Returns the stream's name on every broker.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Incoming => "stream:incoming",
            Self::Flow => "stream:flow",
            Self::Agent => "stream:agent",
            Self::Helpdesk => "stream:helpdesk",
            Self::Summary => "stream:summary",
            Self::Status => "stream:status",
            Self::OutgoingPhone => "stream:outgoing-phone",
            Self::OutgoingChat => "stream:outgoing-chat",
            Self::OutgoingSocial => "stream:outgoing-social",
            Self::SocialComments => "stream:social-comments",
            Self::SocialActivations => "stream:social-activations",
            Self::AgentTurns => "stream:agent-turns",
            Self::LlmUsage => "stream:llm-usage",
        }
    }

    /// Returns the stream of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|topic| topic.as_str() == name)
    }

    /// Returns the outgoing stream of a session, by its prefix (spec A 4.5 rule 5, rulings S10, C9).
    pub fn outgoing(session: &crate::session::SessionId) -> Self {
        match session.channel() {
            crate::session::Channel::Phone => Self::OutgoingPhone,
            crate::session::Channel::Webchat => Self::OutgoingChat,
            crate::session::Channel::Social => Self::OutgoingSocial,
        }
    }
}

impl crate::cell::Named for TopicName {
    const ALL: &'static [Self] = &Self::ALL;

    fn name(self) -> &'static str {
        self.as_str()
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
    /// `stream:agent-turns`.
    AgentTurns: event::AgentTurnEvent, |e| e.session_id.as_str();
    /// `stream:llm-usage`.
    LlmUsage: event::LlmUsageEvent, |e| e.session_id.as_str();
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
    /// Returns the name on a broker: with one partition exactly the spec's (`stream:flow`), else `stream:flow:{n}`.
    pub fn name(self, partitions: u32) -> String {
        if partitions <= 1 {
            self.topic.as_str().to_owned()
        } else {
            format!("{}:{}", self.topic.as_str(), self.index)
        }
    }
}
