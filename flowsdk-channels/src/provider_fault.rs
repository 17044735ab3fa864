//! What a client is told where the provider of a channel does not do what is asked of it.

use flowsdk_core::channel::SendError;
use flowsdk_core::fault::Fault;
use flowsdk_core::message::StatusError;
use flowsdk_core::text::Text;

/// The reason why the provider has not done it.
#[derive(Debug, thiserror::Error, Fault)]
pub enum ProviderFault {
    /// The provider refuses it: its code and words.
    #[error("the provider refuses it with code {}", .0.code)]
    #[fault(
        Unprocessable,
        "provider_refused",
        pt = "O provedor recusou",
        en = "The provider refused it",
        details = refusal(.0)
    )]
    Refused(StatusError),
    /// The provider cannot be reached.
    #[error("the provider is not reached")]
    #[fault(
        BadGateway,
        "provider_unreachable",
        pt = "O provedor não respondeu",
        en = "The provider did not answer"
    )]
    Unreached(#[source] SendError),
    /// The provider may have done it.
    #[error("the answer of the provider was lost")]
    #[fault(
        GatewayTimeout,
        "provider_unanswered",
        pt = "A resposta do provedor se perdeu; verifique se foi feito",
        en = "The answer of the provider was lost; look whether it was done"
    )]
    Unanswered(#[source] SendError),
}

impl From<SendError> for ProviderFault {
    fn from(error: SendError) -> Self {
        match error {
            SendError::Refused(refusal) => Self::Refused(refusal.error),
            error @ SendError::Unanswered(_) => Self::Unanswered(error),
            error @ (SendError::Unreached(_) | SendError::Unsendable(_)) => Self::Unreached(error),
        }
    }
}

fn refusal(error: &StatusError) -> Vec<(String, Text)> {
    let words = error.title.clone().unwrap_or_default();
    let text = format!("{}: {words}", error.code);
    vec![("provider".to_owned(), Text::of(text.clone(), text))]
}
