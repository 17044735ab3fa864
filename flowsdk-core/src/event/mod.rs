//! Every stream payload of spec B 6 as a type, and those of our own streams. The golden JSON files in `tests/golden/` pin their wire
//! form; times are epoch milliseconds.

mod agent;
mod flow;
mod helpdesk;
mod incoming;
mod notice;
mod outgoing;
mod provider_news;
mod receipt;
mod social;
mod status;
mod summary;
mod telemetry;
mod webhook;

pub use agent::{AgentEvent, AgentManualHandoffEvent, AgentNotice, AgentStreamEvent};
pub use flow::{
    EffectDone, ExternalJump, FlowEvent, HandBack, HandoffDeflect, InputTimeout, JumpTarget, Resume,
};
pub use helpdesk::{
    AiTicketChange, AiTicketEnd, AiTicketEvent, HandoffContact, HandoffEvent, HelpdeskEvent,
    HelpdeskMessageEvent, SentMessageEvent, Sentiment, SentimentResult,
};
pub use incoming::IncomingEvent;
pub use notice::{Notice, NoticeKind};
pub use outgoing::{CommentMode, CommentTarget, OutgoingEvent};
pub use provider_news::ProviderNews;
pub use receipt::ReadReceipt;
pub use social::{ActivationEvent, CommentEvent, CommentSource};
pub use status::{DeliveryStatus, StatusEvent};
pub use summary::{SummaryReason, SummaryRequest};
pub use telemetry::{AgentTurnEvent, LlmUsageEvent, ModelCall, TokenUsage, ToolCall};
pub use webhook::{WebhookEvent, WebhookEventType, of_contact};
pub(crate) use webhook::{of_message, of_session, of_status, type_of};
