//! What a crash may not do to AI agents: lose or double an answer, pay for one twice, or repeat an effect (spec B 4.9).
//!
//! `FLOWSDK_TEST_SESSIONS` sets how many conversations each test holds (default 30).

use std::collections::HashMap;
use std::net::SocketAddr;
use std::time::Instant;

use flowsdk_core::context::OpContext;
use flowsdk_core::credential::{HasLlmCredentials as _, LlmCredential, LlmProvider};
use flowsdk_core::crypto::MasterKey;
use flowsdk_core::store::{Store as _, Transaction as _};
use rustix::process::Signal;
use serde_json::{Value, json};
use tokio::sync::watch;

use crate::api::building::{act, id, published};
use crate::crash::Crowd;
use crate::desk_crash::wanted;
use crate::harness::{Api, ModelServer, Server, Setup, Step, eventually, everywhere};

everywhere!(killed_at_each_step_of_a_turn);

/// Answers of a turn: a call of a tool, a message, and nothing more.
const ANSWERS: usize = 3;
/// When the process that runs the agents falls asleep: when so many sixths of the answers are there.
const SLEEPS: [usize; 2] = [1, 3];

fn sessions() -> usize {
    wanted("FLOWSDK_TEST_SESSIONS", 30)
}

/// A credential of the server of models. It has no TLS, so the API would not take its address.
async fn account(setup: &Setup, models: &ModelServer) -> String {
    let (store, now) = (setup.store().await, OpContext::system().now());
    let key = MasterKey::new(setup.value("CRYPTO_SECRET")).unwrap();
    let credential = LlmCredential {
        id: "modelos1".parse().unwrap(),
        name: "Modelos".to_owned(),
        provider: LlmProvider::Openai,
        base_url: Some(models.base_url().parse().unwrap()),
        api_key: Some(key.encrypt("sk-test")),
        created_at: now,
        updated_at: now,
    };
    let mut tx = store.begin().await.unwrap();
    tx.llm_credentials().insert(&credential).await.unwrap();
    tx.commit().await.unwrap();
    setup.done(store).await;
    credential.id.to_string()
}

/// Has the closed channel answered by an agent, from the first message on.
async fn attend(setup: &Setup, admin: &Api, models: &ModelServer) {
    let router = &setup.seeded.router;
    let credential = account(setup, models).await;
    let agent = json!({ "routerId": router, "type": "specialist", "name": "Vendas", "model": "m",
        "llmCredentialId": credential });
    let agent = id(&admin.post("/ai-agents", &agent).await.ok(201));
    let prompt =
        json!({ "routerId": router, "agentId": agent, "name": "Tarefa", "text": "Sell tea.", "order": 1 });
    admin.post("/system-prompts", &prompt).await.ok(201);
    let tool = json!({ "routerId": router, "name": "note", "kind": "tool", "definition": models.note() });
    let tool = id(&admin.post("/flows", &tool).await.ok(201));
    act(admin, &format!("/flows/{tool}/publish")).await.ok(200);
    let flow = json!({ "schemaVersion": 1, "startBlockId": "ai", "blocks": [
        { "id": "ai", "type": "agent", "agentId": agent, "maxMessages": 1_000, "outputConditions": [],
            "defaultOutput": { "blockId": "bye" } },
        { "id": "bye", "type": "content", "contents": [{ "type": "text", "text": { "body": "{{agentEndReason}}" } }],
            "input": {}, "defaultOutput": { "blockId": "bye" } } ] });
    let flow = published(admin, router, "Atendida", &flow).await;
    let change = json!({ "initialFlowId": flow });
    admin.patch(&format!("/webchat/channels/{}", setup.seeded.closed), &change).await.ok(200);
}

fn prepared(setup: Setup) -> Setup {
    let setup = setup.with("AGENT_QUIET", "10ms").with("FLOW_HTTP_ALLOWED_HOSTS", "127.0.0.1");
    setup.with("API_REQUESTS_PER_SECOND", "0")
}

/// Processes are killed when a turn comes to each of its steps, and all conversations are in the middle of something then.
async fn killed_at_each_step_of_a_turn(setup: Setup) {
    // Long enough that no process loses it on a busy machine.
    let setup = prepared(setup).with("LEASE_TTL", "5s");
    let models = ModelServer::start().await;
    let mut servers = vec![setup.start().await];
    if setup.is_distributed() {
        servers.push(setup.start().await);
    }
    let admin = Api::admin(&setup, &servers[0]).await;
    attend(&setup, &admin, &models).await;
    let places: Vec<watch::Sender<SocketAddr>> =
        servers.iter().map(|server| watch::Sender::new(server.addr)).collect();
    let mut crowd = Crowd::patient();
    for place in &places {
        crowd.add(&setup, sessions() / places.len(), &place.subscribe());
    }
    let began = Instant::now();
    for (kill, step) in Step::ALL.into_iter().enumerate() {
        crowd.reached(&setup, crowd.expected() * (kill + 1) / 7).await;
        // The older process runs the agents; the younger one does when that is dead.
        let at = kill % servers.len();
        models.reached(step).await;
        servers.remove(at).kill();
        servers.insert(at, setup.start().await);
        places[at].send_replace(servers[at].addr);
    }
    let (size, expected) = (sessions() / places.len() * places.len(), crowd.expected());
    crowd.verify(&setup).await;
    let took = began.elapsed();
    let paid = paid_once(&admin.at(&servers[0]), expected).await;
    let done = models.done();
    let answered: usize = done.answers.values().sum();
    assert_eq!((&done.overlaps, &done.refused), (&Vec::new(), &Vec::new()));
    let doubled: HashMap<_, _> = done.effects.iter().filter(|(_, count)| **count > 1).collect();
    assert!(doubled.is_empty(), "effects that were repeated: {doubled:?}");
    assert!(done.failures > 0 && done.effects.len() <= expected);
    // An answer that was on its way to a process that died is asked for again.
    let lost = answered - paid;
    assert!(lost <= Step::ALL.len() * size, "{lost} answers were lost in {} kills", Step::ALL.len());
    for server in servers {
        assert!(server.stop().await.0.success());
    }
    let kind = if setup.is_distributed() { "distributed" } else { "embedded" };
    eprintln!(
        "{kind}: {size} conversations, {expected} turns, {answered} answers of which {lost} were lost with a process, {} \
         effects, {} failures of the model, {took:?}",
        done.effects.len(),
        done.failures
    );
}

/// Every message is one turn with all of its answers, each of which is in the report of usage once. Returns how many.
async fn paid_once(admin: &Api, messages: usize) -> usize {
    let turns = eventually("every turn has ended", || async {
        let turns = turns(admin).await;
        turns.iter().all(|turn| turn["isRunning"] == false).then_some(turns)
    })
    .await;
    assert_eq!(turns.len(), messages);
    let wrong: Vec<&Value> = turns.iter().filter(|turn| !turn["error"].is_null()).collect();
    assert!(wrong.is_empty(), "{wrong:?}");
    let answers = messages * ANSWERS;
    let used = eventually("the usage is counted", || async {
        let usage = admin.get("/ai/usage").await.ok(200);
        (usage["total"]["calls"].as_u64() >= Some(answers as u64)).then(|| usage["total"].clone())
    })
    .await;
    assert_eq!(
        (&used["calls"], &used["outputTokens"]),
        (&json!(answers), &json!(10 * answers)),
        "each answer is paid once"
    );
    answers
}

async fn turns(admin: &Api) -> Vec<Value> {
    let (mut all, mut cursor) = (Vec::new(), String::new());
    loop {
        let page = admin.get(&format!("/ai/turns?limit=200{cursor}")).await.ok(200);
        all.extend(page["items"].as_array().expect("turns").iter().cloned());
        let Some(next) = page["nextCursor"].as_str() else { return all };
        cursor = format!("&cursor={next}");
    }
}

/// The process that runs the agents sleeps for longer than its lease, and wakes up with answers that nobody waits for.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_runs_the_agents_sleeps() {
    let Some(setup) = Setup::distributed().await else {
        return;
    };
    let (setup, models) = (prepared(setup), ModelServer::start().await);
    let first = setup.start().await;
    let admin = Api::admin(&setup, &first).await;
    attend(&setup, &admin, &models).await;
    let second: Server = setup.start().await;
    // Everybody talks to the one that stays awake.
    let place = watch::Sender::new(second.addr);
    let mut crowd = Crowd::patient();
    crowd.add(&setup, sessions(), &place.subscribe());
    let expected = crowd.expected();
    for part in SLEEPS {
        crowd.reached(&setup, expected * part / 6).await;
        models.reached(Step::Asked).await;
        first.signal(Signal::STOP);
        let reached = (expected * (part + 1) / 6).min(expected);
        crowd.reached(&setup, reached).await;
        first.signal(Signal::CONT);
    }
    crowd.verify(&setup).await;
    paid_once(&admin.at(&second), expected).await;
    let done = models.done();
    assert_eq!(done.refused, Vec::<String>::new());
    // Whoever falls asleep between the look at the lease and the request sends it when they wake up, once for each session.
    let mut strays: HashMap<&String, usize> = HashMap::new();
    for contact in &done.overlaps {
        *strays.entry(contact).or_default() += 1;
    }
    assert!(strays.values().all(|count| *count <= SLEEPS.len()), "{strays:?}");
    eprintln!("requests that were sent after a sleep: {}", done.overlaps.len());
    assert!(done.effects.values().all(|count| *count == 1), "{:?}", done.effects);
    for server in [first, second] {
        assert!(server.stop().await.0.success());
    }
}
