//! The phone channel: the webhook of its provider, and the sender.

use std::sync::Arc;
use std::time::Duration;

use flowsdk_channels::form::FormEndpoint;
use flowsdk_channels::phone::graph::{GraphApi, GraphMedia};
use flowsdk_channels::phone::sending::{OUTBOUND_GROUP, OutboundQueue, PhoneSender};
use flowsdk_channels::phone::{
    MediaFetcher, NEWS_GROUP, NewsFollower, PhoneIntake, RECEIPTS_GROUP, ReceiptTeller,
};
use flowsdk_core::channel::{ChannelSender, MediaSource};
use flowsdk_core::conversation::ToolCalls;
use flowsdk_core::fault::BoxError;
use flowsdk_core::stream::consumer::ConsumerConfig;
use flowsdk_core::stream::topic::TopicName;
use tokio::sync::Notify;

use super::{Part, Reads};
use crate::app::ground::Ground;
use crate::config::Role;

const LIMITS_PERIOD: Duration = Duration::from_secs(60);
/// How long a call to the provider may take. It answers within a second, mostly.
const CALL_TIMEOUT: Duration = Duration::from_secs(20);
/// How long a file may take: 100 MiB over 3 Mbit/s fit into it.
const FILE_TIMEOUT: Duration = Duration::from_secs(300);

/// The role of the gateway.
pub(super) const PHONE: Role = Role { names: &["phone"], together: None, sections: &[] };

const OUTGOING: Reads =
    Reads { topics: &[TopicName::OutgoingPhone], group: OUTBOUND_GROUP, watched_as: None };

/// A contact who sees a tick late loses nothing.
const RECEIPTS: Reads = Reads { topics: &[TopicName::ReadReceipts], group: RECEIPTS_GROUP, watched_as: None };

const NEWS: Reads = Reads { topics: &[TopicName::ProviderNews], group: NEWS_GROUP, watched_as: None };

pub(super) const PART: Part = Part {
    role: PHONE,
    reads: &[OUTGOING, RECEIPTS, NEWS],
    start: |ground| Box::pin(async { start(ground) }),
};

fn start(ground: &mut Ground) -> Result<(), BoxError> {
    receive(ground);
    follow(ground);
    answer_forms(ground)?;
    fetch_files(ground)?;
    send(ground)
}

/// Returns the adapter that calls the provider.
pub(super) fn graph_api(ground: &Ground) -> Result<GraphApi, BoxError> {
    let client = crate::http_client::client(CALL_TIMEOUT)?;
    Ok(GraphApi::new(ground.config.phone.api_url.clone(), client))
}

fn receive(ground: &mut Ground) {
    let (store, broker) = (Arc::clone(&ground.store), Arc::clone(&ground.broker));
    let key = Arc::clone(&ground.config.master_key);
    let lookups = ground.config.phone.lookups_per_minute;
    let (intake, writer) = PhoneIntake::new(store, broker, key, ground.cx.clone(), lookups);
    let (intake, stop) = (Arc::new(intake), ground.supervisor.work.clone());
    ground.supervisor.work("phone intake", async move { writer.run(&stop).await });
    ground
        .surface
        .add_routes(crate::phone::routes(Arc::clone(&intake), ground.config.webchat.trusted_proxies));
    ground.every("phone limits", LIMITS_PERIOD, move || {
        intake.forget_quiet();
        async {}
    });
}

fn answer_forms(ground: &mut Ground) -> Result<(), BoxError> {
    let (http, scripts) = (ground.http()?, ground.scripts()?);
    let (store, key) = (|| Arc::clone(&ground.store), || Arc::clone(&ground.config.master_key));
    let tools = ToolCalls::new(store(), ground.cx.clone(), key(), http, scripts);
    let endpoint = FormEndpoint::new(store(), tools, key(), ground.config.default_language);
    let routes = crate::phone::forms::routes(Arc::new(endpoint));
    ground.surface.add_routes(ground.refusals().limit(routes));
    Ok(())
}

fn fetch_files(ground: &Ground) -> Result<(), BoxError> {
    let source: Arc<dyn MediaSource> = match &ground.adapters.media_source {
        Some(source) => Arc::clone(source),
        None => {
            let client = crate::http_client::client(FILE_TIMEOUT)?;
            let api = GraphApi::new(ground.config.phone.api_url.clone(), client);
            Arc::new(GraphMedia::new(api, ground.config.phone.media_hosts.clone()))
        }
    };
    let (store, blobs) = (Arc::clone(&ground.store), Arc::clone(&ground.blobs));
    let key = Arc::clone(&ground.config.master_key);
    let fetcher = Arc::new(MediaFetcher::new(store, source, blobs, key, ground.cx.clone()));
    ground.under_lease("phone-media".to_owned(), "phone media", move |stop| {
        let fetcher = Arc::clone(&fetcher);
        async move { fetcher.run(&stop).await }
    });
    Ok(())
}

fn follow(ground: &mut Ground) {
    let follower = NewsFollower::new(Arc::clone(&ground.store), ground.cx.clone());
    drop(ground.consume(
        follower,
        &NEWS,
        ConsumerConfig { max_batch: 64, ..ConsumerConfig::named("phone news") },
    ));
}

fn send(ground: &mut Ground) -> Result<(), BoxError> {
    let arrived = Arc::new(Notify::new());
    let queue = OutboundQueue::new(Arc::clone(&ground.store), ground.cx.clone(), Arc::clone(&arrived));
    // Its one source of events is the stream.
    drop(ground.consume(
        queue,
        &OUTGOING,
        ConsumerConfig { max_batch: 512, ..ConsumerConfig::named("phone queue") },
    ));
    let channel: Arc<dyn ChannelSender> = match &ground.adapters.phone {
        Some(channel) => Arc::clone(channel),
        None => Arc::new(graph_api(ground)?),
    };
    let (store, key) = (Arc::clone(&ground.store), Arc::clone(&ground.config.master_key));
    let teller =
        ReceiptTeller::new(Arc::clone(&store), Arc::clone(&channel), Arc::clone(&key), ground.cx.clone());
    drop(ground.consume(
        teller,
        &RECEIPTS,
        ConsumerConfig { max_batch: 64, ..ConsumerConfig::named("phone receipts") },
    ));
    let links = Arc::clone(&ground.media_links);
    let sender = Arc::new(PhoneSender::new(store, channel, key, ground.cx.clone(), links, arrived));
    ground.under_lease("phone-sender".to_owned(), "phone sender", move |stop| {
        let sender = Arc::clone(&sender);
        async move { sender.run(&stop).await }
    });
    Ok(())
}
