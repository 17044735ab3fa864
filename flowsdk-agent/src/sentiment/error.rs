//! Why a sentiment is not judged.

use flowsdk_core::fault::{Fault, RateLimit, StorageError};
use flowsdk_core::text::Text;

use crate::model::ModelError;

const BUSY: Text = Text::new(
    "Muitos sentimentos estão sendo avaliados neste roteador",
    "Too many sentiments of this router are being judged",
);

/// The reason why a sentiment is not judged.
#[derive(Debug, thiserror::Error, Fault)]
pub enum JudgeError {
    /// The conversation is gone.
    #[error("no such conversation")]
    #[fault(NotFound, "not_found", pt = "Ticket não encontrado", en = "Ticket not found")]
    NotFound,
    /// The router does not ask for sentiments on demand.
    #[error("the router asks for no sentiments on demand")]
    #[fault(
        Conflict,
        "sentiment_disabled",
        pt = "O roteador não avalia sentimentos sob demanda",
        en = "The router judges no sentiments on demand"
    )]
    Disabled,
    /// The router has no model credential.
    #[error("the router has no model credential")]
    #[fault(
        Conflict,
        "llm_credential_missing",
        pt = "O roteador não tem credencial de modelo",
        en = "The router has no model credential"
    )]
    NoCredential,
    /// The month's budget of the router is used up.
    #[error("the budget of the router is used up")]
    #[fault(
        Conflict,
        "budget_used_up",
        pt = "O orçamento de IA do mês está esgotado",
        en = "The AI budget of the month is used up"
    )]
    NoBudget,
    /// The contact has said nothing yet.
    #[error("nothing was said")]
    #[fault(
        Conflict,
        "nothing_said",
        pt = "O contato ainda não disse nada",
        en = "The contact has said nothing yet"
    )]
    NothingSaid,
    /// Others of the router are being judged.
    #[error("too many sentiments are being judged")]
    #[fault(RateLimited, "rate_limited", text = BUSY, rate_limit = *.0)]
    Busy(RateLimit),
    /// The model gave no answer of use.
    #[error(transparent)]
    #[fault(
        BadGateway,
        "model_failed",
        pt = "O modelo não deu uma resposta utilizável",
        en = "The model gave no answer of use"
    )]
    Model(#[from] ModelError),
    /// Storage failed.
    #[error("storage failed")]
    #[fault(transparent)]
    Storage(#[from] StorageError),
}
