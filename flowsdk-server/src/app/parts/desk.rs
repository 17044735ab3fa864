//! The desk socket, beside the routes that do the same.

use std::sync::Arc;
use std::time::Duration;

use flowsdk_core::fault::Chain;
use flowsdk_helpdesk::monitoring::SNAPSHOT_LIFETIME;
use flowsdk_helpdesk::news::DeskNews;
use flowsdk_helpdesk::viewer::Viewers;

use crate::api::state::{Authenticator, Desk, Monitoring, Presence};
use crate::app::ground::Ground;
use crate::desk::{Commands, DeskSocket, Hub, SOCKET_PATH};
use crate::socket::{Front, OrderedConfig, SocketLimits, Transports, builder, close_in_slices, in_order};

/// How late a desk may hear the news.
const NEWS_PERIOD: Duration = Duration::from_millis(100);
const WAITING_PERIOD: Duration = Duration::from_secs(1);
/// How late a desk may hear who else looks at its ticket.
const VIEWERS_PERIOD: Duration = Duration::from_millis(500);
/// A third of the time for which a look holds.
const LOOKS_PERIOD: Duration = Duration::from_secs(20);
/// How long a desk may outlive the token that let it in.
const REVIEW_PERIOD: Duration = Duration::from_secs(1);
const FORGET_PERIOD: Duration = Duration::from_secs(10 * 60);

/// Serves the desk socket in this process.
pub(super) fn serve(
    ground: &mut Ground,
    authenticator: Arc<Authenticator>,
    desk: Arc<Desk>,
    presence: Arc<Presence>,
    figures: Arc<Monitoring>,
) {
    let news = || DeskNews::new(Arc::clone(&ground.store), ground.cx.clone());
    let viewers = Viewers::new(Arc::clone(&ground.store), ground.cx.clone(), ground.handover());
    let hub = Arc::new(Hub::new(news(), figures, viewers, Arc::clone(&authenticator)));
    let language = ground.config.default_language;
    let commands = Commands { hub: Arc::clone(&hub), desk, presence, language, cx: ground.cx.clone() };
    let (service, io) = builder(&SocketLimits::default()).req_path(SOCKET_PATH).build_svc();
    let transports = Transports::of(service.clone(), SOCKET_PATH);
    let closing = transports.clone();
    let trusted_proxies = ground.config.webchat.trusted_proxies;
    let handler = DeskSocket {
        hub: Arc::clone(&hub),
        authenticator,
        commands,
        cx: ground.cx.clone(),
        trusted_proxies,
        ends: (transports.clone(), ground.supervisor.intake.clone()),
    };
    io.ns("/", in_order(&ground.supervisor.intake_tracker(), OrderedConfig::default(), handler));
    let handshakes = ground.config.webchat.handshakes;
    let front = Front::new(service).counting(handshakes, trusted_proxies).noting(transports);
    let routes = axum::Router::new()
        .route_service("/desk/socket.io", front.clone())
        .route_service("/desk/socket.io/", front);
    tick(ground, &hub);
    let old = Arc::new(news());
    ground.every_alone("desk-news", "desk news upkeep", FORGET_PERIOD, move || {
        let old = Arc::clone(&old);
        async move {
            if let Err(error) = old.forget().await {
                tracing::warn!(error = %Chain(&error), "old news of desks stay for now");
            }
        }
    });
    ground.surface.add_routes(routes);
    ground.surface.acts.closing.push(Box::pin(async move { close_in_slices(&io, &closing).await }));
}

fn tick(ground: &Ground, hub: &Arc<Hub>) {
    let news = Arc::clone(hub);
    ground.every("desk news", NEWS_PERIOD, move || {
        let hub = Arc::clone(&news);
        async move {
            if let Err(error) = hub.deliver().await {
                tracing::warn!(error = %Chain(&error), "desks hear the news later");
            }
        }
    });
    let (waiting, cx) = (Arc::clone(hub), ground.cx.clone());
    ground.every("desk waiting", WAITING_PERIOD, move || {
        let (hub, now) = (Arc::clone(&waiting), cx.now());
        async move {
            if let Err(error) = hub.count_waiting(now).await {
                tracing::debug!(error = %Chain(&error), "desks are told later how many tickets wait");
            }
        }
    });
    let (viewers, cx) = (Arc::clone(hub), ground.cx.clone());
    ground.every("desk viewers", VIEWERS_PERIOD, move || {
        let (hub, now) = (Arc::clone(&viewers), cx.now());
        async move {
            if let Err(error) = hub.show_viewers(now).await {
                tracing::debug!(error = %Chain(&error), "desks are told later who looks at their tickets");
            }
        }
    });
    let looks = Arc::clone(hub);
    ground.every("desk looks", LOOKS_PERIOD, move || {
        let hub = Arc::clone(&looks);
        async move {
            if let Err(error) = hub.renew_looks().await {
                tracing::debug!(error = %Chain(&error), "desks that look at tickets are noted later");
            }
        }
    });
    let (figures, cx) = (Arc::clone(hub), ground.cx.clone());
    ground.every("desk figures", SNAPSHOT_LIFETIME, move || {
        let (hub, now) = (Arc::clone(&figures), cx.now());
        async move {
            if let Err(error) = hub.send_figures(now).await {
                tracing::debug!(error = %Chain(&error), "desks are sent the figures later");
            }
        }
    });
    let review = Arc::clone(hub);
    ground.every("desk review", REVIEW_PERIOD, move || {
        let hub = Arc::clone(&review);
        async move { hub.review().await }
    });
}
