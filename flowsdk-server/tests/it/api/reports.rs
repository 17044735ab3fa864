//! Reports on tickets.

use std::time::Duration;

use flowsdk_core::store::{Store as _, Transaction as _};
use flowsdk_core::time::Timestamp;
use flowsdk_helpdesk::ticket::{CloseKind, HasTickets as _, Ticket, TicketStatus};
use serde_json::{Value, json};

use super::building::id;
use super::tickets::Tickets;
use crate::harness::http::Answer;
use crate::harness::{Api, Setup, everywhere};

everywhere!(tickets_are_reported);
everywhere!(in process:
    reports_are_of_the_routers_within_reach,
    what_is_refused,
    a_table_has_many_pages,
);

const REPORT: &str = "/helpdesk/reports/tickets";
const TABLE: &str = "/helpdesk/reports/tickets.csv";

/// Whoever may read reports of these routers.
async fn reader(admin: &Api, setup: &Setup, routers: &[&str]) -> Api {
    admin.member(setup, &json!([{ "resource": "reports", "actions": ["read"] }]), routers).await
}

/// The rows of a table, each as name and cell of its columns.
fn rows(answer: &Answer) -> Vec<Vec<(String, String)>> {
    assert_eq!(answer.status, 200, "{answer:?}");
    assert_eq!(answer.headers["content-type"], "text/csv; charset=utf-8");
    let file = &answer.headers["content-disposition"];
    assert!(file.starts_with("attachment; filename=\"tickets-2") && file.ends_with(".csv\""), "{file}");
    let mut table = csv::Reader::from_reader(answer.body.as_bytes());
    let names: Vec<String> = table.headers().unwrap().iter().map(str::to_owned).collect();
    let row = |record: csv::Result<csv::StringRecord>| {
        let record = record.unwrap();
        names.iter().cloned().zip(record.iter().map(str::to_owned)).collect()
    };
    table.records().map(row).collect()
}

fn cell<'a>(row: &'a [(String, String)], name: &str) -> &'a str {
    &row.iter().find(|(known, _)| known == name).unwrap_or_else(|| panic!("no {name}")).1
}

async fn tickets_are_reported(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let desk = Tickets::new(&admin).await;
    let queue = desk.queue(&json!({ "distributionStrategy": "manual_pickup" })).await;
    let (bia, user) = desk.agent(&setup, &[&queue]).await;
    let (_visitor, first) = desk.hand_over(&server).await;
    bia.post("/tickets/pickup", &json!({})).await.ok(200);
    let path = format!("/tickets/{}", id(&first));
    bia.post(&format!("{path}/messages"), &json!({ "text": "Olá" })).await.ok(201);
    bia.post(&format!("{path}/close"), &json!({ "reason": "=pago" })).await.ok(200);
    let (_other, second) = desk.hand_over(&server).await;
    server.advance(Duration::from_secs(1)).await;
    let report = async |by: &str| {
        let path = format!("{REPORT}?routerId={}&groupBy={by}", desk.router);
        admin.get(&path).await.ok(200)
    };
    let shown = |report: &Value| -> Vec<Value> {
        let groups = report["groups"].as_array().unwrap().iter();
        groups.map(|group| json!([group["key"], group["name"], group["opened"], group["closed"]])).collect()
    };
    let of_queue = report("queue").await;
    assert_eq!(shown(&of_queue), [json!([queue, "Fila", 2, 1])]);
    assert_eq!(shown(&report("agent").await), [json!([user, "Bia", 1, 1]), json!([null, null, 1, 0])]);
    assert_eq!(shown(&report("reason").await), [json!(["=pago", null, 1, 1]), json!([null, null, 1, 0])]);
    let total = &of_queue["total"];
    assert_eq!(total.as_object().unwrap().len(), 10, "{total}");
    assert_eq!(
        (&total["opened"], &total["abandoned"], &total["transferred"]),
        (&json!(2), &json!(0), &json!(0))
    );
    for time in ["waitingMs", "firstResponseMs", "serviceMs"] {
        let spread = &total[time];
        assert_eq!((&spread["count"], &spread["p50"]), (&json!(1), &spread["max"]), "{total}");
        assert!(spread["max"].as_i64().is_some_and(|ms| ms >= 0), "{total}");
    }
    // The last 30 days by day, where the router is.
    let usual = admin.get(&format!("{REPORT}?routerId={}", desk.router)).await.ok(200);
    assert_eq!(usual["timeZone"], "America/Sao_Paulo");
    let days = usual["groups"].as_array().unwrap();
    assert_eq!(days.len(), 31);
    assert_eq!(days.iter().map(|day| day["opened"].as_i64().unwrap()).sum::<i64>(), 2);
    assert_eq!(admin.get(REPORT).await.ok(200)["timeZone"], "UTC");
    let table = rows(&admin.get(&format!("{TABLE}?routerId={}", desk.router)).await);
    let ids: Vec<&str> = table.iter().map(|row| cell(row, "id")).collect();
    assert_eq!(ids, [id(&first), id(&second)]);
    for (name, expected) in [
        ("status", "closed"),
        ("closeReason", "'=pago"),
        ("queueName", "Fila"),
        ("assignedUserName", "Bia"),
        ("createdAt", first["createdAt"].as_str().unwrap()),
    ] {
        assert_eq!(cell(&table[0], name), expected, "{name}");
    }
    assert_eq!((cell(&table[1], "assignedUserName"), cell(&table[1], "waitingMs")), ("", ""));
}

async fn reports_are_of_the_routers_within_reach(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let desk = Tickets::new(&admin).await;
    desk.queue(&json!({ "distributionStrategy": "manual_pickup" })).await;
    desk.hand_over(&server).await;
    server.advance(Duration::from_secs(1)).await;
    let mine = reader(&admin, &setup, &[&desk.router]).await;
    let both = reader(&admin, &setup, &[&desk.router, &setup.seeded.router]).await;
    let stranger = reader(&admin, &setup, &[&setup.seeded.router]).await;
    let of_router = format!("?routerId={}", desk.router);
    for (api, query, opened) in [
        (&admin, "", 1),
        (&admin, &*of_router, 1),
        (&admin, "?routerId=cnothing", 0),
        (&mine, "", 1),
        (&mine, &of_router, 1),
        (&both, "", 1),
        (&stranger, "", 0),
    ] {
        let report = api.get(&format!("{REPORT}{query}")).await.ok(200);
        assert_eq!(report["total"]["opened"], opened, "{query}");
        assert_eq!(rows(&api.get(&format!("{TABLE}{query}")).await).len(), opened, "{query}");
    }
    let desk_only = json!([{ "resource": "helpdesk", "actions": ["read", "write"] }]);
    let agent = admin.member(&setup, &desk_only, &[&desk.router]).await;
    for path in [REPORT, TABLE] {
        let refused = stranger.get(&format!("{path}{of_router}")).await;
        refused.refused(403, "router_out_of_scope", "Roteador fora do escopo");
        agent.get(path).await.refused(403, "permission_denied", "Sem permissão");
    }
}

async fn what_is_refused(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    for path in [REPORT, TABLE] {
        for (query, fields) in [
            ("from=soon&to=2026-11-20&routerId=!", &["from", "routerId", "to"][..]),
            ("from=2026-11-20T00:00:00Z&to=2026-11-20T00:00:00Z", &["from"]),
            ("from=2026-11-21T00:00:00Z&to=2026-11-20T00:00:00Z", &["from"]),
            ("from=2999-11-21T00:00:00Z", &["from"]),
            ("from=2026-01-01T00:00:00Z&to=2027-01-02T00:00:01Z", &["from"]),
        ] {
            assert_eq!(
                admin.get(&format!("{path}?{query}")).await.invalid_fields(),
                fields,
                "{path} {query}"
            );
        }
        let longest = format!("{path}?from=2026-01-01T00:00:00Z&to=2027-01-02T00:00:00Z");
        assert_eq!(admin.get(&longest).await.status, 200);
        let too_long = format!("{path}?from=2020-01-01T00:00:00Z");
        let text = "O período pode ter no máximo 366 dias";
        admin.get(&too_long).await.refused(400, "validation_failed", text);
    }
    for by in ["", "week", "Day"] {
        assert_eq!(admin.get(&format!("{REPORT}?groupBy={by}")).await.invalid_fields(), ["groupBy"], "{by}");
    }
}

/// Tickets like this one, closed, each a millisecond younger than the one before.
fn copies(ticket: &Ticket, count: i64) -> Vec<Ticket> {
    let copy = |number: i64| {
        let created_at = Timestamp::from_millis(ticket.created_at.as_millis() + number);
        Ticket {
            id: format!("copy{number:05}").parse().unwrap(),
            session_id: None,
            epoch: None,
            status: TicketStatus::Closed,
            closed_at: Some(created_at),
            close_kind: Some(CloseKind::System),
            close_reason: Some(format!("razão \"{number}\"\r\n;,")),
            created_at,
            ..ticket.clone()
        }
    };
    (1..=count).map(copy).collect()
}

async fn a_table_has_many_pages(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let desk = Tickets::new(&admin).await;
    desk.queue(&json!({})).await;
    let (_visitor, ticket) = desk.hand_over(&server).await;
    let store = setup.store().await;
    let mut tx = store.begin().await.unwrap();
    let first = tx.tickets().find(&id(&ticket).parse().unwrap()).await.unwrap().unwrap();
    let copies = copies(&first, 2_100);
    tx.tickets().insert_many(&copies).await.unwrap();
    tx.commit().await.unwrap();
    setup.done(store).await;
    server.advance(Duration::from_secs(10)).await;
    for (path, left_out) in [
        (format!("{TABLE}?routerId={}", desk.router), 0),
        (TABLE.to_owned(), 0),
        (
            format!(
                "{TABLE}?from={}&to={}",
                first.created_at + Duration::from_millis(1),
                copies[2_099].created_at
            ),
            1,
        ),
    ] {
        let table = rows(&admin.get(&path).await);
        let all = [std::slice::from_ref(&first), &copies].concat();
        let expected = &all[left_out..all.len() - left_out];
        assert_eq!(table.len(), expected.len(), "{path}");
        for (row, ticket) in table.iter().zip(expected) {
            assert_eq!(cell(row, "id"), ticket.id.as_str());
            assert_eq!(cell(row, "closeReason"), ticket.close_reason.as_deref().unwrap_or_default());
            assert_eq!(cell(row, "createdAt"), ticket.created_at.to_iso());
        }
    }
}
