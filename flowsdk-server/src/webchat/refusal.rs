//! Why an event of a visitor is not taken.

use flowsdk_channels::webchat::inbound::InboundError;
use flowsdk_channels::webchat::{IngressError, Visitor};
use flowsdk_core::fault::Chain;

use crate::socket::Ack;

/// The answer to an event that is not taken: `{ ok: false, code, message }`.
#[derive(Debug)]
pub(super) struct Refusal {
    code: &'static str,
    message: String,
}

impl Refusal {
    fn new(code: &'static str, message: &str) -> Self {
        Self { code, message: message.to_owned() }
    }

    /// Too many events.
    pub(super) fn rate_limited() -> Self {
        Self::new("rate_limited", "Muitas mensagens, aguarde um momento")
    }

    /// The server cannot take it now, for this reason.
    pub(super) fn unavailable(visitor: &Visitor, reason: &dyn std::error::Error) -> Self {
        tracing::warn!(session = %visitor.session_id, error = %Chain(reason), "an event of a visitor was not taken");
        Self::new("unavailable", "Serviço indisponível, tente novamente")
    }

    /// The sessions of the channel begin with a message.
    pub(super) fn message_first() -> Self {
        Self::new("message_first", "Escreva uma mensagem para começar")
    }

    /// Answers, if the client waits for it.
    pub(super) fn send(self, ack: Option<Ack>) {
        metrics::counter!("flowsdk_webchat_refused", "code" => self.code).increment(1);
        if let Some(ack) = ack {
            ack.refuse(self.code, &self.message);
        }
    }

    /// The ingress does not take the event.
    pub(super) fn of_ingress(visitor: &Visitor, error: &IngressError) -> Self {
        match error {
            IngressError::Backpressure => Self::rate_limited(),
            error => Self::unavailable(visitor, error),
        }
    }
}

impl From<InboundError> for Refusal {
    fn from(error: InboundError) -> Self {
        Self { code: error.code(), message: error.to_string() }
    }
}
