//! Routers, flows and variables as they are administered.

use serde_json::json;

use super::StoreUnderTest;
use super::world::{NOW, World, flow, later, router, session_id, version};
use crate::chat::{Attachments, StartOn};
use crate::crypto::Encrypted;
use crate::flow::{Flow, FlowDraft, FlowFilter, FlowKind, FlowVersion, LastNumbers, ListedFlow, Written};
use crate::id::{ChannelId, FlowVersionId, VariableId};
use crate::in_use::{HasReferences as _, Referred, Referrer};
use crate::media::MediaKind;
use crate::page::PageRequest;
use crate::prelude::*;
use crate::router::{FallbackTexts, PhoneOptions, Router, VariableOwner};
use crate::session::{
    AgentState, Call, ChainEntry, FrozenError, FrozenSession, Mode, Position, SessionId, SessionsOf,
};
use crate::store::Store;
use crate::testkit::store::StoreTx;
use crate::transfer::PortableChannel;
use crate::variable::{Variable, VariableKey, VariableValue};

/// A saved router is read back as it was saved; a name is known while a router has it.
pub async fn a_saved_router_is_read_back<S: Store>(subject: StoreUnderTest<S>)
where
    S::Tx: StoreTx,
{
    let mut tx = subject.store.begin().await.expect("begin");
    let first = router("r1");
    tx.routers().insert(&first).await.expect("a router");
    let flow = flow("f1", &first.id);
    tx.flows().insert(&flow).await.expect("a flow");
    let changed = Router {
        name: "Ação 👋".to_owned(),
        initial_flow_id: Some(flow.id.clone()),
        tz: "Europe/Lisbon".to_owned(),
        channel_verify_token: Some("verify".to_owned()),
        channel_app_secret: Some(Encrypted::from_stored("00:11".to_owned())),
        llm_credential_id: Some("l1".parse().expect("an id")),
        logo_url: Some("https://a.example".to_owned()),
        sentiment_config: Some(json!({ "a": [1, null] })),
        copilot_config: Some(json!({})),
        helpdesk_agent_prefix_enabled: true,
        helpdesk_agent_prefix_template: Some("*{{name}}*".to_owned()),
        fallback_texts: FallbackTexts { failed: Some("\u{fc}".to_owned()), ..FallbackTexts::default() },
        phone: PhoneOptions {
            read_receipts: true,
            typing_indicator: true,
            opt_out_words: vec!["não".to_owned()],
        },
        updated_at: later(5),
        ..first.clone()
    };
    for expected in [&changed, &first] {
        tx.router_catalog().save(expected).await.expect("save");
        let found = tx.router_catalog().find_for_update(&first.id).await.expect("find");
        assert_eq!(found.as_ref(), Some(expected));
        assert!(tx.router_catalog().has_name(&expected.name).await.expect("name"));
    }
    assert!(!tx.router_catalog().has_name(&changed.name).await.expect("name"));
    assert_eq!(tx.router_catalog().find_for_update(&"r2".parse().expect("an id")).await.expect("find"), None);
}

/// A router takes everything along that is its own, and nothing of another; its chats stay.
pub async fn a_deleted_router_takes_its_own_along<S: Store>(subject: StoreUnderTest<S>)
where
    S::Tx: StoreTx,
{
    let world = World::new(&subject).await;
    let mut tx = world.store.begin().await.expect("begin");
    let other = router("other");
    tx.routers().insert(&other).await.expect("a router");
    let mut owners = Vec::new();
    for router in [&world.router, &other.id] {
        let flow = flow(&format!("f-{router}"), router);
        tx.flows().insert(&flow).await.expect("a flow");
        tx.flows().publish(&version(&flow, 1, json!({}))).await.expect("publish");
        let draft = FlowDraft { revision: 1, definition: json!({}).into(), updated_at: NOW };
        tx.flow_catalog().put_draft(&flow.id, &draft).await.expect("a draft");
        tx.routers().set_initial_flow(router, Some(&flow.id)).await.expect("set");
        owners.extend([VariableOwner::Router(router.clone()), VariableOwner::Flow(flow.id)]);
    }
    for (n, owner) in owners.iter().enumerate() {
        let variable = variable(&format!("v{n}"), owner, "a", VariableValue::Clear("x".to_owned()));
        assert!(tx.variables().insert_if_absent(&variable).await.expect("insert"));
    }
    tx.router_catalog().delete(&world.router).await.expect("delete");
    tx.commit().await.expect("commit");
    let mut tx = world.store.read().await.expect("read");
    let left = tx.routers().find_many(&[world.router.clone(), other.id.clone()]).await.expect("find");
    assert_eq!(left.into_iter().map(|router| router.id).collect::<Vec<_>>(), [other.id]);
    let mut left = tx.routers().static_variables(&owners).await.expect("variables");
    left.sort_unstable_by_key(|variable| format!("{:?}", variable.owner));
    let left: Vec<_> = left.into_iter().map(|variable| variable.owner).collect();
    assert_eq!(left.len(), 2);
    assert!(owners[2..].iter().all(|owner| left.contains(owner)));
    let page = tx.flow_catalog().list(&FlowFilter::default(), None, &PageRequest::default()).await;
    assert_eq!(page.expect("list").items.len(), 1);
}

fn variable(id: &str, owner: &VariableOwner, key: &str, value: VariableValue) -> Variable {
    Variable {
        id: VariableId::parse(id).expect("an id"),
        owner: owner.clone(),
        key: VariableKey::parse(key).expect("a key"),
        value,
        created_at: NOW,
        updated_at: NOW,
    }
}

/// A key is given once with an owner; a variable is found with its own owner only; both columns are never filled.
pub async fn a_variable_key_is_given_once<S: Store>(subject: StoreUnderTest<S>)
where
    S::Tx: StoreTx,
{
    let world = World::new(&subject).await;
    let mut tx = world.store.begin().await.expect("begin");
    let flow = flow("f1", &world.router);
    tx.flows().insert(&flow).await.expect("a flow");
    let owners = [VariableOwner::Router(world.router.clone()), VariableOwner::Flow(flow.id)];
    let secret = VariableValue::Secret(Encrypted::from_stored("00:11".to_owned()));
    for (n, owner) in owners.iter().enumerate() {
        let first = variable(&format!("a{n}"), owner, "k", VariableValue::Clear("é\"👋".to_owned()));
        assert!(tx.variables().insert_if_absent(&first).await.expect("insert"));
        let again = variable(&format!("b{n}"), owner, "k", secret.clone());
        assert!(!tx.variables().insert_if_absent(&again).await.expect("insert"));
        let found = tx.variables().find_for_update(owner, &first.id).await.expect("find");
        assert_eq!(found.as_ref(), Some(&first));
        assert_eq!(tx.variables().find(owner, &first.id).await.expect("find"), found);
        assert_eq!(tx.variables().find(&owners[1 - n], &first.id).await.expect("find"), None);
        let elsewhere = tx.variables().find_for_update(&owners[1 - n], &first.id).await.expect("find");
        assert_eq!(elsewhere, None);
        for value in [secret.clone(), VariableValue::Clear(String::new())] {
            let changed = Variable { value, updated_at: later(3), ..first.clone() };
            tx.variables().save(&changed).await.expect("save");
            let found = tx.variables().find_for_update(owner, &first.id).await.expect("find");
            assert_eq!(found.as_ref(), Some(&changed));
            let stored = tx.routers().static_variables(std::slice::from_ref(owner)).await.expect("all");
            assert!(stored[0].value.is_none() != stored[0].encrypted.is_none());
        }
        tx.variables().delete(&first).await.expect("delete");
        assert!(tx.variables().list(owner, &PageRequest::default()).await.expect("list").items.is_empty());
    }
}

/// A draft is the last one that was written; a flow shows its revision and the number of the published version.
pub async fn drafts_and_versions_are_listed<S: Store>(subject: StoreUnderTest<S>)
where
    S::Tx: StoreTx,
{
    let world = World::new(&subject).await;
    let mut tx = world.store.begin().await.expect("begin");
    let tool = Flow { kind: FlowKind::Tool, ..flow("f1", &world.router) };
    tx.flows().insert(&tool).await.expect("a flow");
    let listed = |flow: &Flow, revision, published_number| ListedFlow {
        flow: flow.clone(),
        revision,
        published_number,
    };
    assert_eq!(tx.flow_catalog().find(&tool.id).await.expect("find"), Some(listed(&tool, 0, None)));
    assert_eq!(tx.flow_catalog().draft(&tool.id).await.expect("draft"), None);
    for revision in 1..=2 {
        let text = format!(r#"{{"b":{revision},"a":[null,1.5,"é👋\\\"\n"],"":{{}}}}"#);
        let definition = Written::read(&text).expect("JSON");
        let draft = FlowDraft { revision, definition, updated_at: later(7) };
        tx.flow_catalog().put_draft(&tool.id, &draft).await.expect("put");
        let found = tx.flow_catalog().draft(&tool.id).await.expect("draft").expect("a draft");
        assert_eq!(found.definition.text(), Some(&*text), "the order of keys is kept");
        assert_eq!(found, draft);
    }
    let numbers = |published, test| LastNumbers { published, test };
    assert_eq!(tx.flow_catalog().last_numbers(&tool.id).await.expect("numbers"), numbers(0, 0));
    let test = |number: i64| {
        let id = FlowVersionId::parse(format!("t{}", -number)).expect("an id");
        FlowVersion { id, ..version(&tool, number, json!({})) }
    };
    for number in [-1, -2] {
        tx.flow_catalog().insert_version(&test(number)).await.expect("a test version");
        let last = tx.flow_catalog().last_numbers(&tool.id).await.expect("numbers");
        assert_eq!(last, numbers(0, number));
    }
    let text = r#"{"one":1,"a":2}"#;
    let one = FlowVersion { definition: Written::read(text).expect("JSON"), ..version(&tool, 1, json!({})) };
    tx.flows().publish(&one).await.expect("publish");
    let found = tx.flow_catalog().find_version(&tool.id, 1).await.expect("find").expect("a version");
    assert_eq!((found.definition.text(), &found), (Some(text), &one));
    assert_eq!(tx.flow_catalog().last_numbers(&tool.id).await.expect("numbers"), numbers(1, -2));
    let saved = Flow {
        name: "Ação".to_owned(),
        published_version_id: Some(one.id.clone()),
        test_version_id: Some(test(-1).id),
        updated_at: later(9),
        ..tool.clone()
    };
    tx.flow_catalog().save(&saved).await.expect("save");
    assert_eq!(tx.flow_catalog().find_for_update(&tool.id).await.expect("find"), Some(saved.clone()));
    assert_eq!(tx.flow_catalog().find(&tool.id).await.expect("find"), Some(listed(&saved, 2, Some(1))));
    let found = tx.flows().find_many(std::slice::from_ref(&tool.id)).await.expect("find");
    assert_eq!(found.first(), Some(&saved));
    let page = tx.flow_catalog().versions(&tool.id, &PageRequest::default()).await.expect("versions");
    assert_eq!(page.items.iter().map(|head| head.number).collect::<Vec<_>>(), [1], "no test versions");
    assert_eq!(tx.flow_catalog().find_version(&tool.id, 1).await.expect("find"), Some(one));
    assert_eq!(tx.flow_catalog().find_version(&tool.id, 2).await.expect("find"), None);
    let whole = tx.flow_catalog().whole(&world.router, None).await.expect("whole");
    assert_eq!((whole.len(), &whole[0].flow), (1, &saved));
    assert_eq!(whole[0].published, Some(json!({ "one": 1, "a": 2 })));
    assert_eq!(whole[0].draft.as_ref().map(|draft| &draft["b"]), Some(&json!(2)));
    let only = [world.router.clone()];
    for (kind, router, only, count) in [
        (Some(FlowKind::Tool), Some(&world.router), Some(&only[..]), 1),
        (Some(FlowKind::Flow), None, None, 0),
        (None, Some(&"r9".parse().expect("an id")), None, 0),
        (None, None, Some(&[][..]), 0),
    ] {
        let filter = FlowFilter { router_id: router.cloned(), kind };
        let page = tx.flow_catalog().list(&filter, only, &PageRequest::default()).await.expect("list");
        assert_eq!(page.items.len(), count, "{filter:?} {only:?}");
    }
}

/// References to a flow are found, and are empty when the flow is gone.
pub async fn references_to_a_flow_are_found<S: Store>(subject: StoreUnderTest<S>)
where
    S::Tx: StoreTx,
{
    let world = World::new(&subject).await;
    let mut tx = world.store.begin().await.expect("begin");
    let (target, leads, draft_only) =
        (flow("f1", &world.router), flow("f2", &world.router), flow("f3", &world.router));
    for flow in [&target, &leads, &draft_only] {
        tx.flows().insert(flow).await.expect("a flow");
    }
    let to_target = Referred::Flow(&target.id);
    assert_eq!(tx.references().referrers(to_target).await.expect("none"), []);
    let naming = tx.references().published_flows_naming(&world.router, "f1").await;
    assert_eq!(naming.expect("none"), []);
    let definition = json!({ "blocks": [{ "defaultOutput": { "flowId": "f1" } }, { "agentId": "agent1" }] });
    tx.flows().publish(&version(&leads, 1, definition.clone())).await.expect("publish");
    let draft = FlowDraft { revision: 1, definition: definition.into(), updated_at: NOW };
    tx.flow_catalog().put_draft(&draft_only.id, &draft).await.expect("a draft");
    tx.routers().set_initial_flow(&world.router, Some(&target.id)).await.expect("set");
    let channel = PortableChannel {
        id: ChannelId::parse("c1").expect("an id"),
        name: "Loja".to_owned(),
        appearance: Some(json!({ "a": 1 })),
        allowed_origins: Some(vec!["https://a.example".to_owned()]),
        initial_flow_id: Some(target.id.clone()),
        start_on: StartOn::Open,
        fallback_texts: FallbackTexts {
            unanswered: Some("ü".to_owned()),
            stuck_handoff: Some("ü".to_owned()),
            ..FallbackTexts::default()
        },
        attachments: Some(Attachments { kinds: vec![MediaKind::Image], max_bytes: 7 }),
        is_closed: false,
    };
    let closed = PortableChannel {
        id: ChannelId::parse("c2").expect("an id"),
        appearance: None,
        allowed_origins: None,
        initial_flow_id: None,
        is_closed: true,
        ..channel.clone()
    };
    let secret = Encrypted::from_stored("00:11".to_owned());
    let channels = [(channel.clone(), None), (closed.clone(), Some(secret))];
    tx.channel_transfer().insert_channels_of(&world.router, &channels, NOW).await.expect("channels");
    let found = tx.references().referrers(to_target).await.expect("references");
    let referrer = |field: &str, id: &str| Referrer { field: field.to_owned(), id: id.to_owned() };
    let initial = referrer("router.initialFlowId", world.router.as_str());
    assert_eq!(found, [initial, referrer("webchatChannel.initialFlowId", channel.id.as_str())]);
    let elsewhere = "another-router".parse().expect("an id");
    for (router, id, naming) in [
        (&world.router, "f1", vec![leads.id.clone()]),
        (&world.router, "agent1", vec![leads.id.clone()]),
        (&world.router, "agent", Vec::new()),
        (&world.router, "f2", Vec::new()),
        (&elsewhere, "f1", Vec::new()),
    ] {
        let found = tx.references().published_flows_naming(router, id).await.expect("flows");
        assert_eq!(found, naming, "{id} of {router}");
    }
    let all = tx.channel_transfer().channels_of(&world.router).await.expect("all");
    assert_eq!(all, [channel.clone(), closed.clone()]);
    tx.flow_catalog().delete(&target.id).await.expect("delete");
    let found = tx.channel_transfer().channels_of(&world.router).await.expect("all");
    assert_eq!(found, [PortableChannel { initial_flow_id: None, ..channel }, closed]);
    let router = tx.router_catalog().find_for_update(&world.router).await.expect("find").expect("there");
    assert_eq!(router.initial_flow_id, None);
}

/// Returns the state of a session that one agent has handed to another.
fn chain_of(first: &str, second: &str) -> AgentState {
    let mut state = AgentState::begin(first.parse().expect("an id"), 5, NOW);
    state.active_agent_id = second.parse().expect("an id");
    state.agent_chain.push(ChainEntry { agent_id: state.active_agent_id.clone(), return_to_parent: true });
    state
}

/// A session that comes back to a flow depends on it as one that stands in it, and so does one of AI agents on them.
pub async fn a_session_depends_on_the_flows_it_comes_back_to<S: Store>(subject: StoreUnderTest<S>)
where
    S::Tx: StoreTx,
{
    let world = World::new(&subject).await;
    let id = |text: &str| -> crate::id::FlowId { text.parse().expect("an id") };
    let call = |flow: &str| Call {
        flow_id: id(flow),
        version_id: "v1".parse().expect("an id"),
        block_id: "b1".parse().expect("an id"),
    };
    let stands_in = |flow: &str| Position {
        flow_id: id(flow),
        version_id: "v2".parse().expect("an id"),
        block_id: None,
        waiting: None,
    };
    let mut called = world.session(1);
    (called.mode, called.agent) = (Mode::Agent, Some(Box::new(chain_of("sales", "care"))));
    called.position = Some(stands_in("inner"));
    called.calls = vec![call("outer"), call("middle")];
    let mut other = world.session(2);
    // It was with agents once.
    other.agent = Some(Box::new(chain_of("sales", "bills")));
    other.position = Some(stands_in("inner"));
    world.save(&[(called.clone(), None), (other.clone(), None)]).await.expect("saved");
    let mut tx = world.store.begin().await.expect("begin");
    for (flow, count) in [("outer", 1), ("middle", 1), ("inner", 2), ("out", 0), ("v1", 0)] {
        let flow = id(flow);
        let of = SessionsOf::Flow(&world.router, &flow);
        assert_eq!(tx.live_sessions().count(of).await.expect("count"), count, "{flow}");
    }
    for (agent, count) in [("sales", 1), ("care", 1), ("bills", 0), ("car", 0)] {
        let agent = agent.parse().expect("an id");
        let found = tx.live_sessions().count_of_agent(&world.router, &agent).await.expect("count");
        assert_eq!(found, count, "{agent}");
    }
    for (flow, ended) in [("outer", vec![called.id]), ("middle", Vec::new()), ("inner", vec![other.id])] {
        let flow = id(flow);
        let of = SessionsOf::Flow(&world.router, &flow);
        assert_eq!(tx.live_sessions().end(of).await.expect("end"), ended, "{flow}");
    }
}

/// Sessions are counted and ended by router, flow and channel, frozen ones with the entries kept for them.
pub async fn sessions_end_by_what_they_depend_on<S: Store>(subject: StoreUnderTest<S>)
where
    S::Tx: StoreTx,
{
    let world = World::new(&subject).await;
    let mut sessions: Vec<_> = (0..4).map(|n| world.session(n)).collect();
    let flow: crate::id::FlowId = "f1".parse().expect("an id");
    let position = |flow: &crate::id::FlowId| Position {
        flow_id: flow.clone(),
        version_id: "v1".parse().expect("an id"),
        block_id: None,
        waiting: None,
    };
    sessions[1].position = Some(position(&flow));
    sessions[2].position = Some(position(&"f2".parse().expect("an id")));
    sessions[3].id = crate::session::SessionId::parse("wc-c10-visitor0003").expect("an id");
    let writes: Vec<_> = sessions.iter().map(|session| (session.clone(), None)).collect();
    world.save(&writes).await.expect("saved");
    let mut tx = world.store.begin().await.expect("begin");
    let frozen = FrozenSession {
        session_id: session_id(1),
        error: FrozenError { code: "flow_loop".to_owned(), message: "x".to_owned() },
        entry: json!({}),
        frozen_at: NOW,
    };
    tx.sessions().freeze_many(&[frozen]).await.expect("freeze");
    tx.sessions().keep_entries(&[(session_id(1), json!({}))], 10).await.expect("keep");
    let channel: ChannelId = "c1".parse().expect("an id");
    let of_flow = SessionsOf::Flow(&world.router, &flow);
    let of_channel = SessionsOf::WebchatChannel(&channel);
    let of_router = SessionsOf::Router(&world.router);
    for (of, count) in [(of_flow, 1), (of_channel, 3), (of_router, 4)] {
        assert_eq!(tx.live_sessions().count(of).await.expect("count"), count, "{of:?}");
    }
    assert_eq!(tx.live_sessions().end(of_flow).await.expect("end"), [session_id(1)]);
    assert!(tx.sessions().frozen_among(&[session_id(1)]).await.expect("frozen").is_empty());
    assert_eq!(tx.live_sessions().count(of_flow).await.expect("count"), 0);
    let mut ended = tx.live_sessions().end(of_channel).await.expect("end");
    ended.sort_unstable();
    assert_eq!(ended, [session_id(0), session_id(2)], "not those of a channel with a longer name");
    assert_eq!(tx.live_sessions().end(of_router).await.expect("end"), [sessions[3].id.clone()]);
    assert!(tx.live_sessions().end(of_router).await.expect("end").is_empty());
}

/// The sessions of a number are those whose ids begin with it, and no others.
pub async fn sessions_of_a_number_are_counted_and_end<S: Store>(subject: StoreUnderTest<S>)
where
    S::Tx: StoreTx,
{
    let world = World::new(&subject).await;
    let ids = ["wa-111-5511999", "wa-111-5511998", "wa-1111-5511999", "wc-111-visitor", "ig-111-7"];
    let ids = ids.map(|id| SessionId::parse(id).expect("a session id"));
    let sessions: Vec<_> =
        ids.iter().map(|id| (crate::session::Session { id: id.clone(), ..world.session(0) }, None)).collect();
    world.save(&sessions).await.expect("saved");
    let mut tx = world.store.begin().await.expect("begin");
    let of = SessionsOf::PhoneNumber("111");
    assert_eq!(tx.live_sessions().count(of).await.expect("count"), 2);
    let mut ended = tx.live_sessions().end(of).await.expect("end");
    ended.sort_unstable();
    assert_eq!(ended, [ids[1].clone(), ids[0].clone()]);
    assert_eq!(tx.live_sessions().count(of).await.expect("count"), 0);
    assert_eq!(tx.live_sessions().count(SessionsOf::Router(&world.router)).await.expect("count"), 3);
}
