//! Rules of guardrails, enforced: what breaks one reaches nobody.

use flowsdk_agent::guardrail::{Guardrail, GuardrailId, GuardrailRules};
use flowsdk_agent::ledger::{AgentTurn, AgentTurnView};
use flowsdk_agent::model::Item;
use flowsdk_core::record::HasRecords;
use flowsdk_core::router::{HasRouters as _, Router};
use flowsdk_core::session::Mode;
use flowsdk_core::store::{Store as _, Transaction as _};
use flowsdk_store::sql::SqlStore;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::crashes::{dies_after, wherever_it_dies};
use super::world::Agents;
use crate::conversations::world::session;
use crate::support::databases::on_every_database;

on_every_database! {
    a_blocked_answer_may_be_said_in_another_way,
    a_second_blocked_answer_leads_to_the_fallback,
    a_crash_gives_no_further_chance,
    links_lead_to_listed_hosts,
    effects_are_blocked_before_they_happen,
    rules_of_others_do_not_matter,
    models_are_told_no_personal_data,
}

impl Agents {
    /// Adds a guardrail of the router, or of one of its agents, that only has rules.
    pub(super) async fn guard(&self, id: &str, agent: Option<&str>, rules: Value) {
        let router = self.world.router.to_string();
        self.guard_in(&router, id, agent, rules).await;
    }

    async fn guard_in(&self, router: &str, id: &str, agent: Option<&str>, rules: Value) {
        let now = self.world.cx.now();
        let rules: GuardrailRules = serde_json::from_value(rules).expect("rules");
        let guardrail = Guardrail {
            id: id.parse().expect("an id"),
            router_id: router.parse().expect("an id"),
            agent_id: agent.map(|agent| agent.parse().expect("an id")),
            text: String::new(),
            rules: Some(rules),
            is_active: true,
            created_at: now,
            updated_at: now,
        };
        let mut tx = self.world.store.begin().await.expect("begin");
        tx.records().insert(&guardrail).await.expect("a guardrail");
        let found: Option<Guardrail> = tx.records().find(&guardrail.id).await.expect("found");
        assert_eq!(found.as_ref(), Some(&guardrail));
        tx.commit().await.expect("commit");
    }

    /// The last turn of a visitor in this epoch.
    pub(super) async fn last_turn(&self, visitor: &str, epoch: i64) -> AgentTurn {
        self.turns(visitor, epoch, 0).await.pop().expect("a turn")
    }
}

fn says(text: &str) -> Value {
    json!([{ "tool": "sendTextMessage", "arguments": { "text": text } }])
}

fn results(turn: &AgentTurn) -> Vec<&str> {
    let results = turn.items.iter().filter_map(|item| match item {
        Item::ToolResult { output, .. } => Some(output.as_str()),
        _ => None,
    });
    results.collect()
}

async fn a_blocked_answer_may_be_said_in_another_way(store: SqlStore) {
    let rules = json!([
        { "when": { "input": "tea" }, "text": "A guaranteed profit.", "calls": [
            { "tool": "setVariable", "arguments": { "key": "asked", "value": "tea" } },
            { "tool": "sendTextMessage", "arguments": { "text": "A GUARANTEED profit!" } },
            { "tool": "endAgentSession", "arguments": {} }] },
        { "when": { "after": "endAgentSession" }, "calls": says("Tea is 12") },
    ]);
    let agents = Agents::new(store, &rules).await;
    agents.guard("g1", None, json!({ "forbiddenPatterns": ["guaranteed"] })).await;
    agents.reach("ana", "tea").await;
    assert_eq!(agents.serve("ana").await, ["Tea is 12"]);
    let stored = agents.session("ana").await;
    assert_eq!((stored.mode, &stored.variables["asked"]), (Mode::Agent, &json!("tea")), "it has not ended");
    let turn = agents.last_turn("ana", stored.epoch).await;
    assert_eq!((turn.error.as_deref(), turn.end_reason.as_deref()), (None, None));
    let results = results(&turn);
    assert!(
        results[1].starts_with("blocked: ") && !results[1].to_lowercase().contains("guaranteed"),
        "{results:?}"
    );
    assert!(results[2].starts_with("not done"), "{results:?}");
    // The next turn has a chance of its own.
    agents.say("ana", "tea").await;
    assert_eq!(agents.serve("ana").await, ["Tea is 12"]);
}

/// Breaks the rule again when it is told of it.
fn stubborn() -> Value {
    json!([
        { "when": { "input": "tea" }, "calls": says("A guaranteed profit") },
        { "when": { "after": "sendTextMessage", "result": "^blocked" }, "calls": says("It is guaranteed") },
    ])
}

async fn a_second_blocked_answer_leads_to_the_fallback(store: SqlStore) {
    let agents = Agents::new(store, &stubborn()).await;
    agents.guard("g1", Some("sales"), json!({ "forbiddenPatterns": ["guaranteed"] })).await;
    agents.reach("ana", "tea").await;
    let epoch = agents.session("ana").await.epoch;
    assert_eq!(agents.serve("ana").await, [""; 0]);
    let turn = agents.last_turn("ana", epoch).await;
    assert_eq!(
        (turn.error.as_deref(), turn.end_reason.as_deref()),
        (Some("guardrail"), Some("fallback_stuck"))
    );
    assert_eq!((turn.is_running, turn.answers.len(), turn.open_calls().len()), (false, 2, 0));
    assert_eq!(agents.go_on().await, ["Bye fallback_stuck"]);
    assert_eq!(agents.session("ana").await.mode, Mode::Flow);
    let said = agents.world.transcript_of("ana").await;
    assert!(!said.iter().any(|line| line.contains("guaranteed")), "{said:?}");
}

async fn a_crash_gives_no_further_chance(store: SqlStore) {
    let agents = Agents::new(store, &stubborn()).await;
    agents.guard("g1", None, json!({ "forbiddenPatterns": ["guaranteed"] })).await;
    let died = wherever_it_dies(async |polls| {
        let visitor = format!("v{polls}");
        agents.reach(&visitor, "tea").await;
        let epoch = agents.session(&visitor).await.epoch;
        let (served, go_on) = (session(&visitor), CancellationToken::new());
        let done = dies_after(polls, agents.another_executor().serve(&served, &go_on)).await;
        assert_eq!(agents.serve(&visitor).await, [""; 0], "after {polls} polls");
        let turn = agents.last_turn(&visitor, epoch).await;
        let ended = (turn.error.as_deref(), turn.end_reason.as_deref(), turn.answers.len());
        assert_eq!(ended, (Some("guardrail"), Some("fallback_stuck"), 2), "after {polls} polls");
        assert_eq!(agents.go_on().await, ["Bye fallback_stuck"], "after {polls} polls");
        done
    })
    .await;
    assert!(died > 2, "{died}");
}

async fn links_lead_to_listed_hosts(store: SqlStore) {
    let image = |url: &str| json!([{ "tool": "sendImageMessage", "arguments": { "url": url } }]);
    let rules = json!([
        { "when": { "input": "^good" }, "calls": says("See https://shop.example/tea or a.cdn.example") },
        { "when": { "input": "^tricky" }, "calls": says("See https://shop.example@evil.example/tea") },
        { "when": { "input": "^bare" }, "calls": says("See evil.com") },
        { "when": { "input": "^image" }, "calls": image("https://evil.example/tea.png") },
        { "when": { "after": "sendTextMessage", "result": "^blocked" }, "calls": says("See our shop") },
        { "when": { "after": "sendImageMessage", "result": "^blocked" }, "calls": says("I have no picture") },
    ]);
    let agents = Agents::new(store, &rules).await;
    agents
        .guard("g1", None, json!({ "allowedLinkHosts": ["shop.example", "*.cdn.example", "other.example"] }))
        .await;
    // Those of the agent hold, too.
    agents.guard("g2", Some("sales"), json!({ "allowedLinkHosts": ["shop.example", "*.cdn.example"] })).await;
    agents.reach("ana", "good").await;
    assert_eq!(agents.serve("ana").await, ["See https://shop.example/tea or a.cdn.example"]);
    for (text, expected) in
        [("tricky", "See our shop"), ("bare", "See our shop"), ("image", "I have no picture")]
    {
        agents.say("ana", text).await;
        assert_eq!(agents.serve("ana").await, [expected], "{text}");
    }
}

async fn effects_are_blocked_before_they_happen(store: SqlStore) {
    let remember =
        json!([{ "tool": "setContactVariable", "arguments": { "key": "likes", "value": "contraband" } }]);
    let rules = json!([
        { "when": { "input": "price" }, "calls": [{ "tool": "price", "arguments": { "product": "Contraband" } }] },
        { "when": { "input": "like" }, "calls": remember },
        { "when": { "after": "price", "result": "^blocked" }, "calls": says("We do not sell it") },
        { "when": { "after": "setContactVariable", "result": "^blocked" }, "calls": says("I forget it") },
    ]);
    let agents = Agents::new(store, &rules).await;
    agents.guard("g1", None, json!({ "forbiddenPatterns": ["contraband"] })).await;
    agents.reach("ana", "price").await;
    assert_eq!(agents.serve("ana").await, ["We do not sell it"]);
    assert_eq!(*agents.shop.calls.lock().expect("a lock"), 0);
    agents.say("ana", "like").await;
    assert_eq!(agents.serve("ana").await, ["I forget it"]);
}

async fn rules_of_others_do_not_matter(store: SqlStore) {
    let rules = json!([{ "when": { "input": "tea" }, "calls": says("A guaranteed profit") }]);
    let agents = Agents::new(store, &rules).await;
    let forbidden = json!({ "forbiddenPatterns": ["."], "allowedLinkHosts": [], "maxLength": 1 });
    let mut tx = agents.world.store.begin().await.expect("begin");
    let other = Router::new("other".parse().expect("an id"), "Other", agents.world.cx.now());
    tx.routers().insert(&other).await.expect("a router");
    tx.commit().await.expect("commit");
    agents.guard_in("other", "g1", None, forbidden.clone()).await;
    agents.guard("g2", Some("care"), forbidden).await;
    agents.reach("ana", "tea").await;
    assert_eq!(agents.serve("ana").await, ["A guaranteed profit"]);
}

const PERSONAL: [&str; 3] = ["Ana.Silva@x.example", "529.982.247-25", "4111 1111 1111 1111"];

impl Agents {
    /// Everything that models were told so far.
    fn told_to_models(&self) -> String {
        let asked = self.mind.asked.lock().expect("a lock");
        let instructed = self.mind.instructed.lock().expect("a lock");
        format!("{asked:?} {instructed:?}")
    }
}

async fn models_are_told_no_personal_data(store: SqlStore) {
    let remember = |tool: &str| json!({ "tool": tool, "arguments": { "key": "mail", "value": "{{1}}" } });
    let rules = json!([
        { "when": { "instructions": "You are care", "input": "" }, "calls": says("Care writes to [email 1]") },
        { "when": { "input": r"mail is (\[email 1\])" }, "text": "Theirs is {{1}}", "calls": [
            remember("setContactVariable"), remember("setVariable"),
            { "tool": "sendTextMessage", "arguments": { "text": "I write to {{1}}" } }] },
        { "when": { "input": "repeat it" }, "calls": says("[email 1], [cpf 1], [card 1], [card 7]") },
        { "when": { "input": "care" }, "calls": [{ "tool": "transferToAgent", "arguments": {
            "agentId": "care", "handoffContext": "Their mail is [email 1]", "lastUserInput": "care" } }] },
    ]);
    let agents = Agents::new(store, &rules).await;
    agents.guard("g1", None, json!({ "maskedData": ["cardNumber", "cpf", "email"] })).await;
    let [mail, cpf, card] = PERSONAL;
    agents.reach("ana", &format!("My mail is {mail}, I am {cpf} and pay by {card}.")).await;
    assert_eq!(agents.serve("ana").await, [format!("I write to {mail}")]);
    assert_eq!(agents.world.contact("ana").await.variables["mail"], json!(mail));
    let stored = agents.session("ana").await;
    assert_eq!(stored.variables["mail"], json!(mail));
    let shown = AgentTurnView::from(agents.last_turn("ana", stored.epoch).await);
    let shown = serde_json::to_string(&shown).expect("JSON");
    assert!(shown.contains("My mail is [email 1], I am [cpf 1] and pay by [card 1]."), "{shown}");
    assert!(PERSONAL.iter().all(|value| !shown.contains(value)), "{shown}");

    // Another process finds the same values: they are in what was said.
    agents.say("ana", "repeat it").await;
    let (ana, go_on) = (session("ana"), CancellationToken::new());
    agents.another_executor().serve(&ana, &go_on).await.expect("served");
    assert_eq!(agents.told(), [format!("{mail}, {cpf}, {card}, [card 7]")]);
    let told = agents.mind.instructed.lock().expect("a lock").last().cloned().expect("instructions");
    assert!(
        told.contains(r#"contact.mail: "[email 1]""#) && told.contains(r#"session.mail: "[email 1]""#),
        "{told}"
    );

    agents.say("ana", "care").await;
    assert_eq!(agents.serve("ana").await, [format!("Care writes to {mail}")]);
    let told = agents.told_to_models();
    assert!(PERSONAL.iter().all(|value| !told.contains(value)), "{told}");
    // Without the rule they are told again.
    let mut tx = agents.world.store.begin().await.expect("begin");
    let rule: GuardrailId = "g1".parse().expect("an id");
    HasRecords::<Guardrail>::records(&mut tx).delete(&rule).await.expect("deleted");
    tx.commit().await.expect("commit");
    agents.say("ana", "thanks").await;
    agents.serve("ana").await;
    assert!(agents.told_to_models().contains(mail));
}
