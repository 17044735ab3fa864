//! The web chat for visitors: its sockets, history, test channel and page.

use std::sync::Arc;
use std::time::Duration;

use flowsdk_channels::webchat::{
    Admissions, DirectIngress, Ingress, Limits, StreamIngress, TestChat, Visitors,
};
use flowsdk_core::change::NoChangeLog;
use flowsdk_core::conversation::{BACKPRESSURE_PERIOD, SharedBackpressure};
use flowsdk_core::fault::{BoxError, Chain};

use super::Part;
use crate::app::ground::Ground;
use crate::config::Role;
use crate::socket::{Front, OrderedConfig, SocketLimits, Transports, builder, close_in_slices, in_order};
use crate::webchat::{SOCKET_PATH, WebchatSocket};

const LIMITS_PERIOD: Duration = Duration::from_secs(60);
/// How long a socket may outlive the secret that let it in.
const ADMISSIONS_PERIOD: Duration = Duration::from_secs(1);

/// The role of the gateway and its page.
pub(super) const WEBCHAT: Role = Role { names: &["webchat"], together: None, sections: &[] };

pub(super) const PART: Part =
    Part { role: WEBCHAT, reads: &[], start: |ground| Box::pin(async { start(ground) }) };

fn start(ground: &mut Ground) -> Result<(), BoxError> {
    let gateway = ground.links.gateway.clone().ok_or("the web chat needs its gateway")?;
    let ingress: Arc<dyn Ingress> = match &ground.links.turns {
        Some(turns) => Arc::new(DirectIngress::new(turns.clone())),
        None => stream_ingress(ground),
    };
    let store = || Arc::clone(&ground.store);
    let limits = Limits::new(ground.config.webchat.limits);
    let trusted_proxies = ground.config.webchat.trusted_proxies;
    let visitors = Arc::new(Visitors::new(
        store(),
        ground.cx.clone(),
        Arc::clone(&ground.config.master_key),
        ground.hasher.clone(),
        Arc::clone(&limits),
    ));
    let test_chat = TestChat::new(store(), Arc::clone(&visitors), Arc::clone(&ingress), Arc::clone(&limits));
    let admissions = Arc::new(Admissions::new(store(), Arc::clone(&ground.config.master_key)));
    let (service, io) = builder(&SocketLimits::default()).req_path(SOCKET_PATH).build_svc();
    let transports = Transports::of(service.clone(), SOCKET_PATH);
    let (closing, ends) = (transports.clone(), (transports.clone(), ground.supervisor.intake.clone()));
    let handler = WebchatSocket::new(
        store(),
        (Arc::clone(&visitors), Arc::clone(&admissions)),
        gateway,
        ingress,
        (Arc::clone(&limits), Arc::clone(&ground.media_links)),
        trusted_proxies,
        ends,
    );
    io.ns("/", in_order(&ground.supervisor.intake_tracker(), OrderedConfig::default(), handler));
    let handshakes = ground.config.webchat.handshakes;
    let front = Front::new(service).counting(handshakes, trusted_proxies).noting(transports);
    // What visitors upload is nobody's administration.
    let files = Arc::new(ground.media_files(Arc::new(NoChangeLog)));
    let media = (files, Arc::clone(&ground.media_links));
    let (test_chat, own_limits) = (Arc::new(test_chat), Arc::clone(&limits));
    let routes = crate::webchat::routes(store(), visitors, test_chat, media, own_limits, trusted_proxies)
        .route_service("/webchat/socket.io", front.clone())
        .route_service("/webchat/socket.io/", front);
    ground.every("webchat admissions", ADMISSIONS_PERIOD, move || {
        let admissions = Arc::clone(&admissions);
        async move {
            match admissions.review().await {
                Ok(0) => {}
                Ok(closed) => tracing::info!(closed, "sockets end with the secret that let them in"),
                Err(error) => {
                    tracing::warn!(error = %Chain(&error), "admissions of visitors are not reviewed")
                }
            }
        }
    });
    ground.every("webchat limits", LIMITS_PERIOD, move || {
        limits.forget_quiet();
        async {}
    });
    ground.surface.add_routes(routes);
    ground.surface.acts.closing.push(Box::pin(async move { close_in_slices(&io, &closing).await }));
    Ok(())
}

/// Returns the way into the streams, which asks the consumers whether they keep up.
fn stream_ingress(ground: &Ground) -> Arc<dyn Ingress> {
    let backpressure = Arc::new(SharedBackpressure::new(Arc::clone(&ground.kv)));
    let ingress =
        StreamIngress::new(Arc::clone(&ground.broker), Arc::clone(&ground.kv), Arc::clone(&backpressure));
    ground.every("webchat backpressure", BACKPRESSURE_PERIOD, move || {
        let backpressure = Arc::clone(&backpressure);
        async move {
            if let Err(error) = backpressure.ask().await {
                tracing::debug!(error = %Chain(&error), "the consumers cannot be asked whether they keep up");
            }
        }
    });
    Arc::new(ingress)
}
