//! Why a use case of contacts fails.

use crate::fault::{Fault, FaultKind, StorageError};
use crate::idempotency::IdempotencyConflict;
use crate::in_use::{Dependants, IN_USE, IN_USE_TEXT};
use crate::session::VariablesTooLarge;
use crate::text::Text;

/// The reason why a contact use case fails.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ContactError {
    /// No such contact within reach.
    #[error("no such contact")]
    NotFound,
    /// No such variable or alias of the contact.
    #[error("the contact has no such thing")]
    NothingThere,
    /// Somebody has the identity already.
    #[error("identity taken")]
    Taken,
    /// Somebody has the alias already.
    #[error("alias taken")]
    AliasTaken,
    /// The webchat channel of the identity is not there.
    #[error("no such channel")]
    ChannelUnknown,
    /// The contact to merge is not there.
    #[error("no such contact to merge")]
    OtherUnknown,
    /// A contact cannot be merged with itself.
    #[error("merge with itself")]
    Itself,
    /// Both contacts talk to one router at this moment.
    #[error("both contacts have a live session with one router")]
    BothLive,
    /// The contact is known to routers out of reach.
    #[error("known to routers out of reach")]
    OutOfScope,
    /// The contact has chats or sessions.
    #[error("in use")]
    InUse(Dependants),
    /// The router that is to know the contact is not there.
    #[error("no such router")]
    RouterUnknown,
    /// The variables would be too large.
    #[error(transparent)]
    VariablesTooLarge(#[from] VariablesTooLarge),
    /// The request was repeated with other content.
    #[error(transparent)]
    Idempotency(#[from] IdempotencyConflict),
    /// Storage failed.
    #[error(transparent)]
    Storage(#[from] StorageError),
}

impl Fault for ContactError {
    fn kind(&self) -> FaultKind {
        match self {
            Self::NotFound | Self::NothingThere => FaultKind::NotFound,
            Self::Taken | Self::AliasTaken | Self::BothLive | Self::InUse(_) => FaultKind::Conflict,
            Self::ChannelUnknown | Self::OtherUnknown | Self::RouterUnknown => FaultKind::Unprocessable,
            Self::Itself => FaultKind::Invalid,
            Self::OutOfScope => FaultKind::Forbidden,
            Self::VariablesTooLarge(error) => error.kind(),
            Self::Idempotency(error) => error.kind(),
            Self::Storage(error) => error.kind(),
        }
    }

    fn code(&self) -> &'static str {
        match self {
            Self::NotFound | Self::NothingThere => "not_found",
            Self::Taken => "contact_taken",
            Self::AliasTaken => "alias_taken",
            Self::ChannelUnknown => "channel_unknown",
            Self::OtherUnknown => "contact_unknown",
            Self::Itself => "validation_failed",
            Self::BothLive => "merge_conflict",
            Self::OutOfScope => "router_out_of_scope",
            Self::InUse(_) => IN_USE,
            Self::RouterUnknown => "router_unknown",
            Self::VariablesTooLarge(error) => error.code(),
            Self::Idempotency(error) => error.code(),
            Self::Storage(error) => error.code(),
        }
    }

    fn text(&self) -> Text {
        match self {
            Self::NotFound => Text::new("Contato não encontrado", "Contact not found"),
            Self::NothingThere => Text::new("Não encontrado", "Not found"),
            Self::Taken => {
                Text::new("Já existe um contato com esta identidade", "A contact has this identity")
            }
            Self::AliasTaken => {
                Text::new("Este identificador já pertence a um contato", "A contact has this alias already")
            }
            Self::ChannelUnknown => Text::new("Canal não encontrado", "Channel not found"),
            Self::OtherUnknown => {
                Text::new("O contato a unificar não foi encontrado", "The contact to merge was not found")
            }
            Self::Itself => Text::new(
                "Um contato não pode ser unificado a si mesmo",
                "A contact cannot be merged with itself",
            ),
            Self::BothLive => Text::new(
                "Os dois contatos têm sessão ativa no mesmo roteador",
                "Both contacts have a live session with one router",
            ),
            Self::OutOfScope => Text::new(
                "O contato pertence também a roteadores fora do seu escopo",
                "The contact also belongs to routers out of your scope",
            ),
            Self::InUse(_) => IN_USE_TEXT,
            Self::RouterUnknown => Text::new("Roteador não encontrado", "Router not found"),
            Self::VariablesTooLarge(error) => error.text(),
            Self::Idempotency(error) => error.text(),
            Self::Storage(error) => error.text(),
        }
    }

    fn field(&self) -> Option<&'static str> {
        match self {
            Self::Taken | Self::ChannelUnknown => Some("phoneNumber"),
            Self::RouterUnknown => Some("routerId"),
            Self::AliasTaken => Some("alias"),
            Self::OtherUnknown | Self::Itself => Some("contactId"),
            _ => None,
        }
    }

    fn details(&self) -> Vec<(String, Text)> {
        match self {
            Self::InUse(dependants) => dependants.details(),
            _ => Vec::new(),
        }
    }
}
