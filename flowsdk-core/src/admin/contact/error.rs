//! Why a use case of contacts fails.

use crate::fault::{Fault, StorageError};
use crate::idempotency::IdempotencyConflict;
use crate::in_use::Dependants;
use crate::router::RouterUnknown;
use crate::session::VariablesTooLarge;

/// The reason why a contact use case fails.
#[derive(Debug, thiserror::Error, Fault)]
#[non_exhaustive]
pub enum ContactError {
    /// No such contact within reach.
    #[error("no such contact")]
    #[fault(NotFound, "not_found", pt = "Contato não encontrado", en = "Contact not found")]
    NotFound,
    /// No such variable or alias of the contact.
    #[error("the contact has no such thing")]
    #[fault(NotFound, "not_found", pt = "Não encontrado", en = "Not found")]
    NothingThere,
    /// Somebody has the identity already.
    #[error("identity taken")]
    #[fault(
        Conflict,
        "contact_taken",
        pt = "Já existe um contato com esta identidade",
        en = "A contact has this identity",
        field = "phoneNumber"
    )]
    Taken,
    /// Somebody has the alias already.
    #[error("alias taken")]
    #[fault(
        Conflict,
        "alias_taken",
        pt = "Este identificador já pertence a um contato",
        en = "A contact has this alias already",
        field = "alias"
    )]
    AliasTaken,
    /// The channel of the identity or alias is not there, or out of reach.
    #[error("no such channel")]
    #[fault(
        Unprocessable,
        "channel_unknown",
        pt = "Canal não encontrado",
        en = "Channel not found",
        field = *.field
    )]
    ChannelUnknown {
        /// The name of the identity in the request.
        field: &'static str,
    },
    /// The contact to merge is not there.
    #[error("no such contact to merge")]
    #[fault(
        Unprocessable,
        "contact_unknown",
        pt = "O contato a unificar não foi encontrado",
        en = "The contact to merge was not found",
        field = "contactId"
    )]
    OtherUnknown,
    /// The name has no visible character.
    #[error("blank name")]
    #[fault(
        Invalid,
        "validation_failed",
        pt = "Deve ter ao menos um caractere visível",
        en = "Must have a visible character",
        field = "name"
    )]
    NameBlank,
    /// A contact cannot be merged with itself.
    #[error("merge with itself")]
    #[fault(
        Invalid,
        "validation_failed",
        pt = "Um contato não pode ser unificado a si mesmo",
        en = "A contact cannot be merged with itself",
        field = "contactId"
    )]
    Itself,
    /// Both contacts talk to one router at this moment.
    #[error("both contacts have a live session with one router")]
    #[fault(
        Conflict,
        "merge_conflict",
        pt = "Os dois contatos têm sessão ativa no mesmo roteador",
        en = "Both contacts have a live session with one router"
    )]
    BothLive,
    /// The contact is known to routers out of reach.
    #[error("known to routers out of reach")]
    #[fault(
        Forbidden,
        "router_out_of_scope",
        pt = "O contato pertence também a roteadores fora do seu escopo",
        en = "The contact also belongs to routers out of your scope"
    )]
    OutOfScope,
    /// The contact has chats or sessions.
    #[error("in use")]
    #[fault(transparent)]
    InUse(Dependants),
    /// The router that is to know the contact does not exist.
    #[error(transparent)]
    #[fault(transparent)]
    RouterUnknown(#[from] RouterUnknown),
    /// The variables would be too large.
    #[error(transparent)]
    #[fault(transparent)]
    VariablesTooLarge(#[from] VariablesTooLarge),
    /// The request was repeated with other content.
    #[error(transparent)]
    #[fault(transparent)]
    Idempotency(#[from] IdempotencyConflict),
    /// Storage failed.
    #[error(transparent)]
    #[fault(transparent)]
    Storage(#[from] StorageError),
}
