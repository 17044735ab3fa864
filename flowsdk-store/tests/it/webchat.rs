//! Channels, identities and chats of the web chat.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use flowsdk_channels::webchat::channels::HasWebchatCatalog as _;
use flowsdk_channels::webchat::{
    Accepted, AuthError, Caller, Handshake, HasWebchat as _, Ingress, IngressError, Limits, LimitsConfig,
    Purpose, TestChat, Visitors, WebchatChannel, WebchatIdentity, inbound,
};
use flowsdk_core::chat::{Chat, ChatStatus, HasChats as _, StartOn};
use flowsdk_core::contact::{Contact, HasContacts as _};
use flowsdk_core::context::OpContext;
use flowsdk_core::crypto::{Encrypted, MasterKey};
use flowsdk_core::event::IncomingEvent;
use flowsdk_core::fault::StorageError;
use flowsdk_core::flow::{Flow, HasFlows as _};
use flowsdk_core::id::{ChannelId, FlowId, IdentityId, MessageId, RouterId};
use flowsdk_core::router::{FallbackTexts, HasRouters as _, Route, Router};
use flowsdk_core::session::Channel;
use flowsdk_core::store::{Store as _, Transaction as _};
use flowsdk_crypto::{PasswordHasher, SESSION_KEY_COST};
use flowsdk_store::sql::{SqlStore, SqlTx};
use secrecy::SecretString;
use serde_json::json;
use tokio::sync::Semaphore;

use crate::support::databases::on_every_database;

on_every_database! {
    a_channel_is_read_back,
    a_router_has_one_test_channel,
    a_router_has_further_test_channels,
    a_channel_leads_to_its_flow_or_its_routers,
    an_identity_is_found_by_its_contact,
    the_open_chat_is_found_before_the_newest,
    a_test_message_that_waited_is_younger_than_the_answers_before_it,
    right_keys_need_no_bcrypt_after_a_restart,
}

async fn router(tx: &mut SqlTx, cx: &OpContext, id: &str) -> RouterId {
    let router = Router::new(id.parse().expect("an id"), "R", cx.now());
    tx.routers().insert(&router).await.expect("a router");
    router.id
}

async fn flow(tx: &mut SqlTx, cx: &OpContext, id: &str, router: &RouterId) -> FlowId {
    let flow = Flow::new(id.parse().expect("an id"), router.clone(), id, cx.now());
    tx.flows().insert(&flow).await.expect("a flow");
    flow.id
}

fn channel(cx: &OpContext, id: &str, router: &RouterId) -> WebchatChannel {
    WebchatChannel::new(id.parse().expect("an id"), router.clone(), "Atendimento 👋", cx.now())
}

async fn a_channel_is_read_back(store: SqlStore) {
    let cx = OpContext::system();
    let mut tx = store.begin().await.expect("begin");
    let router = router(&mut tx, &cx, "r1").await;
    let flow = flow(&mut tx, &cx, "f1", &router).await;
    let plain = channel(&cx, "c1", &router);
    let full = WebchatChannel {
        purpose: Purpose::RouterTest,
        appearance: Some(json!({ "color": "#fff", "texts": ["é", null] })),
        initial_flow_id: Some(flow),
        start_on: StartOn::Open,
        fallback_texts: FallbackTexts {
            failed: Some(String::new()),
            unanswered: Some("é".to_owned()),
            stuck_handoff: Some("ç".to_owned()),
        },
        embed_secret: Some(Encrypted::from_stored("ab:cd".to_owned())),
        allowed_origins: Some(vec!["https://example.com".to_owned()]),
        ..channel(&cx, "c2", &router)
    };
    let closed = WebchatChannel { allowed_origins: Some(Vec::new()), ..channel(&cx, "c3", &router) };
    for channel in [&plain, &full, &closed] {
        assert_eq!(tx.webchat().find_channel(&channel.id).await.expect("find"), None);
        tx.webchat().insert_channel(channel).await.expect("a channel");
    }
    tx.commit().await.expect("commit");
    let mut tx = store.read().await.expect("read");
    for channel in [plain, full, closed] {
        assert_eq!(tx.webchat().find_channel(&channel.id).await.expect("find"), Some(channel));
    }
}

async fn a_router_has_one_test_channel(store: SqlStore) {
    let cx = OpContext::system();
    let mut tx = store.begin().await.expect("begin");
    let routers = [router(&mut tx, &cx, "r1").await, router(&mut tx, &cx, "r2").await];
    let test = |id: &str, router: &RouterId| WebchatChannel {
        purpose: Purpose::RouterTest,
        ..channel(&cx, id, router)
    };
    tx.webchat().insert_channel(&test("c1", &routers[0])).await.expect("a channel");
    tx.webchat().insert_channel(&test("c2", &routers[1])).await.expect("a channel");
    let second = tx.webchat().insert_channel(&test("c3", &routers[0])).await;
    assert!(matches!(second, Err(StorageError::Unique { .. })), "{second:?}");
}

async fn a_router_has_further_test_channels(store: SqlStore) {
    let cx = OpContext::system();
    let mut tx = store.begin().await.expect("begin");
    let router = router(&mut tx, &cx, "r1").await;
    let of = |id: &str, purpose| WebchatChannel { purpose, ..channel(&cx, id, &router) };
    for id in ["c1", "c2"] {
        tx.webchat().insert_channel(&of(id, Purpose::Test)).await.expect("a channel");
    }
    let own =
        tx.webchat_catalog().test_channel_or_insert(&of("c3", Purpose::RouterTest)).await.expect("made");
    assert_eq!(own.id.as_str(), "c3", "a further one is not the router's own");
    let found = tx.webchat_catalog().find_channel_for_update(&channel(&cx, "c2", &router).id).await;
    assert_eq!(found.expect("found").expect("a channel").purpose, Purpose::Test);
    let mut routes =
        tx.routers().find_routes(&["wc-c1".to_owned(), "wc-c3".to_owned()]).await.expect("routes");
    routes.retain(|route| route.is_test);
    assert_eq!(routes.len(), 2);
}

async fn a_channel_leads_to_its_flow_or_its_routers(store: SqlStore) {
    let cx = OpContext::system();
    let mut tx = store.begin().await.expect("begin");
    let router_id = router(&mut tx, &cx, "r1").await;
    let flows = [flow(&mut tx, &cx, "f1", &router_id).await, flow(&mut tx, &cx, "f2", &router_id).await];
    let own = WebchatChannel { initial_flow_id: Some(flows[1].clone()), ..channel(&cx, "own", &router_id) };
    for channel in [&own, &channel(&cx, "plain", &router_id)] {
        tx.webchat().insert_channel(channel).await.expect("a channel");
    }
    for initial in [None, Some(flows[0].clone())] {
        tx.routers().set_initial_flow(&router_id, initial.as_ref()).await.expect("set");
        let asked = ["wc-own", "wc-plain", "wc-none", "own", "", "wc-"].map(str::to_owned);
        let mut routes = tx.routers().find_routes(&asked).await.expect("routes");
        routes.sort_unstable_by(|a, b| a.phone_number_id.cmp(&b.phone_number_id));
        let route = |id: &str, flow: Option<&FlowId>| Route {
            phone_number_id: id.to_owned(),
            router_id: router_id.clone(),
            initial_flow_id: flow.cloned(),
            is_test: false,
        };
        assert_eq!(routes, [route("wc-own", Some(&flows[1])), route("wc-plain", initial.as_ref())]);
    }
}

async fn contact(tx: &mut SqlTx, cx: &OpContext, identity: &str) -> Contact {
    let contact = Contact::create(cx, identity.to_owned(), "Flow Chat".to_owned(), Channel::Webchat);
    tx.contacts().insert_or_get(&contact).await.expect("a contact")
}

async fn an_identity_is_found_by_its_contact(store: SqlStore) {
    let cx = OpContext::system();
    let mut tx = store.begin().await.expect("begin");
    let router = router(&mut tx, &cx, "r1").await;
    let channels: [ChannelId; 2] = ["c1", "c2"].map(|id| id.parse().expect("an id"));
    for id in &channels {
        tx.webchat().insert_channel(&channel(&cx, id.as_str(), &router)).await.expect("a channel");
    }
    let ana = contact(&mut tx, &cx, "wc-c1-ana").await;
    contact(&mut tx, &cx, "wc-c1-bia").await;
    let identity = |channel: &ChannelId| WebchatIdentity {
        session_key_digest: None,
        id: IdentityId::generate(cx.ids()),
        channel_id: channel.clone(),
        contact_id: ana.id.clone(),
        session_key_hash: "$2b$10$hash".to_owned(),
        created_at: cx.now(),
    };
    let of_ana = identity(&channels[0]);
    tx.webchat().insert_identity(&of_ana).await.expect("an identity");
    tx.commit().await.expect("commit");
    let mut tx = store.begin().await.expect("begin");
    for (channel, who, expected) in [
        (0, "wc-c1-ana", Some(&of_ana)),
        (1, "wc-c1-ana", None),
        (0, "wc-c1-bia", None),
        (0, "wc-c1-nobody", None),
    ] {
        let found = tx.webchat().find_identity(&channels[channel], who).await.expect("find");
        assert_eq!(found.as_ref(), expected, "{channel} {who}");
    }
    let second = tx.webchat().insert_identity(&identity(&channels[0])).await;
    assert!(matches!(second, Err(StorageError::Unique { .. })), "{second:?}");
}

async fn the_open_chat_is_found_before_the_newest(store: SqlStore) {
    let cx = OpContext::system();
    let mut tx = store.begin().await.expect("begin");
    let routers = [router(&mut tx, &cx, "r1").await, router(&mut tx, &cx, "r2").await];
    let channel = channel(&cx, "c1", &routers[0]);
    tx.webchat().insert_channel(&channel).await.expect("a channel");
    let ana = contact(&mut tx, &cx, "wc-c1-ana").await;
    assert_eq!(tx.webchat().find_chat(&channel.id, &ana.id).await.expect("find"), None);
    // The chat with another router is not this channel's.
    let other = Chat::open(&cx, ana.id.clone(), routers[1].clone());
    tx.chats().open_or_get_many(&[other]).await.expect("open");
    assert_eq!(tx.webchat().find_chat(&channel.id, &ana.id).await.expect("find"), None);
    let chat = |millis: u64| Chat {
        created_at: cx.now() + std::time::Duration::from_millis(millis),
        ..Chat::open(&cx, ana.id.clone(), routers[0].clone())
    };
    for chat in [chat(5), chat(9), chat(1)] {
        tx.chats().open_or_get_many(std::slice::from_ref(&chat)).await.expect("open");
        let found = tx.webchat().find_chat(&channel.id, &ana.id).await.expect("find");
        assert_eq!(found, Some((chat.id.clone(), ChatStatus::Open)));
        tx.chats().close_many(&[chat.id]).await.expect("close");
    }
    let newest = tx.webchat().find_chat(&channel.id, &ana.id).await.expect("find").expect("a chat");
    assert_eq!(newest.1, ChatStatus::Closed);
    let again = tx.webchat().find_chat(&channel.id, &ana.id).await.expect("find");
    assert_eq!(again, Some(newest));
}

/// Answers messages when both have been read, and notes the ids of messages and answers.
#[derive(Debug)]
struct Answering {
    cx: OpContext,
    read: Arc<Semaphore>,
    said: Arc<Mutex<Vec<MessageId>>>,
}

#[async_trait]
impl Ingress for Answering {
    async fn open(&self, _: IncomingEvent, _: &RouterId) -> Result<(), IngressError> {
        Ok(())
    }

    async fn accept(&self, event: IncomingEvent, _: &RouterId) -> Result<Accepted, IngressError> {
        let _both = self.read.acquire_many(2).await.expect("open");
        let message_id = event.messages[0].internal_id.clone().expect("an id");
        let answer = MessageId::generate(self.cx.ids());
        self.said.lock().expect("a lock").extend([message_id.clone(), answer]);
        Ok(Accepted { message_id, answers: Some(Vec::new()), frozen: false })
    }
}

/// What is of one millisecond stands in the history by its ids.
async fn a_test_message_that_waited_is_younger_than_the_answers_before_it(store: SqlStore) {
    let cx = OpContext::system();
    let mut tx = store.begin().await.expect("begin");
    let router = router(&mut tx, &cx, "r1").await;
    let test = WebchatChannel { purpose: Purpose::RouterTest, ..channel(&cx, "c1", &router) };
    tx.webchat().insert_channel(&test).await.expect("a channel");
    tx.commit().await.expect("commit");

    let store = Arc::new(store);
    let limits = Limits::new(LimitsConfig::default());
    let key = Arc::new(MasterKey::new(&"0".repeat(32)).expect("a key"));
    let hasher = PasswordHasher::new(1, 8);
    let visitors = Arc::new(Visitors::new(Arc::clone(&store), cx.clone(), key, hasher, Arc::clone(&limits)));
    let caller = Caller { address: IpAddr::V4(Ipv4Addr::LOCALHOST), origin: None };
    let new = Handshake { channel_id: "c1".to_owned(), ..Handshake::default() };
    let (visitor, ok) = visitors.enter(&new, caller).await.expect("a visitor");
    let user_id = Some(visitor.session_id.party().to_owned());
    let known = Handshake { user_id, session_key: ok.session_key.map(Into::into), ..new };

    let read = Arc::new(Semaphore::new(0));
    let said = Arc::<Mutex<Vec<_>>>::default();
    let ingress = Answering { cx, read: Arc::clone(&read), said: Arc::clone(&said) };
    let chat = TestChat::new(store, visitors, Arc::new(ingress), limits);
    let message = |cx: &OpContext| {
        read.add_permits(1);
        inbound::text(json!({ "text": "oi" }), cx)
    };
    let say = || chat.say(&known, caller, message, None, Duration::ZERO);
    let (one, other) = tokio::join!(say(), say());
    let named = [one, other].map(|turn| turn.expect("a turn"));
    assert!(named.iter().all(|turn| turn.complete && !turn.repeated), "{named:?}");
    let said = said.lock().expect("a lock");
    assert!(said.len() == 4 && said.is_sorted(), "{said:?}");
}

/// Visitors with the right key are let in again after a restart without a bcrypt, however many come at once; a key
/// that was stored before there were digests needs one, once.
async fn right_keys_need_no_bcrypt_after_a_restart(store: SqlStore) {
    let cx = OpContext::system();
    let mut tx = store.begin().await.expect("begin");
    let router = router(&mut tx, &cx, "r1").await;
    let open = channel(&cx, "c1", &router);
    tx.webchat().insert_channel(&open).await.expect("a channel");
    let old = contact(&mut tx, &cx, "wc-c1-old").await;
    let old_key = SecretString::from(cx.ids().secret(2));
    let hasher = PasswordHasher::new(1, 8);
    let identity = WebchatIdentity {
        id: IdentityId::generate(cx.ids()),
        channel_id: open.id.clone(),
        contact_id: old.id.clone(),
        session_key_hash: hasher.hash(&old_key, SESSION_KEY_COST).await.expect("a hash"),
        session_key_digest: None,
        created_at: cx.now(),
    };
    tx.webchat().insert_identity(&identity).await.expect("an identity");
    tx.commit().await.expect("commit");

    let store = Arc::new(store);
    // One bcrypt a process.
    let start = || {
        let config = LimitsConfig { key_checks_per_minute: 1, ..LimitsConfig::default() };
        let key = Arc::new(MasterKey::new(&"0".repeat(32)).expect("a key"));
        Visitors::new(Arc::clone(&store), cx.clone(), key, hasher.clone(), Limits::new(config))
    };
    let caller = Caller { address: IpAddr::V4(Ipv4Addr::LOCALHOST), origin: None };
    let new = Handshake { channel_id: "c1".to_owned(), ..Handshake::default() };
    let first = start();
    let mut known = Vec::new();
    for _ in 0..5 {
        let (visitor, ok) = first.enter(&new, caller).await.expect("a visitor");
        let user_id = Some(visitor.session_id.party().to_owned());
        known.push(Handshake { user_id, session_key: ok.session_key.map(Into::into), ..new.clone() });
    }
    let ancient = Handshake { user_id: Some("old".to_owned()), session_key: Some(old_key), ..new.clone() };
    let second = start();
    for visitor in known.iter().chain([&ancient]) {
        second.enter(visitor, caller).await.expect("let in");
    }
    // The one bcrypt of this process was that of the ancient key, which needs none from now on.
    let third = start();
    for visitor in known.iter().chain([&ancient]) {
        third.enter(visitor, caller).await.expect("let in");
    }
    let other_key = Handshake { session_key: known[1].session_key.clone(), ..known[0].clone() };
    let refused = third.enter(&other_key, caller).await;
    assert!(matches!(refused, Err(AuthError::IdentityInvalid)), "{refused:?}");
    let guess = Handshake { session_key: Some(cx.ids().secret(2).into()), ..known[0].clone() };
    let refused = third.enter(&guess, caller).await;
    assert!(matches!(refused, Err(AuthError::RateLimited)), "{refused:?}");
}
