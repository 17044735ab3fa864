//! The web chat: its services, routes and tasks.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use flowsdk_channels::webchat::{Gateway, Ingress, Limits, TestChat, Visitors};
use flowsdk_core::context::OpContext;
use flowsdk_crypto::PasswordHasher;
use flowsdk_store::sql::SqlStore;

use crate::config::Config;
use crate::socket::{Front, OrderedConfig, SocketLimits, builder, in_order};
use crate::supervisor::Supervisor;
use crate::webchat::{SOCKET_PATH, WebchatSocket};

/// How often gathered statuses are passed on, deliveries settled and quiet limits forgotten.
const STATUS_PERIOD: Duration = Duration::from_millis(100);
const DELIVERY_PERIOD: Duration = Duration::from_millis(100);
const LIMITS_PERIOD: Duration = Duration::from_secs(60);

/// What differs between one process and many.
pub(crate) struct Parts {
    pub(super) gateway: Arc<Gateway>,
    pub(super) ingress: Arc<dyn Ingress>,
}

/// The routes of the web chat over `store`, and its sockets.
pub(super) fn start(
    config: &Config,
    cx: &OpContext,
    supervisor: &Supervisor,
    store: &Arc<SqlStore>,
    hasher: &PasswordHasher,
    parts: Parts,
) -> (Router, socketioxide::SocketIo) {
    let limits = Limits::new(config.webchat.limits);
    let trusted_proxies = config.webchat.trusted_proxies;
    let visitors = Arc::new(Visitors::new(
        Arc::clone(store),
        cx.clone(),
        Arc::clone(&config.master_key),
        hasher.clone(),
        Arc::clone(&limits),
    ));
    housekeeping(supervisor, &parts.gateway, &limits);
    let test_chat = Arc::new(TestChat::new(
        Arc::clone(store),
        Arc::clone(&visitors),
        Arc::clone(&parts.ingress),
        Arc::clone(&limits),
    ));
    let handler = WebchatSocket::new(
        Arc::clone(store),
        Arc::clone(&visitors),
        parts.gateway,
        parts.ingress,
        limits,
        trusted_proxies,
    );
    let (service, io) = builder(&SocketLimits::default()).req_path(SOCKET_PATH).build_svc();
    io.ns("/", in_order(&supervisor.intake_tracker(), OrderedConfig::default(), handler));
    let routes = crate::webchat::routes(Arc::clone(store), visitors, test_chat, trusted_proxies)
        .route_service("/webchat/socket.io", Front(service.clone()))
        .route_service("/webchat/socket.io/", Front(service));
    (routes, io)
}

fn housekeeping(supervisor: &Supervisor, gateway: &Arc<Gateway>, limits: &Arc<Limits>) {
    let statuses = Arc::clone(gateway);
    supervisor.periodic("webchat statuses", STATUS_PERIOD, move || {
        let gateway = Arc::clone(&statuses);
        async move { gateway.flush_statuses().await }
    });
    let deliveries = Arc::clone(gateway);
    supervisor.periodic("webchat deliveries", DELIVERY_PERIOD, move || {
        deliveries.settle_deliveries();
        async {}
    });
    let limits = Arc::clone(limits);
    supervisor.periodic("webchat limits", LIMITS_PERIOD, move || {
        limits.forget_quiet();
        async {}
    });
}
