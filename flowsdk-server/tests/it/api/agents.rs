//! Agents, and whether they are there.

use std::time::Duration;

use serde_json::{Value, json};

use super::building::{details, id, records, router};
use super::tickets::Tickets;
use crate::harness::{Api, Setup, eventually, everywhere};

everywhere!(life, a_schedule_says_when_an_agent_may_log_in);
everywhere!(in process:
    what_is_refused,
    scope,
    who_reaches_some_routers_takes_users_of_these_only,
    presence,
    supervisors_set_agents_offline,
    an_agent_with_tickets_is_deleted_by_force_only,
    an_offer_ends_with_its_agent,
);

/// A new user.
pub async fn user(api: &Api, name: &str) -> String {
    let user = json!({ "name": name, "email": format!("{name}@example.com"), "phone": "5511999990000",
        "password": "senha-segura" });
    id(&api.post("/users", &user).await.ok(201))
}

/// A new user who is an agent of a router.
pub async fn agent(api: &Api, router: &str, name: &str) -> Value {
    let body = json!({ "routerId": router, "userId": user(api, name).await });
    api.post("/agents", &body).await.ok(201)
}

async fn life(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let router = router(&admin, "Loja").await;
    let ana = user(&admin, "ana").await;
    let answer = admin.post("/agents", &json!({ "routerId": router, "userId": ana })).await;
    let made = answer.ok(201);
    let path = format!("/agents/{}", id(&made));
    assert_eq!(answer.headers["location"], format!("/api{path}"));
    assert_eq!(made.as_object().unwrap().len(), 10, "{made}");
    assert_eq!((&made["name"], &made["presence"]), (&json!("ana"), &json!("offline")));
    assert_eq!((&made["userId"], &made["canActiveDispatch"]), (&json!(ana), &json!(false)));
    assert_eq!(made["loginSchedule"], json!([]));
    assert_eq!(admin.get(&path).await.ok(200), made);
    let changed = admin.patch(&path, &json!({ "canActiveDispatch": true })).await.ok(200);
    assert_eq!(changed["canActiveDispatch"], json!(true));
    assert_eq!(admin.get(&format!("/agents?routerId={router}")).await.ok(200)["items"], json!([changed]));
    admin.delete(&path).await.ok(204);
    admin.get(&path).await.refused(404, "not_found", "Agente não encontrado");
    let log = records(&admin, &format!("entityType=AGENT&routerId={router}"), 3).await;
    assert_eq!(log.len(), 3);
    // An agent goes with their user.
    let again = admin.post("/agents", &json!({ "routerId": router, "userId": ana })).await.ok(201);
    admin.delete(&format!("/users/{ana}")).await.ok(204);
    admin.get(&format!("/agents/{}", id(&again))).await.assert_error(404);
}

async fn what_is_refused(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let router = router(&admin, "Loja").await;
    let ana = agent(&admin, &router, "ana").await;
    let post = async |router: &str, user: &Value| {
        admin.post("/agents", &json!({ "routerId": router, "userId": user })).await
    };
    let text = "O usuário já é agente deste roteador";
    post(&router, &ana["userId"]).await.refused(409, "agent_taken", text);
    post(&router, &json!("cnobody")).await.refused(422, "user_unknown", "Usuário não existe");
    post("cnothing", &ana["userId"]).await.refused(422, "router_unknown", "Roteador não encontrado");
    assert_eq!(post(&router, &json!("!")).await.invalid_fields(), ["userId"]);
    let path = format!("/agents/{}", id(&ana));
    assert_eq!(
        admin.patch(&path, &json!({ "canActiveDispatch": 1 })).await.invalid_fields(),
        ["canActiveDispatch"]
    );
    assert_eq!(admin.patch(&path, &json!({ "userId": "x" })).await.invalid_fields(), ["userId"]);
    let range = |weekday: i64, from: &str, to: &str| json!({ "weekday": weekday, "from": from, "to": to });
    for (wrong, field) in [
        (json!("always"), "loginSchedule"),
        (json!([range(7, "08:00", "18:00")]), "loginSchedule[0].weekday"),
        (json!([range(-1, "08:00", "18:00")]), "loginSchedule[0].weekday"),
        (json!([range(1, "08:00", "18:00"), range(2, "8:00", "18:00")]), "loginSchedule[1].from"),
        (json!([range(1, "08:00", "24:00")]), "loginSchedule[0].to"),
        (json!([{ "weekday": 1, "from": "08:00" }]), "loginSchedule[0].to"),
    ] {
        let refused = admin.patch(&path, &json!({ "loginSchedule": wrong })).await;
        assert_eq!(refused.invalid_fields(), [field], "{wrong}");
    }
}

/// Rulings A8.
async fn a_schedule_says_when_an_agent_may_log_in(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let router = router(&admin, "Loja").await;
    let ana = agent(&admin, &router, "ana").await;
    let path = format!("/agents/{}", id(&ana));
    let login = json!({ "email": "ana@example.com", "password": "senha-segura" });
    let now: jiff::Timestamp = ana["createdAt"].as_str().unwrap().parse().unwrap();
    let today = now.to_zoned(jiff::tz::TimeZone::UTC).weekday().to_sunday_zero_offset();
    let on = |days: i8| json!([{ "weekday": (today + days) % 7, "from": "00:00", "to": "00:00" }]);
    // No time zone is three days away.
    let changed = admin.patch(&path, &json!({ "loginSchedule": on(3) })).await.ok(200);
    assert_eq!(changed["loginSchedule"], on(3));
    let blocked = admin.post("/auth/desk-login", &login).await;
    blocked.refused(403, "schedule_blocked", "Fora do horário de acesso");
    let all: Vec<Value> = (0..7).map(|day| on(day)[0].clone()).collect();
    admin.patch(&path, &json!({ "loginSchedule": all })).await.ok(200);
    admin.post("/auth/desk-login", &login).await.ok(200);
    admin.patch(&path, &json!({ "loginSchedule": on(3) })).await.ok(200);
    admin.patch(&path, &json!({ "canActiveDispatch": true })).await.ok(200);
    admin.post("/auth/desk-login", &login).await.refused(
        403,
        "schedule_blocked",
        "Fora do horário de acesso",
    );
    let always = admin.patch(&path, &json!({ "loginSchedule": [] })).await.ok(200);
    assert_eq!(always["loginSchedule"], json!([]));
    admin.post("/auth/desk-login", &login).await.ok(200);
}

async fn scope(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let (mine, theirs) = (router(&admin, "A").await, router(&admin, "B").await);
    let foreign = agent(&admin, &theirs, "ana").await;
    let path = format!("/agents/{}", id(&foreign));
    let all = json!([{ "resource": "queues", "actions": ["read", "write"] }]);
    let bia = admin.member(&setup, &all, &[&mine]).await;
    let may = json!({ "canActiveDispatch": true });
    for answer in [bia.get(&path).await, bia.patch(&path, &may).await, bia.delete(&path).await] {
        answer.refused(404, "not_found", "Agente não encontrado");
    }
    assert_eq!(bia.get("/agents").await.ok(200)["items"], json!([]));
    let body = json!({ "routerId": theirs, "userId": foreign["userId"] });
    bia.post("/agents", &body).await.refused(403, "router_out_of_scope", "Roteador fora do escopo");
    let read = json!([{ "resource": "queues", "actions": ["read"] }]);
    let eva = admin.member(&setup, &read, &[]).await;
    eva.get(&path).await.ok(200);
    eva.delete(&path).await.refused(403, "permission_denied", "Sem permissão");
}

/// What is said of an agent holds for their user in all routers: other tenants' users are not to be taken.
async fn who_reaches_some_routers_takes_users_of_these_only(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let (mine, theirs) = (router(&admin, "A").await, router(&admin, "B").await);
    let all = json!([{ "resource": "queues", "actions": ["read", "write"] }]);
    let supervisor = admin.member(&setup, &all, &[&mine]).await;
    let me = async |api: &Api| id(&api.get("/auth/me").await.ok(200)["user"]);
    let member = async |routers: &[&str]| me(&admin.member(&setup, &json!([]), routers).await).await;
    let make =
        async |user: &str| supervisor.post("/agents", &json!({ "routerId": mine, "userId": user })).await;
    let administrator = me(&admin).await;
    for user in
        [member(&[&theirs]).await, member(&[]).await, administrator.clone(), user(&admin, "ana").await]
    {
        make(&user).await.refused(422, "user_unknown", "Usuário não existe");
    }
    for user in [member(&[&mine]).await, member(&[&theirs, &mine]).await] {
        make(&user).await.ok(201);
    }
    // Whoever reaches everything takes anybody.
    admin.post("/agents", &json!({ "routerId": mine, "userId": administrator })).await.ok(201);
}

async fn presence(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let router = router(&admin, "Loja").await;
    let desk = json!([{ "resource": "helpdesk", "actions": ["read", "write"] }]);
    let bia = admin.member(&setup, &desk, &[&router]).await;
    let me = bia.get("/auth/me").await.ok(200)["id"].as_str().unwrap().to_owned();
    let body = json!({ "routerId": router, "userId": me });
    let path = format!("/agents/{}", id(&admin.post("/agents", &body).await.ok(201)));
    let seen = async || admin.get(&path).await.ok(200)["presence"].as_str().unwrap().to_owned();
    let beat = async || {
        let answer = bia.send("POST", "/agents/me/heartbeat", &[], None).await;
        answer.ok(200)["status"].as_str().unwrap().to_owned()
    };
    assert_eq!((seen().await.as_str(), beat().await.as_str()), ("offline", "offline"));
    for status in ["online", "away", "busy", "offline"] {
        let answer = bia.put("/agents/me/presence", &json!({ "status": status })).await;
        assert_eq!(answer.ok(200), json!({ "status": status }));
        assert_eq!(seen().await, status);
    }
    bia.put("/agents/me/presence", &json!({ "status": "online" })).await.ok(200);
    server.advance(Duration::from_secs(59)).await;
    assert_eq!(beat().await, "online");
    server.advance(Duration::from_secs(59)).await;
    assert_eq!(seen().await, "online");
    server.advance(Duration::from_secs(1)).await;
    assert_eq!((seen().await.as_str(), beat().await.as_str()), ("offline", "offline"));
    for wrong in [json!({}), json!({ "status": "asleep" }), json!({ "status": 1 })] {
        assert_eq!(bia.put("/agents/me/presence", &wrong).await.invalid_fields(), ["status"], "{wrong}");
    }
    let token = admin.post("/api-clients", &json!({ "name": "C", "permissions": desk })).await.ok(201);
    setup.plant(token["token"].as_str().unwrap());
    let machine = admin.with(token["token"].as_str().unwrap());
    let answer = machine.put("/agents/me/presence", &json!({ "status": "online" })).await;
    answer.assert_error(403);
    assert_eq!(answer.json()["code"], "user_only");
}

async fn supervisors_set_agents_offline(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let router = router(&admin, "Loja").await;
    let desk = json!([{ "resource": "helpdesk", "actions": ["read", "write"] }]);
    let bia = admin.member(&setup, &desk, &[&router]).await;
    let me = bia.get("/auth/me").await.ok(200)["id"].clone();
    let agent = id(&admin.post("/agents", &json!({ "routerId": router, "userId": me })).await.ok(201));
    let path = format!("/agents/{agent}/presence");
    let queues = json!([{ "resource": "queues", "actions": ["read", "write"] }]);
    let supervisor = admin.member(&setup, &queues, &[&router]).await;
    bia.put("/agents/me/presence", &json!({ "status": "online" })).await.ok(200);
    for status in ["busy", "away", "offline"] {
        let answer = supervisor.put(&path, &json!({ "status": status })).await.ok(200);
        assert_eq!((&answer["id"], &answer["presence"]), (&json!(agent), &json!(status)));
    }
    let beat = bia.send("POST", "/agents/me/heartbeat", &[], None).await;
    assert_eq!(beat.ok(200), json!({ "status": "offline" }), "it is not renewed away");
    let log = records(&admin, &format!("entityType=AGENT&action=UPDATE&routerId={router}"), 3).await;
    assert_eq!(log[0]["entityId"], json!(agent), "{log:?}");
    let changes: Vec<&Value> = log.iter().rev().map(|record| &record["changes"]["presence"]).collect();
    let turned = |from: &str, to: &str| json!({ "from": from, "to": to });
    let expected = [turned("online", "busy"), turned("busy", "away"), turned("away", "offline")];
    assert_eq!(json!(changes), json!(expected));
    // That somebody is there only they say.
    for wrong in [json!({ "status": "online" }), json!({ "status": 1 }), json!({})] {
        assert_eq!(supervisor.put(&path, &wrong).await.invalid_fields(), ["status"], "{wrong}");
    }
    let away = json!({ "status": "away" });
    let stranger = admin.member(&setup, &queues, &[&setup.seeded.router]).await;
    stranger.put(&path, &away).await.refused(404, "not_found", "Agente não encontrado");
    supervisor.put("/agents/cnobody/presence", &away).await.refused(
        404,
        "not_found",
        "Agente não encontrado",
    );
    bia.put(&path, &away).await.refused(403, "permission_denied", "Sem permissão");
}

async fn an_offer_ends_with_its_agent(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let tickets = Tickets::new(&admin).await;
    let queue = tickets.queue(&json!({ "acceptWithinSeconds": 600 })).await;
    let (bia, user) = tickets.agent(&setup, &[&queue]).await;
    bia.put("/agents/me/presence", &json!({ "status": "online" })).await.ok(200);
    let (_visitor, ticket) = tickets.hand_over(&server).await;
    let path = format!("/tickets/{}", id(&ticket));
    eventually("the ticket is offered", || async {
        (admin.get(&path).await.ok(200)["offeredUserId"] == *user).then_some(())
    })
    .await;
    let agents = admin.get(&format!("/agents?routerId={}", tickets.router)).await.ok(200);
    let agent = format!("/agents/{}", id(&agents["items"][0]));
    admin.delete(&agent).await.refused(409, "in_use", "Registro em uso");
    admin.delete(&format!("{agent}?force=true")).await.ok(204);
    let left = admin.get(&path).await.ok(200);
    assert_eq!((&left["status"], &left["offeredUserId"]), (&json!("waiting"), &Value::Null));
    bia.post(&format!("{path}/accept"), &json!({})).await.assert_error(409);
}

async fn an_agent_with_tickets_is_deleted_by_force_only(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let tickets = Tickets::new(&admin).await;
    let queue = tickets.queue(&json!({ "distributionStrategy": "manual_pickup" })).await;
    let (bia, _) = tickets.agent(&setup, &[&queue]).await;
    let (_visitor, ticket) = tickets.hand_over(&server).await;
    bia.post("/tickets/pickup", &json!({})).await.ok(200);
    let agents = admin.get(&format!("/agents?routerId={}", tickets.router)).await.ok(200);
    let path = format!("/agents/{}", id(&agents["items"][0]));
    let refused = admin.delete(&path).await;
    refused.refused(409, "in_use", "Registro em uso");
    assert_eq!(details(&refused), [("tickets".to_owned(), "1 ticket aberto".to_owned())]);
    let queues = json!([{ "resource": "queues", "actions": ["read", "write"] }]);
    let supervisor = admin.member(&setup, &queues, &[&tickets.router]).await;
    supervisor.delete(&format!("{path}?force=true")).await.assert_error(403);
    admin.delete(&format!("{path}?force=true")).await.ok(204);
    server.advance(Duration::from_secs(5)).await;
    let chain = format!("/tickets?chatId={}", ticket["chatId"].as_str().unwrap());
    eventually("the conversation waits again", || async {
        let chain = admin.get(&chain).await.ok(200)["items"].clone();
        let is_next =
            (&chain[0]["status"], &chain[0]["previousTicketId"]) == (&json!("waiting"), &ticket["id"]);
        is_next.then_some(())
    })
    .await;
}
