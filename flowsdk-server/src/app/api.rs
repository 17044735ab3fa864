//! The administrative API: its services and their tasks.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use flowsdk_auth::audit::{AuditChangeLog, AuditRetention, channel};
use flowsdk_auth::token::Tokens;
use flowsdk_core::admin::session::TraceRetention;
use flowsdk_core::change::ChangeLog;
use flowsdk_core::context::OpContext;
use flowsdk_core::fault::{BoxError, Chain};
use flowsdk_core::flow::HttpCaller;
use flowsdk_core::kv::KeyValue;
use flowsdk_crypto::{FormKeyMaker, PasswordHasher};
use flowsdk_outside::http::GuardedHttp;
use flowsdk_store::sql::SqlStore;

use crate::api::idempotency::Digests;
use crate::api::limits::RequestLimits;
use crate::api::state::{
    ApiClients, AuditLogs, Authenticator, ChannelNumbers, Chats, Contacts, DeadLetters, Flows, Groups,
    Integrations, LlmCredentials, Logins, Observability, OptIns, Recoveries, Routers, Sessions, Templates,
    Transfers, UserDevices, Users, Variables, WebchatChannels,
};
use crate::api::{ApiParts, ApiState};
use crate::config::Config;
use crate::supervisor::Supervisor;

/// Key pairs that may be waited for; one is made at a time.
const FORM_KEYS_WAITING: usize = 8;
/// Audit records that may wait for storage.
const AUDIT_CAPACITY: usize = 10_000;
const RETENTION_PERIOD: Duration = Duration::from_secs(60 * 60);
const LAST_USED_PERIOD: Duration = Duration::from_secs(10);
const LIMITS_PERIOD: Duration = Duration::from_secs(60);

/// Short-lived facts of the API.
pub(super) struct Keys {
    /// Failed attempts; they may be forgotten with the process.
    pub(super) attempts: Arc<dyn KeyValue>,
    /// Refresh tokens that were used; they may not.
    pub(super) rotation: Arc<dyn KeyValue>,
}

/// The routes of the API over `store`.
///
/// # Errors
/// The sender of text messages or the client for integrations cannot be built.
pub(super) fn start(
    config: &Config,
    cx: &OpContext,
    supervisor: &Supervisor,
    store: &Arc<SqlStore>,
    hasher: &PasswordHasher,
    keys: Keys,
) -> Result<Router, BoxError> {
    let store = || Arc::clone(store);
    let key = || Arc::clone(&config.master_key);
    let settings = config.api.login;
    let tokens = Arc::new(Tokens::new(config.tokens.clone()));
    let (audit, writer) = channel(store(), AUDIT_CAPACITY);
    supervisor.records("audit log", writer.run(supervisor.records.clone()));
    let changes: Arc<dyn ChangeLog> = Arc::new(AuditChangeLog::new(cx.clone(), audit.clone()));

    let authenticator = Arc::new(Authenticator::new(store(), cx.clone(), Arc::clone(&tokens)));
    let logins = Logins::new(
        store(),
        cx.clone(),
        hasher.clone(),
        tokens,
        Arc::clone(&keys.attempts),
        audit.clone(),
        settings,
    )
    .with_marks_in(keys.rotation);
    let (recoveries, sender) = Recoveries::new(
        store(),
        cx.clone(),
        hasher.clone(),
        crate::sms::sender(&config.sms)?,
        keys.attempts,
        audit.clone(),
        settings,
    );
    supervisor.work("password recovery", sender.run(supervisor.work.clone()));

    // The same servers are allowed as for flows.
    let http: Arc<dyn HttpCaller> = Arc::new(GuardedHttp::new(config.flow_http_allowed_hosts.clone())?);
    let maker = FormKeyMaker::new(1, FORM_KEYS_WAITING);
    let changes = || Arc::clone(&changes);
    let limits = RequestLimits::new(config.api.rate).map(Arc::new);
    let users = Users::new(store(), cx.clone(), hasher.clone(), audit.clone(), settings.password_cost);
    let retention = AuditRetention::new(store(), cx.clone(), audit.clone(), config.api.audit_retention);
    let traces = TraceRetention::new(store(), config.api.trace_retention);
    housekeeping(supervisor, cx, &authenticator, limits.as_ref(), retention, traces);
    crate::api::router(ApiState::new(ApiParts {
        authenticator,
        logins: Arc::new(logins),
        recoveries: Arc::new(recoveries),
        users: Arc::new(users),
        groups: Arc::new(Groups::new(store(), cx.clone())),
        api_clients: Arc::new(ApiClients::new(store(), cx.clone(), audit)),
        user_devices: Arc::new(UserDevices::new(store(), cx.clone())),
        audit_logs: Arc::new(AuditLogs::new(store())),
        routers: Arc::new(Routers::new(store(), cx.clone(), key(), changes())),
        flows: Arc::new(Flows::new(store(), cx.clone(), changes())),
        variables: Arc::new(Variables::new(store(), cx.clone(), key(), changes())),
        transfers: Arc::new(Transfers::new(store(), cx.clone(), key(), changes())),
        webchat_channels: Arc::new(WebchatChannels::new(store(), cx.clone(), key(), changes())),
        channel_numbers: Arc::new(ChannelNumbers::new(store(), cx.clone(), key(), maker, changes())),
        templates: Arc::new(Templates::new(store(), cx.clone(), changes())),
        llm_credentials: Arc::new(LlmCredentials::new(store(), cx.clone(), key(), changes())),
        integrations: Arc::new(Integrations::new(store(), cx.clone(), key(), http, changes())),
        observability: Arc::new(Observability::new(store(), cx.clone(), key())),
        dead_letters: Arc::new(DeadLetters::new(store(), cx.clone())),
        sessions: Arc::new(Sessions::new(store(), cx.clone())),
        chats: Arc::new(Chats::new(store())),
        contacts: Arc::new(Contacts::new(store(), cx.clone())),
        opt_ins: Arc::new(OptIns::new(store(), cx.clone())),
        limits,
        digests: Digests::new(&config.tokens.access_secret),
        trusted_proxies: config.webchat.trusted_proxies,
    }))
}

fn housekeeping(
    supervisor: &Supervisor,
    cx: &OpContext,
    authenticator: &Arc<Authenticator>,
    limits: Option<&Arc<RequestLimits>>,
    retention: AuditRetention<SqlStore>,
    traces: TraceRetention<SqlStore>,
) {
    let (traces, clock) = (Arc::new(traces), cx.clone());
    supervisor.periodic("trace retention", RETENTION_PERIOD, move || {
        let (traces, now) = (Arc::clone(&traces), clock.now());
        async move {
            if let Err(error) = traces.tick(now).await {
                tracing::warn!(error = %Chain(&error), "old traces stay for now");
            }
        }
    });
    let (retention, cx) = (Arc::new(retention), cx.clone());
    supervisor.periodic("audit retention", RETENTION_PERIOD, move || {
        let (retention, now) = (Arc::clone(&retention), cx.now());
        async move {
            if let Err(error) = retention.tick(now).await {
                tracing::warn!(error = %Chain(&error), "old audit records stay for now");
            }
        }
    });
    let authenticator = Arc::clone(authenticator);
    supervisor.periodic("last use of API clients", LAST_USED_PERIOD, move || {
        let authenticator = Arc::clone(&authenticator);
        async move {
            if let Err(error) = authenticator.flush_last_used().await {
                tracing::warn!(error = %Chain(&error), "the last use of API clients waits");
            }
        }
    });
    if let Some(limits) = limits.map(Arc::clone) {
        supervisor.periodic("API limits", LIMITS_PERIOD, move || {
            limits.forget_quiet();
            async {}
        });
    }
}

#[cfg(test)]
mod tests;
