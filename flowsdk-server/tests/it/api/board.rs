//! The board of a router, and to whom a ticket can go.

use std::time::Duration;

use serde_json::{Value, json};

use super::building::id;
use super::tickets::Tickets;
use crate::harness::{Api, Setup, everywhere};

everywhere!(a_board_shows_tickets_by_state_queue_and_agent);
everywhere!(in process: cards_are_those_that_are_asked_for, yesterday_is_not_on_the_board, what_is_refused);

fn column<'a>(board: &'a Value, status: &str) -> &'a Value {
    let columns = board["columns"].as_array().unwrap();
    columns.iter().find(|column| column["status"] == status).unwrap()
}

fn cards(board: &Value, status: &str) -> Vec<String> {
    let cards = column(board, status)["cards"].as_array().unwrap();
    cards.iter().map(|card| id(&card["ticket"])).collect()
}

fn counts(board: &Value) -> [i64; 3] {
    ["waiting", "assigned", "closed"].map(|status| column(board, status)["count"].as_i64().unwrap())
}

async fn a_board_shows_tickets_by_state_queue_and_agent(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let tickets = Tickets::new(&admin).await;
    let queue = tickets.queue(&json!({ "distributionStrategy": "manual_pickup" })).await;
    let (bia, user) = tickets.agent(&setup, &[&queue]).await;
    let mut all = Vec::new();
    for _ in 0..4 {
        all.push(id(&tickets.hand_over(&server).await.1));
    }
    let closed = id(&bia.post("/tickets/pickup", &json!({})).await.ok(200)["ticket"]);
    let has = id(&bia.post("/tickets/pickup", &json!({})).await.ok(200)["ticket"]);
    bia.post(&format!("/tickets/{closed}/close"), &json!({})).await.ok(200);
    bia.put("/agents/me/presence", &json!({ "status": "busy" })).await.ok(200);
    let board = bia.get(&format!("/helpdesk/board?routerId={}", tickets.router)).await.ok(200);
    assert_eq!(counts(&board), [2, 1, 1]);
    assert_eq!(cards(&board, "waiting"), all[2..], "the oldest first");
    assert_eq!((cards(&board, "assigned"), cards(&board, "closed")), (vec![has.clone()], vec![closed]));
    let card = &column(&board, "assigned")["cards"][0];
    assert_eq!(card["ticket"], bia.get(&format!("/tickets/{has}")).await.ok(200));
    assert_eq!(card["queueName"], "Fila");
    assert!(card["contactName"].is_string());
    let me = admin.get(&format!("/users/{user}")).await.ok(200);
    assert_eq!(card["assignedUserName"], me["name"]);
    assert_eq!(column(&board, "waiting")["cards"][0]["assignedUserName"], Value::Null);
    let expected =
        json!([{ "queueId": queue, "name": "Fila", "isActive": true, "waiting": 2, "assigned": 1 }]);
    assert_eq!(board["queues"], expected);
    let expected = json!([{ "userId": user, "name": me["name"], "presence": "busy", "assigned": 1 }]);
    assert_eq!(board["agents"], expected);
    // An agent sees to whom a ticket can go.
    let targets = bia.get(&format!("/tickets/{has}/targets")).await.ok(200);
    assert_eq!(targets, json!({ "queues": board["queues"], "agents": board["agents"] }));
}

async fn cards_are_those_that_are_asked_for(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let tickets = Tickets::new(&admin).await;
    let queue = tickets.queue(&json!({ "distributionStrategy": "manual_pickup" })).await;
    let other = tickets.queue(&json!({ "name": "Outra", "distributionStrategy": "manual_pickup" })).await;
    let (bia, user) = tickets.agent(&setup, &[&queue, &other]).await;
    let mut all = Vec::new();
    for _ in 0..3 {
        all.push(id(&tickets.hand_over(&server).await.1));
    }
    let to = json!({ "toQueueId": other });
    let moved = id(&bia.post(&format!("/tickets/{}/transfer", all[2]), &to).await.ok(200));
    bia.post("/tickets/pickup", &json!({})).await.ok(200);
    let board = async |query: &str| {
        bia.get(&format!("/helpdesk/board?routerId={}{query}", tickets.router)).await.ok(200)
    };
    // What goes on as another ticket is not over.
    assert_eq!(counts(&board("").await), [2, 1, 0]);
    let of_queue = board(&format!("&queueId={other}")).await;
    assert_eq!((counts(&of_queue), cards(&of_queue, "waiting")), ([1, 0, 0], vec![moved.clone()]));
    let of_user = board(&format!("&assignedUserId={user}")).await;
    assert_eq!((counts(&of_user), cards(&of_user, "assigned")), ([0, 1, 0], vec![all[0].clone()]));
    assert_eq!(cards(&of_user, "waiting"), Vec::<String>::new());
    let of_both = board(&format!("&assignedUserId={user}&queueId={other}")).await;
    assert_eq!(counts(&of_both), [0, 0, 0]);
    // An inactive queue has a place on the board, and nothing can go there.
    admin.patch(&format!("/queues/{other}"), &json!({ "isActive": false })).await.ok(200);
    let names = |list: &Value| -> Vec<String> {
        let all = list["queues"].as_array().unwrap();
        all.iter().map(|queue| queue["name"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(names(&board("").await), ["Fila", "Outra"]);
    assert_eq!(names(&bia.get(&format!("/tickets/{moved}/targets")).await.ok(200)), ["Fila"]);
}

async fn yesterday_is_not_on_the_board(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let tickets = Tickets::new(&admin).await;
    let queue = tickets.queue(&json!({ "distributionStrategy": "manual_pickup" })).await;
    let (bia, _) = tickets.agent(&setup, &[&queue]).await;
    tickets.hand_over(&server).await;
    let ticket = id(&bia.post("/tickets/pickup", &json!({})).await.ok(200)["ticket"]);
    bia.post(&format!("/tickets/{ticket}/close"), &json!({})).await.ok(200);
    let path = format!("/helpdesk/board?routerId={}", tickets.router);
    assert_eq!(counts(&bia.get(&path).await.ok(200)), [0, 0, 1]);
    server.advance(Duration::from_hours(24)).await;
    // The login has ended meanwhile.
    let admin = Api::admin(&setup, &server).await;
    let board = admin.get(&path).await.ok(200);
    assert_eq!(counts(&board), [0, 0, 0]);
    assert_eq!(cards(&board, "closed"), Vec::<String>::new());
}

async fn what_is_refused(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let tickets = Tickets::new(&admin).await;
    tickets.queue(&json!({ "distributionStrategy": "manual_pickup" })).await;
    let (_visitor, ticket) = tickets.hand_over(&server).await;
    let read = json!([{ "resource": "helpdesk", "actions": ["read"] }]);
    let stranger = admin.member(&setup, &read, &[&setup.seeded.router]).await;
    let board = format!("/helpdesk/board?routerId={}", tickets.router);
    let targets = format!("/tickets/{}/targets", id(&ticket));
    stranger.get(&board).await.refused(403, "router_out_of_scope", "Roteador fora do escopo");
    stranger.get(&targets).await.refused(404, "not_found", "Ticket não encontrado");
    let reports = json!([{ "resource": "reports", "actions": ["read"] }]);
    let nobody = admin.member(&setup, &reports, &[&tickets.router]).await;
    for path in [&board, &targets] {
        nobody.get(path).await.refused(403, "permission_denied", "Sem permissão");
    }
    for (query, fields) in [
        ("", vec!["routerId"]),
        ("?routerId=!", vec!["routerId"]),
        ("?routerId=a&queueId=!&assignedUserId=", vec!["assignedUserId", "queueId"]),
    ] {
        let mut found = admin.get(&format!("/helpdesk/board{query}")).await.invalid_fields();
        found.sort();
        assert_eq!(found, fields, "{query}");
    }
    let unknown = admin.get("/helpdesk/board?routerId=cnothing").await;
    unknown.refused(422, "router_unknown", "Roteador não encontrado");
}
