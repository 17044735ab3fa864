//! The administrative API: its services and their tasks.

use std::sync::Arc;
use std::time::Duration;

use flowsdk_auth::audit::{AuditChangeLog, AuditRetention, channel};
use flowsdk_auth::sms::SmsSender;
use flowsdk_auth::token::Tokens;
use flowsdk_channels::channel_number::FormKeyRegistry;
use flowsdk_channels::template::TemplateProvider;
use flowsdk_core::admin::session::TraceRetention;
use flowsdk_core::change::ChangeLog;
use flowsdk_core::fault::{BoxError, Chain};
use flowsdk_core::flow::FlowChecker;
use flowsdk_core::media::MediaUpkeep;
use flowsdk_core::transfer::draft::DraftExpiry;
use flowsdk_crypto::FormKeyMaker;
use flowsdk_helpdesk::dispatch::Dispatcher as TicketDispatcher;
use flowsdk_store::sql::SqlStore;

use super::Part;
use crate::api::body::LargeBodies;
use crate::api::heavy::HeavyWork;
use crate::api::idempotency::Digests;
use crate::api::limits::RequestLimits;
use crate::api::state::{self, Authenticator};
use crate::api::{ApiParts, ApiState, Services};
use crate::app::ground::Ground;
use crate::config::{Administration, Role, Section};

/// Key pairs that may be waited for; one is made at a time.
const FORM_KEYS_WAITING: usize = 8;
/// Audit records that may wait for storage.
const AUDIT_CAPACITY: usize = 10_000;
const RETENTION_PERIOD: Duration = Duration::from_secs(60 * 60);
const MEDIA_PERIOD: Duration = Duration::from_secs(10 * 60);
const LAST_USED_PERIOD: Duration = Duration::from_secs(10);
const LIMITS_PERIOD: Duration = Duration::from_secs(60);

/// The administrative API with its page.
const API: Role = Role { names: &["api"], together: None, sections: &[Section::Administration] };

pub(super) const PART: Part =
    Part { role: API, reads: &[], start: |ground| Box::pin(async { start(ground) }) };

fn start(ground: &mut Ground) -> Result<(), BoxError> {
    let http = ground.http()?;
    let checker = FlowChecker::with_scripts(ground.scripts()?);
    let checker = || checker.clone();
    let config = Arc::clone(&ground.config);
    let administration = config.administration.as_ref().ok_or("the API needs the settings of its users")?;
    let (supervisor, cx) = (&ground.supervisor, || ground.cx.clone());
    let store = || Arc::clone(&ground.store);
    let key = || Arc::clone(&config.master_key);
    let settings = config.api.login;
    let tokens = Arc::new(Tokens::new(administration.tokens.clone()));
    let (audit, writer) = channel(store(), AUDIT_CAPACITY);
    supervisor.records("audit log", writer.run(supervisor.records.clone()));
    let changes: Arc<dyn ChangeLog> = Arc::new(AuditChangeLog::new(cx(), audit.clone()));
    let changes = || Arc::clone(&changes);

    let dispatcher = Arc::new(TicketDispatcher::new(store(), cx()));
    let dispatcher = || Arc::clone(&dispatcher);

    let authenticator = Arc::new(Authenticator::new(store(), cx(), Arc::clone(&tokens)));
    let logins = state::Logins::new(
        store(),
        cx(),
        ground.hasher.clone(),
        tokens,
        Arc::clone(&ground.attempts),
        audit.clone(),
        settings,
    )
    // A restart must not make a used token good again.
    .with_marks_in(Arc::clone(&ground.kv));
    let (recoveries, sender) = state::Recoveries::new(
        store(),
        cx(),
        ground.hasher.clone(),
        sms(ground, administration)?,
        Arc::clone(&ground.attempts),
        audit.clone(),
        settings,
    );
    supervisor.work("password recovery", sender.run(supervisor.work.clone()));

    let maker = FormKeyMaker::new(1, FORM_KEYS_WAITING);
    let limits = RequestLimits::new(config.api.rate).map(Arc::new);
    let users =
        state::Users::new(store(), cx(), ground.hasher.clone(), audit.clone(), settings.password_cost);
    let retention = AuditRetention::new(store(), cx(), audit.clone(), config.api.audit_retention);
    let traces = TraceRetention::new(store(), config.api.trace_retention);
    let webchat_channels = state::WebchatChannels::new(store(), cx(), key(), changes()).checked_by(checker());
    let transfers = state::Transfers::new(store(), cx(), key(), changes()).checked_by(checker());
    let transfers = Arc::new(transfers);
    let provider: Arc<dyn TemplateProvider> = match &ground.adapters.templates {
        Some(provider) => Arc::clone(provider),
        None => Arc::new(super::phone::graph_api(ground)?),
    };
    let registry: Arc<dyn FormKeyRegistry> = match &ground.adapters.form_keys {
        Some(registry) => Arc::clone(registry),
        None => Arc::new(super::phone::graph_api(ground)?),
    };
    retain(ground, retention, traces);
    expire(ground);
    delete_files(ground);
    housekeeping(ground, &authenticator, limits.as_ref());
    let presence = Arc::new(state::Presence::new(store(), cx(), dispatcher()));
    let desk = state::Desk::new(store(), cx(), changes(), ground.handover(), dispatcher());
    let desk = Arc::new(desk);
    let monitoring = Arc::new(state::Monitoring::new(store(), cx()));
    let socket =
        (Arc::clone(&authenticator), Arc::clone(&desk), Arc::clone(&presence), Arc::clone(&monitoring));
    let services = Services {
        authenticator,
        logins: Arc::new(logins),
        recoveries: Arc::new(recoveries),
        users: Arc::new(users),
        groups: Arc::new(state::Groups::new(store(), cx(), audit.clone())),
        api_clients: Arc::new(state::ApiClients::new(store(), cx(), audit.clone())),
        user_devices: Arc::new(state::UserDevices::new(store(), cx(), audit)),
        audit_logs: Arc::new(state::AuditLogs::new(store())),
        routers: Arc::new(state::Routers::new(store(), cx(), key(), changes())),
        flows: Arc::new(state::Flows::new(store(), cx(), changes()).checked_by(checker())),
        variables: Arc::new(state::Variables::new(store(), cx(), key(), changes())),
        event_definitions: Arc::new(state::EventDefinitions::new(store(), cx(), changes())),
        import_drafts: Arc::new(state::ImportDrafts::new(Arc::clone(&transfers))),
        transfers,
        webchat_channels: Arc::new(webchat_channels),
        channel_numbers: Arc::new(state::ChannelNumbers::new(store(), cx(), key(), maker, changes())),
        form_keys: Arc::new(state::FormKeyRegistration::new(store(), registry, key(), cx(), changes())),
        templates: Arc::new(state::Templates::new(store(), cx(), changes())),
        template_sync: Arc::new(state::TemplateSync::new(store(), provider, key(), cx(), changes())),
        dispatches: Arc::new(state::Dispatches::new(store(), cx(), changes())),
        forms: Arc::new(state::Forms::new(store(), cx(), changes())),
        channel_type_mappings: Arc::new(state::ChannelTypeMappings::new(store(), cx(), changes())),
        llm_credentials: Arc::new(state::LlmCredentials::new(store(), cx(), key(), changes())),
        integrations: Arc::new(state::Integrations::new(store(), cx(), key(), http, changes())),
        observability: Arc::new(state::Observability::new(store(), cx(), key(), changes())),
        sessions: Arc::new(state::Sessions::new(store(), cx(), changes(), ground.handover())),
        chats: Arc::new(state::Chats::new(store(), Arc::clone(&ground.media_links))),
        media_files: Arc::new(ground.media_files(changes())),
        contacts: Arc::new(state::Contacts::new(store(), cx(), changes())),
        saved_filters: Arc::new(state::SavedFilters::new(store(), cx(), changes())),
        opt_ins: Arc::new(state::OptIns::new(store(), cx(), changes())),
        desk_agents: Arc::new(state::DeskAgents::new(store(), cx(), changes())),
        agent_groups: Arc::new(state::AgentGroups::new(store(), cx(), changes())),
        presence,
        queues: Arc::new(state::Queues::new(store(), cx(), changes(), dispatcher())),
        tags: Arc::new(state::Tags::new(store(), cx(), changes())),
        close_reasons: Arc::new(state::CloseReasons::new(store(), cx(), changes())),
        ai_agents: Arc::new(state::AiAgents::new(store(), cx(), changes())),
        system_prompts: Arc::new(state::SystemPrompts::new(store(), cx(), changes())),
        guardrails: Arc::new(state::Guardrails::new(store(), cx(), changes())),
        knowledge: Arc::new(state::Knowledge::new(
            store(),
            cx(),
            super::agent::embedders(ground)?,
            changes(),
        )),
        ai_agent_routes: Arc::new(state::AgentRoutes::new(store(), cx(), changes())),
        ai_turns: Arc::new(state::AgentTurns::new(store())),
        ai_prices: Arc::new(state::ModelPrices::new(store(), cx(), changes())),
        ai_usage: Arc::new(state::ModelUsages::new(store(), cx())),
        ai_budgets: Arc::new(state::Budgets::new(store(), cx(), changes())),
        sentiment_judge: Arc::new(state::SentimentJudge::new(store(), cx(), super::agent::models(ground)?)),
        quick_replies: Arc::new(state::QuickReplies::new(store(), cx(), changes())),
        distribution_rules: Arc::new(state::DistributionRules::new(store(), cx(), changes())),
        desk,
        monitoring,
        boards: Arc::new(state::Boards::new(store(), cx())),
        reports: Arc::new(state::Reports::new(store(), cx())),
        notes: Arc::new(state::Notes::new(store(), cx())),
        stuck_handoffs: Arc::new(state::StuckHandoffs::new(store())),
        webhooks: Arc::new(state::Webhooks::new(store(), cx(), key(), changes())),
        dead_letters: Arc::new(state::DeadLetters::new(store(), cx()).noted_in(changes())),
    };
    let routes = crate::api::router(ApiState::new(ApiParts {
        services,
        changes: changes(),
        limits,
        digests: Digests::new(&administration.tokens.access_secret),
        large_bodies: LargeBodies::default(),
        heavy_work: HeavyWork::default(),
        trusted_proxies: config.webchat.trusted_proxies,
    }));
    ground.surface.add_routes(routes);
    let (authenticator, desk, presence, monitoring) = socket;
    super::desk::serve(ground, authenticator, desk, presence, monitoring);
    Ok(())
}

fn sms(ground: &Ground, administration: &Administration) -> Result<Arc<dyn SmsSender>, BoxError> {
    match &ground.adapters.sms {
        Some(sender) => Ok(Arc::clone(sender)),
        None => crate::sms::sender(&administration.sms),
    }
}

/// Deletes old audit records and traces.
fn retain(ground: &Ground, retention: AuditRetention<SqlStore>, traces: TraceRetention<SqlStore>) {
    let (traces, clock) = (Arc::new(traces), ground.cx.clone());
    ground.every("trace retention", RETENTION_PERIOD, move || {
        let (traces, now) = (Arc::clone(&traces), clock.now());
        async move {
            if let Err(error) = traces.tick(now).await {
                tracing::warn!(error = %Chain(&error), "old traces stay for now");
            }
        }
    });
    let (retention, cx) = (Arc::new(retention), ground.cx.clone());
    ground.every("audit retention", RETENTION_PERIOD, move || {
        let (retention, now) = (Arc::clone(&retention), cx.now());
        async move {
            if let Err(error) = retention.tick(now).await {
                tracing::warn!(error = %Chain(&error), "old audit records stay for now");
            }
        }
    });
}

/// Deletes import drafts when they expire.
fn expire(ground: &Ground) {
    let (drafts, clock) = (Arc::new(DraftExpiry::new(Arc::clone(&ground.store))), ground.cx.clone());
    ground.every("import drafts", RETENTION_PERIOD, move || {
        let (drafts, now) = (Arc::clone(&drafts), clock.now());
        async move {
            if let Err(error) = drafts.tick(now).await {
                tracing::warn!(error = %Chain(&error), "expired import drafts stay for now");
            }
        }
    });
}

/// Deletes the contents of files that nobody names any more, or whose time is over.
fn delete_files(ground: &Ground) {
    let (store, blobs) = (Arc::clone(&ground.store), Arc::clone(&ground.blobs));
    let upkeep = Arc::new(MediaUpkeep::new(store, blobs, ground.cx.clone(), ground.config.media.retention));
    ground.every_alone("media-upkeep", "media upkeep", MEDIA_PERIOD, move || {
        let upkeep = Arc::clone(&upkeep);
        async move {
            if let Err(error) = upkeep.tick().await {
                tracing::warn!(error = %Chain(&error), "contents of files that are to go stay for now");
            }
        }
    });
}

fn housekeeping(ground: &Ground, authenticator: &Arc<Authenticator>, limits: Option<&Arc<RequestLimits>>) {
    let authenticator = Arc::clone(authenticator);
    ground.every("last use of API clients", LAST_USED_PERIOD, move || {
        let authenticator = Arc::clone(&authenticator);
        async move {
            if let Err(error) = authenticator.flush_last_used().await {
                tracing::warn!(error = %Chain(&error), "the last use of API clients waits");
            }
        }
    });
    if let Some(limits) = limits.map(Arc::clone) {
        ground.every("API limits", LIMITS_PERIOD, move || {
            limits.forget_quiet();
            async {}
        });
    }
}

#[cfg(test)]
mod tests;
