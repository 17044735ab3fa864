//! The accessors of a transaction: it implements every repository itself.

use flowsdk_auth::access::{AccessRepository, HasAccess};
use flowsdk_auth::api_client::{ApiClientRepository, HasApiClients};
use flowsdk_auth::audit::{AuditRepository, HasAuditLogs};
use flowsdk_auth::device::{HasUserDevices, UserDeviceRepository};
use flowsdk_auth::group::{GroupRepository, HasGroups};
use flowsdk_auth::recovery::{HasPasswordRecoveries, PasswordRecoveryRepository};
use flowsdk_auth::schedule::{HasLoginSchedules, LoginScheduleRepository};
use flowsdk_auth::user::{HasUsers, UserRepository};
use flowsdk_channels::channel_number::{ChannelNumberRepository, HasChannelNumbers};
use flowsdk_channels::template::{HasTemplates, TemplateRepository};
use flowsdk_channels::webchat::channels::{HasWebchatCatalog, WebchatCatalog};
use flowsdk_channels::webchat::{HasWebchat, WebchatRepository};
use flowsdk_core::chat::{
    ChatCatalog, ChatRepository, ChatTagRepository, HasChatCatalog, HasChatTags, HasChats,
};
use flowsdk_core::contact::{
    ContactCatalog, ContactInsightRepository, ContactRepository, HasContactCatalog, HasContactInsights,
    HasContacts, HasOptInCatalog, HasOptIns, OptInCatalog, OptInRepository,
};
use flowsdk_core::credential::{HasLlmCredentials, LlmCredentialRepository};
use flowsdk_core::flow::{
    FlowCatalog, FlowRepository, HasFlowCatalog, HasFlows, HasTrackedEvents, TrackedEventRepository,
};
use flowsdk_core::idempotency::{HasIdempotency, IdempotencyRepository};
use flowsdk_core::in_use::{HasReferences, References};
use flowsdk_core::integration::{HasIntegrations, IntegrationRepository};
use flowsdk_core::message::{HasMessages, MessageRepository};
use flowsdk_core::observability::{HasObservability, ObservabilityRepository};
use flowsdk_core::router::{HasRouterCatalog, HasRouters, RouterCatalog, RouterRepository};
use flowsdk_core::session::{
    HasLiveSessions, HasSessionCatalog, HasSessions, HasTraces, LiveSessions, SessionCatalog,
    SessionRepository, SessionTraceRepository,
};
use flowsdk_core::stream::dead_letter::{DeadLetterRepository, HasDeadLetters};
use flowsdk_core::stream::outbox::{HasOutbox, Outbox};
use flowsdk_core::transfer::{ChannelTransfer, HasChannelTransfer};
use flowsdk_core::variable::{HasVariables, VariableRepository};

use super::SqlTx;

macro_rules! has {
    ($($accessor:ident::$name:ident -> $repository:ident),* $(,)?) => {$(
        impl $accessor for SqlTx {
            fn $name(&mut self) -> &mut dyn $repository {
                self
            }
        }
    )*};
}

has! {
    HasContacts::contacts -> ContactRepository,
    HasContactCatalog::contact_catalog -> ContactCatalog,
    HasContactInsights::contact_insights -> ContactInsightRepository,
    HasOptIns::opt_ins -> OptInRepository,
    HasOptInCatalog::opt_in_catalog -> OptInCatalog,
    HasChats::chats -> ChatRepository,
    HasChatCatalog::chat_catalog -> ChatCatalog,
    HasChatTags::chat_tags -> ChatTagRepository,
    HasMessages::messages -> MessageRepository,
    HasSessions::sessions -> SessionRepository,
    HasSessionCatalog::session_catalog -> SessionCatalog,
    HasLiveSessions::live_sessions -> LiveSessions,
    HasTraces::traces -> SessionTraceRepository,
    HasRouters::routers -> RouterRepository,
    HasRouterCatalog::router_catalog -> RouterCatalog,
    HasFlows::flows -> FlowRepository,
    HasFlowCatalog::flow_catalog -> FlowCatalog,
    HasTrackedEvents::tracked_events -> TrackedEventRepository,
    HasVariables::variables -> VariableRepository,
    HasChannelTransfer::channel_transfer -> ChannelTransfer,
    HasLlmCredentials::llm_credentials -> LlmCredentialRepository,
    HasChannelNumbers::channel_numbers -> ChannelNumberRepository,
    HasTemplates::templates -> TemplateRepository,
    HasIntegrations::integrations -> IntegrationRepository,
    HasObservability::observability -> ObservabilityRepository,
    HasIdempotency::idempotency -> IdempotencyRepository,
    HasReferences::references -> References,
    HasOutbox::outbox -> Outbox,
    HasDeadLetters::dead_letters -> DeadLetterRepository,
    HasAccess::access -> AccessRepository,
    HasUsers::users -> UserRepository,
    HasGroups::groups -> GroupRepository,
    HasApiClients::api_clients -> ApiClientRepository,
    HasUserDevices::user_devices -> UserDeviceRepository,
    HasPasswordRecoveries::password_recoveries -> PasswordRecoveryRepository,
    HasLoginSchedules::login_schedules -> LoginScheduleRepository,
    HasAuditLogs::audit_logs -> AuditRepository,
    HasWebchat::webchat -> WebchatRepository,
    HasWebchatCatalog::webchat_catalog -> WebchatCatalog,
}
