//! The state of the handlers.

use std::sync::Arc;

use axum::extract::FromRef;
use flowsdk_core::change::ChangeLog;
use flowsdk_store::sql::SqlStore;

use super::body::LargeBodies;
use super::heavy::HeavyWork;
use super::idempotency::Digests;
use super::limits::RequestLimits;

/// The services over the store of this server: of each its type, its field in [`Services`] and how a handler takes it
/// from the state.
macro_rules! services {
    ($($field:ident: $service:ident in $($module:ident)::+,)*) => {
        $(
            #[allow(missing_docs, reason = "the service's own docs say it")]
            pub type $service = $($module)::+::$service<SqlStore>;

            impl FromRef<ApiState> for Arc<$service> {
                fn from_ref(state: &ApiState) -> Self {
                    Arc::clone(&state.0.services.$field)
                }
            }
        )*

        /// The services of the API.
        #[derive(Debug)]
        #[allow(missing_docs, reason = "the types say it")]
        pub struct Services {
            $(pub $field: Arc<$service>,)*
        }
    };
}

services! {
    authenticator: Authenticator in flowsdk_auth::access,
    logins: Logins in flowsdk_auth::login,
    recoveries: Recoveries in flowsdk_auth::recovery,
    users: Users in flowsdk_auth::user,
    groups: Groups in flowsdk_auth::group,
    api_clients: ApiClients in flowsdk_auth::api_client,
    user_devices: UserDevices in flowsdk_auth::device,
    audit_logs: AuditLogs in flowsdk_auth::audit,
    routers: Routers in flowsdk_core::admin::router,
    flows: Flows in flowsdk_core::admin::flow,
    variables: Variables in flowsdk_core::admin::variable,
    event_definitions: EventDefinitions in flowsdk_core::event_definition,
    transfers: Transfers in flowsdk_core::transfer,
    import_drafts: ImportDrafts in flowsdk_core::transfer::draft,
    webchat_channels: WebchatChannels in flowsdk_channels::webchat::channels,
    sessions: Sessions in flowsdk_core::admin::session,
    chats: Chats in flowsdk_core::admin::chat,
    media_files: MediaFiles in flowsdk_core::media,
    contacts: Contacts in flowsdk_core::admin::contact,
    saved_filters: SavedFilters in flowsdk_core::saved_filter,
    opt_ins: OptIns in flowsdk_core::admin::contact,
    channel_numbers: ChannelNumbers in flowsdk_channels::channel_number,
    form_keys: FormKeyRegistration in flowsdk_channels::channel_number,
    templates: Templates in flowsdk_channels::template,
    template_sync: TemplateSync in flowsdk_channels::template,
    dispatches: Dispatches in flowsdk_channels::phone::dispatch,
    forms: Forms in flowsdk_channels::form,
    channel_type_mappings: ChannelTypeMappings in flowsdk_channels::type_mapping,
    llm_credentials: LlmCredentials in flowsdk_core::credential,
    integrations: Integrations in flowsdk_core::integration,
    observability: Observability in flowsdk_core::observability,
    desk_agents: DeskAgents in flowsdk_helpdesk::agent,
    agent_groups: AgentGroups in flowsdk_helpdesk::agent_group,
    presence: Presence in flowsdk_helpdesk::agent,
    queues: Queues in flowsdk_helpdesk::queue,
    distribution_rules: DistributionRules in flowsdk_helpdesk::rule,
    desk: Desk in flowsdk_helpdesk::desk,
    tags: Tags in flowsdk_helpdesk::tag,
    close_reasons: CloseReasons in flowsdk_helpdesk::close_reason,
    ai_agents: AiAgents in flowsdk_agent::agent,
    system_prompts: SystemPrompts in flowsdk_agent::prompt,
    guardrails: Guardrails in flowsdk_agent::guardrail,
    knowledge: Knowledge in flowsdk_agent::knowledge,
    ai_agent_routes: AgentRoutes in flowsdk_agent::route,
    ai_turns: AgentTurns in flowsdk_agent::ledger,
    ai_prices: ModelPrices in flowsdk_agent::price,
    ai_usage: ModelUsages in flowsdk_agent::usage,
    ai_budgets: Budgets in flowsdk_agent::budget,
    sentiment_judge: SentimentJudge in flowsdk_agent::sentiment,
    quick_replies: QuickReplies in flowsdk_helpdesk::quick_reply,
    monitoring: Monitoring in flowsdk_helpdesk::monitoring,
    boards: Boards in flowsdk_helpdesk::board,
    reports: Reports in flowsdk_helpdesk::report,
    notes: Notes in flowsdk_helpdesk::note,
    stuck_handoffs: StuckHandoffs in flowsdk_helpdesk::intake,
    webhooks: Webhooks in flowsdk_webhooks::webhook,
    dead_letters: DeadLetters in flowsdk_core::stream::dead_letter,
}

/// The services and settings of the API.
#[derive(Debug)]
#[allow(missing_docs, reason = "the types say it")]
pub struct ApiParts {
    pub services: Services,
    /// Where refused attempts are noted.
    pub changes: Arc<dyn ChangeLog>,
    /// None: nothing is limited.
    pub limits: Option<Arc<RequestLimits>>,
    pub digests: Digests,
    /// Who may send a large body now.
    pub large_bodies: LargeBodies,
    /// Who may have a flow checked, compared or drawn now.
    pub heavy_work: HeavyWork,
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
        &self.0.services.authenticator
    }

    pub(super) fn changes(&self) -> &Arc<dyn ChangeLog> {
        &self.0.changes
    }

    pub(super) fn limits(&self) -> Option<&RequestLimits> {
        self.0.limits.as_deref()
    }

    pub(super) fn digests(&self) -> &Digests {
        &self.0.digests
    }

    pub(super) fn heavy_work(&self) -> &HeavyWork {
        &self.0.heavy_work
    }

    pub(super) fn large_bodies(&self) -> &LargeBodies {
        &self.0.large_bodies
    }

    pub(super) fn trusted_proxies(&self) -> u32 {
        self.0.trusted_proxies
    }
}
