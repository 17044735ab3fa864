//! Why a dispatch fails.

use flowsdk_core::admin::flow::TOOL_BEGINS_NOTHING;
use flowsdk_core::fault::{Fault, StorageError};
use flowsdk_core::idempotency::IdempotencyConflict;

use super::fill::InvalidParameters;

/// The reason why nothing is dispatched.
#[derive(Debug, thiserror::Error, Fault)]
#[non_exhaustive]
pub enum DispatchError {
    /// No such router.
    #[error("no such router")]
    #[fault(NotFound, "not_found", pt = "Roteador não encontrado", en = "Router not found")]
    NotFound,
    /// The router is beyond the caller's reach.
    #[error("out of reach")]
    #[fault(Forbidden, "router_out_of_scope", pt = "Roteador fora do escopo", en = "Router out of scope")]
    OutOfScope,
    /// The caller is no agent of the router that may dispatch.
    #[error("not allowed to dispatch")]
    #[fault(
        Forbidden,
        "dispatch_not_allowed",
        pt = "Sem permissão para disparo ativo",
        en = "Not allowed to write to contacts first"
    )]
    NotAllowed,
    /// The contact's opt-in is passed over by somebody who is no administrator.
    #[error("only administrators pass over opt-ins")]
    #[fault(
        Forbidden,
        "admin_only",
        pt = "Acesso restrito a administradores",
        en = "Administrators only",
        field = "disableOptIn"
    )]
    OptInNotYours,
    /// The contact has not agreed to be written to.
    #[error("no opt-in")]
    #[fault(
        Forbidden,
        "opt_in_missing",
        pt = "O contato não aceitou receber mensagens",
        en = "The contact has not agreed to be written to"
    )]
    NoOptIn,
    /// A part of the target that needs another one stands alone.
    #[error("{0} needs {1}")]
    #[fault(Invalid, "validation_failed", pt = "{0} exige {1}", en = "{0} needs {1}", field = *.0)]
    Incomplete(&'static str, &'static str),
    /// The router has no such flow, or it is not published.
    #[error("no such flow")]
    #[fault(
        Unprocessable,
        "flow_unknown",
        pt = "Flow não encontrado ou sem publicação ativa",
        en = "No such flow, or it is not published",
        field = "targetFlowId"
    )]
    FlowUnknown,
    /// The flow is a tool, with which nobody talks.
    #[error("the flow is a tool")]
    #[fault(Unprocessable, "flow_is_tool", text = TOOL_BEGINS_NOTHING, field = "targetFlowId")]
    FlowIsTool,
    /// The published flow has no such block.
    #[error("no such block")]
    #[fault(
        Unprocessable,
        "block_not_found",
        pt = "Bloco destino não encontrado na definição do flow",
        en = "The flow has no such block",
        field = "targetBlockId"
    )]
    BlockNotFound,
    /// The router has no such queue, or it takes nothing.
    #[error("no such queue")]
    #[fault(
        Unprocessable,
        "queue_unknown",
        pt = "Fila não encontrada",
        en = "Queue not found",
        field = "targetQueueId"
    )]
    QueueUnknown,
    /// The user is no agent of the router.
    #[error("the user is no agent of the router")]
    #[fault(
        Unprocessable,
        "agent_unknown",
        pt = "O usuário não é agente deste roteador",
        en = "The user is no agent of this router",
        field = "targetUserId"
    )]
    AgentUnknown,
    /// The router has no such template.
    #[error("no such template")]
    #[fault(
        Unprocessable,
        "template_unknown",
        pt = "Template não encontrado",
        en = "Template not found",
        field = "templateId"
    )]
    TemplateUnknown,
    /// The provider has not approved the template.
    #[error("the template is not approved")]
    #[fault(
        Unprocessable,
        "template_not_approved",
        pt = "O template não está aprovado",
        en = "The template is not approved",
        field = "templateId"
    )]
    NotApproved,
    /// The template is of another business account than the number.
    #[error("the template is of another account")]
    #[fault(
        Unprocessable,
        "template_other_account",
        pt = "O template é de outra conta",
        en = "The template is of another business account",
        field = "templateId"
    )]
    OtherAccount,
    /// Its parameters do not fit.
    #[error(transparent)]
    #[fault(
        Unprocessable,
        "template_parameters",
        pt = "Parâmetros não correspondem ao template",
        en = "The parameters do not fit the template",
        details = .0.details()
    )]
    Parameters(#[from] InvalidParameters),
    /// The router has no such number.
    #[error("no such number")]
    #[fault(
        Unprocessable,
        "channel_number_unknown",
        pt = "Número não encontrado",
        en = "Number not found",
        field = "channelNumberId"
    )]
    NumberUnknown,
    /// Nothing is sent from the number.
    #[error("the number is not active")]
    #[fault(
        Unprocessable,
        "channel_number_inactive",
        pt = "O número não está ativo",
        en = "The number is not active",
        field = "channelNumberId"
    )]
    NumberInactive,
    /// The number has no access token.
    #[error("the number has no access token")]
    #[fault(
        Unprocessable,
        "no_access_token",
        pt = "O número não tem um token de acesso",
        en = "The number has no access token",
        field = "channelNumberId"
    )]
    NumberWithoutToken,
    /// The provider refuses the account of the number.
    #[error("the number is paused")]
    #[fault(
        Unprocessable,
        "channel_number_paused",
        pt = "O número está pausado: o provedor recusa a conta",
        en = "The number is paused: the provider refuses its account",
        field = "channelNumberId"
    )]
    NumberPaused,
    /// The request was repeated with other content.
    #[error(transparent)]
    #[fault(transparent)]
    Idempotency(#[from] IdempotencyConflict),
    /// The database failed; see the source.
    #[error("storage failed")]
    #[fault(transparent)]
    Storage(#[from] StorageError),
}
