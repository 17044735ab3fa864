//! Why a use case of tickets fails (rulings D5).

use flowsdk_core::fault::{Fault, StorageError};
use flowsdk_core::idempotency::IdempotencyConflict;
use flowsdk_core::text::Text;

use super::{NotOffered, NotOpen};

/// The reason why a use case of tickets fails.
#[derive(Debug, thiserror::Error, Fault)]
#[non_exhaustive]
pub enum TicketError {
    /// No such ticket within reach.
    #[error("no such ticket")]
    #[fault(NotFound, "not_found", pt = "Ticket não encontrado", en = "Ticket not found")]
    NotFound,
    /// It is closed.
    #[error("the ticket is closed")]
    #[fault(Conflict, "ticket_closed", pt = "O ticket já está fechado", en = "The ticket is closed already")]
    Closed,
    /// Nobody has it, and only whoever has it may do this.
    #[error("the ticket is waiting")]
    #[fault(
        Conflict,
        "ticket_waiting",
        pt = "O ticket ainda não foi atribuído",
        en = "The ticket is not assigned yet"
    )]
    Waiting,
    /// Another user has it.
    #[error("another user has the ticket")]
    #[fault(
        Conflict,
        "ticket_assigned",
        pt = "O ticket está atribuído a outro agente",
        en = "The ticket is assigned to another agent"
    )]
    AssignedToAnother,
    /// AI agents have it: it is transferred, not assigned.
    #[error("AI agents have the ticket")]
    #[fault(
        Conflict,
        "ticket_of_ai_agent",
        pt = "O ticket está com um agente de IA",
        en = "The ticket is with an AI agent"
    )]
    WithAgents,
    /// The AI agents that have it were asked to hand it to people, and are about to.
    #[error("the ticket is handed over")]
    #[fault(
        Conflict,
        "ticket_handed_over",
        pt = "O ticket está sendo transferido para o atendimento humano",
        en = "The ticket is being handed to people"
    )]
    HandedOver,
    /// It is not offered to the user: it was offered to nobody, or the offer has ended.
    #[error("the ticket is not offered to the user")]
    #[fault(
        Conflict,
        "ticket_not_offered",
        pt = "O ticket não está oferecido a você",
        en = "The ticket is not offered to you"
    )]
    NotOffered,
    /// The conversation has moved on: nobody reads an answer of the ticket.
    #[error("the session has moved on")]
    #[fault(
        Conflict,
        "conversation_moved_on",
        pt = "A conversa não está mais com o atendimento",
        en = "The conversation is no longer with the helpdesk"
    )]
    MovedOn,
    /// The contact cannot be answered freely any more.
    #[error("the window is closed")]
    #[fault(
        Conflict,
        "window_closed",
        pt = "A janela de 24 horas do contato está fechada",
        en = "The 24-hour window of the contact is closed"
    )]
    WindowClosed,
    /// The contact has written after the last message that the agent has seen.
    #[error("the contact has written since")]
    #[fault(
        Conflict,
        "messages_unseen",
        pt = "O contato escreveu depois da última mensagem vista",
        en = "The contact has written after the last message that was seen"
    )]
    MessagesUnseen,
    /// The chat of the ticket has no such message.
    #[error("no such message in the chat")]
    #[fault(
        Unprocessable,
        "message_unknown",
        pt = "A mensagem não existe nesta conversa",
        en = "The conversation has no such message",
        field = "lastSeenMessageId"
    )]
    MessageUnknown,
    /// The agent has as many tickets as the queue allows.
    #[error("the agent has as many tickets as the queue allows")]
    #[fault(
        Conflict,
        "agent_limit_reached",
        pt = "O agente já tem o máximo de tickets da fila",
        en = "The agent has as many tickets as the queue allows"
    )]
    LimitReached,
    /// The router of the ticket has no such queue, or it takes nothing.
    #[error("no such queue to transfer to")]
    #[fault(
        Unprocessable,
        "queue_unknown",
        pt = "A fila não existe neste roteador ou está inativa",
        en = "The router has no such queue, or it is inactive",
        field = "toQueueId"
    )]
    QueueUnknown,
    /// The user is no agent of the ticket's router.
    #[error("the user is no agent of the router")]
    #[fault(
        Unprocessable,
        "agent_unknown",
        pt = "O usuário não é agente deste roteador",
        en = "The user is no agent of this router",
        field = "toUserId"
    )]
    AgentUnknown,
    /// The user does not work in the queue of the ticket.
    #[error("the user does not work in the queue")]
    #[fault(
        Unprocessable,
        "agent_not_in_queue",
        pt = "O agente não está na fila do ticket",
        en = "The agent does not work in the queue of the ticket",
        field = "userId"
    )]
    AgentNotInQueue,
    /// The router of the ticket has no such tag.
    #[error("no such tag in the router")]
    #[fault(
        Unprocessable,
        "tag_unknown",
        pt = "A tag não existe neste roteador",
        en = "The router has no such tag",
        field = "tagIds"
    )]
    TagUnknown,
    /// The router of the ticket has close reasons, and no active one of this key.
    #[error("no such close reason in the router")]
    #[fault(
        Unprocessable,
        "close_reason_unknown",
        pt = "O motivo de fechamento não existe neste roteador ou está inativo",
        en = "The router has no such close reason, or it is inactive",
        field = "reason"
    )]
    CloseReasonUnknown,
    /// Neither a user nor a queue is named, or both are.
    #[error("not exactly one target")]
    #[fault(
        Invalid,
        "validation_failed",
        pt = "Informe toUserId ou toQueueId, e só um deles",
        en = "Name toUserId or toQueueId, and only one of them",
        field = "toUserId"
    )]
    TargetUnclear,
    /// The flow or block to go on at is none of the router.
    #[error("no such block to go on at")]
    #[fault(
        Unprocessable,
        "block_not_found",
        pt = "O bloco não existe em um flow publicado deste roteador",
        en = "No published flow of this router has the block",
        field = "jumpTarget"
    )]
    BlockNotFound,
    /// The message is longer than the channel takes.
    #[error("the text is too long for the channel")]
    #[fault(
        Invalid,
        "validation_failed",
        pt = "O texto passa de {most} caracteres",
        en = "The text is longer than {most} characters",
        field = "text"
    )]
    #[allow(missing_docs, reason = "the variant says it")]
    TooLong { most: usize },
    /// Somebody who is mentioned is no agent of the ticket's router.
    #[error("a user who is mentioned is no agent of the router")]
    #[fault(
        Unprocessable,
        "agent_unknown",
        pt = "O usuário não é agente deste roteador",
        en = "The user is no agent of this router",
        field = "mentionedUserIds"
    )]
    MentionUnknown,
    /// Neither a text nor a content is given, or both are.
    #[error("not exactly one content")]
    #[fault(
        Invalid,
        "validation_failed",
        pt = "Informe text ou content, e só um deles",
        en = "Give text or content, and only one of them",
        field = "text"
    )]
    ContentUnclear,
    /// The channel does not carry contents of this type, or agents do not send them.
    #[error("a content that is not sent")]
    #[fault(
        Unprocessable,
        "content_unsupported",
        pt = "O canal não envia este tipo de mensagem",
        en = "The channel does not carry this type of message",
        field = "content"
    )]
    ContentUnsupported,
    /// Parts of the content cannot be sent: field and reason of each.
    #[error("a content that cannot be sent")]
    #[fault(Invalid, "validation_failed", pt = "Dados inválidos", en = "Invalid data", details = .0.clone())]
    ContentFlawed(Vec<(String, Text)>),
    /// The router of the ticket has no such file.
    #[error("no such file in the router")]
    #[fault(
        Unprocessable,
        "media_unknown",
        pt = "Arquivo não encontrado neste roteador",
        en = "The router has no such file",
        field = "content"
    )]
    MediaUnknown,
    /// The request was repeated with other content.
    #[error(transparent)]
    #[fault(transparent)]
    Idempotency(#[from] IdempotencyConflict),
    /// Storage failed.
    #[error("storage failed")]
    #[fault(transparent)]
    Storage(#[from] StorageError),
}

impl From<NotOffered> for TicketError {
    fn from(_: NotOffered) -> Self {
        Self::NotOffered
    }
}

impl From<NotOpen> for TicketError {
    fn from(_: NotOpen) -> Self {
        Self::Closed
    }
}
