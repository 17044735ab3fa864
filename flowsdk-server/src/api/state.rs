//! The state of the handlers.

use std::sync::Arc;

use axum::extract::FromRef;
use flowsdk_store::sql::SqlStore;

use super::idempotency::Digests;
use super::limits::RequestLimits;

/// The services over the store of this server.
pub type Authenticator = flowsdk_auth::access::Authenticator<SqlStore>;
/// Getting in and out.
pub type Logins = flowsdk_auth::login::Logins<SqlStore>;
/// Password recovery.
pub type Recoveries = flowsdk_auth::recovery::Recoveries<SqlStore>;
/// Users.
pub type Users = flowsdk_auth::user::Users<SqlStore>;
/// Groups.
pub type Groups = flowsdk_auth::group::Groups<SqlStore>;
/// API clients.
pub type ApiClients = flowsdk_auth::api_client::ApiClients<SqlStore>;
/// Devices of users.
pub type UserDevices = flowsdk_auth::device::UserDevices<SqlStore>;
/// The audit log.
pub type AuditLogs = flowsdk_auth::audit::AuditLogs<SqlStore>;
/// Routers.
pub type Routers = flowsdk_core::admin::router::Routers<SqlStore>;
/// Flows.
pub type Flows = flowsdk_core::admin::flow::Flows<SqlStore>;
/// Channels of the web chat.
pub type WebchatChannels = flowsdk_channels::webchat::channels::WebchatChannels<SqlStore>;
/// Numbers of the phone channel.
pub type ChannelNumbers = flowsdk_channels::channel_number::ChannelNumbers<SqlStore>;
/// Message templates.
pub type Templates = flowsdk_channels::template::Templates<SqlStore>;
/// Credentials of model providers.
pub type LlmCredentials = flowsdk_core::credential::LlmCredentials<SqlStore>;
/// Integrations of routers.
pub type Integrations = flowsdk_core::integration::Integrations<SqlStore>;
/// The settings of observability.
pub type Observability = flowsdk_core::observability::Observability<SqlStore>;
/// Exports and imports.
pub type Transfers = flowsdk_core::transfer::Transfers<SqlStore>;
/// Static variables.
pub type Variables = flowsdk_core::admin::variable::Variables<SqlStore>;
/// Dead letters.
pub type DeadLetters = flowsdk_core::stream::dead_letter::DeadLetters<SqlStore>;
/// Sessions.
pub type Sessions = flowsdk_core::admin::session::Sessions<SqlStore>;
/// Chats and messages.
pub type Chats = flowsdk_core::admin::chat::Chats<SqlStore>;
/// Contacts.
pub type Contacts = flowsdk_core::admin::contact::Contacts<SqlStore>;
/// Opt-ins.
pub type OptIns = flowsdk_core::admin::contact::OptIns<SqlStore>;

/// The services and settings of the API.
#[derive(Debug)]
#[allow(missing_docs, reason = "the types say it")]
pub struct ApiParts {
    pub authenticator: Arc<Authenticator>,
    pub logins: Arc<Logins>,
    pub recoveries: Arc<Recoveries>,
    pub users: Arc<Users>,
    pub groups: Arc<Groups>,
    pub api_clients: Arc<ApiClients>,
    pub user_devices: Arc<UserDevices>,
    pub audit_logs: Arc<AuditLogs>,
    pub routers: Arc<Routers>,
    pub flows: Arc<Flows>,
    pub variables: Arc<Variables>,
    pub transfers: Arc<Transfers>,
    pub webchat_channels: Arc<WebchatChannels>,
    pub sessions: Arc<Sessions>,
    pub chats: Arc<Chats>,
    pub contacts: Arc<Contacts>,
    pub opt_ins: Arc<OptIns>,
    pub channel_numbers: Arc<ChannelNumbers>,
    pub templates: Arc<Templates>,
    pub llm_credentials: Arc<LlmCredentials>,
    pub integrations: Arc<Integrations>,
    pub observability: Arc<Observability>,
    pub dead_letters: Arc<DeadLetters>,
    /// None: nothing is limited.
    pub limits: Option<Arc<RequestLimits>>,
    pub digests: Digests,
    /// `TRUSTED_PROXIES`.
    pub trusted_proxies: u32,
}

/// [`ApiParts`], cheap to clone: every request does.
#[derive(Debug, Clone)]
pub struct ApiState(Arc<ApiParts>);

impl ApiState {
    /// The state of a server with these parts.
    pub fn new(parts: ApiParts) -> Self {
        Self(Arc::new(parts))
    }

    pub(super) fn authenticator(&self) -> &Authenticator {
        &self.0.authenticator
    }

    pub(super) fn limits(&self) -> Option<&RequestLimits> {
        self.0.limits.as_deref()
    }

    pub(super) fn digests(&self) -> &Digests {
        &self.0.digests
    }

    pub(super) fn trusted_proxies(&self) -> u32 {
        self.0.trusted_proxies
    }
}

macro_rules! services {
    ($($field:ident: $service:ty),* $(,)?) => {$(
        impl FromRef<ApiState> for Arc<$service> {
            fn from_ref(state: &ApiState) -> Self {
                Arc::clone(&state.0.$field)
            }
        }
    )*};
}

services! {
    logins: Logins,
    recoveries: Recoveries,
    users: Users,
    groups: Groups,
    api_clients: ApiClients,
    user_devices: UserDevices,
    audit_logs: AuditLogs,
    routers: Routers,
    flows: Flows,
    variables: Variables,
    transfers: Transfers,
    webchat_channels: WebchatChannels,
    sessions: Sessions,
    chats: Chats,
    contacts: Contacts,
    opt_ins: OptIns,
    channel_numbers: ChannelNumbers,
    templates: Templates,
    llm_credentials: LlmCredentials,
    integrations: Integrations,
    observability: Observability,
    dead_letters: DeadLetters,
}
