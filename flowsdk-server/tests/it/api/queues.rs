//! Queues, and the agents who work in them.

use serde_json::{Value, json};

use super::agents::agent;
use super::building::{id, published, router};
use super::router_records::Routes;
use crate::harness::{Api, Setup, everywhere};

everywhere!(life, agents_work_in_queues);
everywhere!(in process: what_is_refused, scope, twice, defaults);

const ROUTES: Routes = Routes {
    path: "/queues",
    body: queue,
    second: |router| json!({ "routerId": router, "name": "Vendas" }),
    change: || {
        json!({ "name": "Contas", "abandonAfterMinutes": null, "businessHours": null, "maxWaiting": 7,
            "waitingNotice": null, "serviceLevel": null, "survey": null,
            "isActive": false })
    },
    fields: 17,
    unlisted: &[],
    commands: &[],
    resource: "queues",
    kind: "QUEUE",
    not_found: "Fila não encontrada",
};

fn queue(router: &str) -> Value {
    json!({ "routerId": router, "name": "Cobrança", "distributionStrategy": "round_robin",
        "maxConcurrentTicketsPerAgent": 3, "abandonAfterMinutes": 30, "reassignAfterMinutes": 15, "acceptWithinSeconds": 30,
        "businessHours": { "timeZone": "America/Sao_Paulo",
            "spans": [{ "days": ["monday", "friday"], "from": "09:00", "to": "18:00" }],
            "holidays": [{ "date": "2026-12-25", "name": "Natal", "spans": [] }] },
        "deflectWhen": ["closed", "full"], "maxWaiting": 50, "isActive": true,
        "waitingNotice": { "text": "{{position}}, {{waitMinutes}} min", "textWithoutWait": "{{position}}",
            "afterSeconds": 0, "everyMinutes": 5 },
        "serviceLevel": { "firstResponseMinutes": 15, "resolutionMinutes": 480, "warnAtPercent": 75 },
        "survey": { "question": "1 a 5?", "commentQuestion": "Por quê?", "thanks": "Obrigado!", "withinMinutes": 30 } })
}

async fn life(setup: Setup) {
    ROUTES.live(setup).await;
}

async fn scope(setup: Setup) {
    ROUTES.keep_to_their_router(setup).await;
}

async fn twice(setup: Setup) {
    ROUTES.are_created_once(setup).await;
}

async fn defaults(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let router = router(&admin, "Loja").await;
    let made = admin.post("/queues", &json!({ "routerId": router, "name": "Q" })).await.ok(201);
    for (field, value) in [
        ("distributionStrategy", json!("least_loaded")),
        ("maxConcurrentTicketsPerAgent", json!(5)),
        ("abandonAfterMinutes", json!(null)),
        ("reassignAfterMinutes", json!(null)),
        ("acceptWithinSeconds", json!(null)),
        ("businessHours", json!(null)),
        ("deflectWhen", json!([])),
        ("maxWaiting", json!(null)),
        ("waitingNotice", json!(null)),
        ("serviceLevel", json!(null)),
        ("survey", json!(null)),
        ("isActive", json!(true)),
    ] {
        assert_eq!(made[field], value, "{field}");
    }
}

async fn what_is_refused(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let router = router(&admin, "Loja").await;
    let span = |from: &str, to: &str| json!({ "days": ["monday"], "from": from, "to": to });
    let wrong = [
        ("reassignAfterMinutes", json!(0)),
        ("acceptWithinSeconds", json!(4)),
        ("acceptWithinSeconds", json!(3_601)),
        ("deflectWhen[0]", json!(["tired"])),
        ("deflectWhen", json!("closed")),
        ("maxWaiting", json!(0)),
        ("waitingNotice.text", json!({})),
        ("waitingNotice.text", json!({ "text": " " })),
        ("waitingNotice.text", json!({ "text": "x".repeat(1_025) })),
        ("waitingNotice.textWithoutWait", json!({ "text": "x", "textWithoutWait": "" })),
        ("waitingNotice.afterSeconds", json!({ "text": "x", "afterSeconds": 3_601 })),
        ("waitingNotice.everyMinutes", json!({ "text": "x", "everyMinutes": 0 })),
        ("waitingNotice.other", json!({ "text": "x", "other": 1 })),
        ("serviceLevel", json!({})),
        ("serviceLevel.firstResponseMinutes", json!({ "firstResponseMinutes": 0 })),
        ("serviceLevel.resolutionMinutes", json!({ "resolutionMinutes": 43_201 })),
        ("serviceLevel.firstResponseMinutes", json!({ "firstResponseMinutes": 3, "resolutionMinutes": 2 })),
        ("serviceLevel.warnAtPercent", json!({ "resolutionMinutes": 1, "warnAtPercent": 100 })),
        ("serviceLevel.other", json!({ "resolutionMinutes": 1, "other": 1 })),
        ("survey.question", json!({})),
        ("survey.question", json!({ "question": " " })),
        ("survey.thanks", json!({ "question": "?", "thanks": "" })),
        ("survey.commentQuestion", json!({ "question": "?", "commentQuestion": "x".repeat(1_025) })),
        ("survey.withinMinutes", json!({ "question": "?", "withinMinutes": 1_441 })),
        ("survey.other", json!({ "question": "?", "other": 1 })),
        ("businessHours.spans", json!({})),
        ("businessHours.timeZone", json!({ "spans": [], "timeZone": "America/Atlantis" })),
        ("businessHours.other", json!({ "spans": [], "other": 1 })),
        ("businessHours.spans[0].from", json!({ "spans": [span("9:00", "18:00")] })),
        ("businessHours.spans[0].to", json!({ "spans": [span("09:00", "24:01")] })),
        (
            "businessHours.spans[0].days[0]",
            json!({ "spans": [{ "days": ["domingo"], "from": "09:00", "to": "18:00" }] }),
        ),
        ("businessHours.holidays[0].date", json!({ "spans": [], "holidays": [{ "date": "2026-02-30" }] })),
        ("name", json!("")),
        ("name", json!("  ")),
        ("name", json!("x".repeat(201))),
        ("distributionStrategy", json!("fair")),
        ("distributionStrategy", json!(1)),
        ("maxConcurrentTicketsPerAgent", json!(0)),
        ("maxConcurrentTicketsPerAgent", json!(1_001)),
        ("maxConcurrentTicketsPerAgent", json!(1.5)),
        ("abandonAfterMinutes", json!(0)),
        ("abandonAfterMinutes", json!("10")),
        ("isActive", json!("yes")),
        ("other", json!(1)),
    ];
    ROUTES.refuse(&admin, &router, &json!({}), &wrong).await;
    let hours = json!({ "spans": [span("18:00", "09:00")],
        "holidays": [{ "date": "2026-12-25" }, { "date": "2026-12-25" }] });
    let body = json!({ "routerId": router, "name": "Noite", "businessHours": hours });
    let refused = admin.post(ROUTES.path, &body).await;
    refused.refused(400, "validation_failed", "Dados inválidos");
    let expected = json!([
        { "field": "businessHours.spans[0].to", "message": "Deve ser depois de from" },
        { "field": "businessHours.holidays[1].date", "message": "Feriado repetido" },
    ]);
    assert_eq!(refused.json()["details"], expected);
    let again = admin.post(ROUTES.path, &queue(&router)).await;
    again.refused(409, "name_taken", "Nome já existe");
}

async fn agents_work_in_queues(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let (mine, theirs) = (router(&admin, "A").await, router(&admin, "B").await);
    let queue = id(&admin.post("/queues", &queue(&mine)).await.ok(201));
    let (ana, foreign) = (agent(&admin, &mine, "ana").await, agent(&admin, &theirs, "bia").await);
    let path = format!("/queues/{queue}/agents");
    assert_eq!(admin.get(&path).await.ok(200), json!({ "items": [] }));
    let at = |agent: &str| format!("{path}/{agent}");
    for _ in 0..2 {
        admin.send("PUT", &at(&id(&ana)), &[], None).await.ok(204);
    }
    assert_eq!(admin.get(&path).await.ok(200), json!({ "items": [ana] }));
    for agent in [id(&foreign), "cnothing".to_owned()] {
        for method in ["PUT", "DELETE"] {
            let answer = admin.send(method, &at(&agent), &[], None).await;
            answer.refused(422, "agent_unknown", "O agente não existe neste roteador");
        }
    }
    let all = json!([{ "resource": "queues", "actions": ["read", "write"] }]);
    let stranger = admin.member(&setup, &all, &[&theirs]).await;
    for answer in [
        stranger.get(&path).await,
        stranger.send("PUT", &at(&id(&foreign)), &[], None).await,
        stranger.send("DELETE", &at(&id(&ana)), &[], None).await,
        stranger.get("/queues/cnothing/agents").await,
    ] {
        answer.refused(404, "not_found", "Fila não encontrada");
    }
    admin.delete(&at(&id(&ana))).await.ok(204);
    assert_eq!(admin.get(&path).await.ok(200), json!({ "items": [] }));
    admin.send("PUT", &at(&id(&ana)), &[], None).await.ok(204);
    // Whoever is no agent any more leaves the queues.
    admin.delete(&format!("/agents/{}", id(&ana))).await.ok(204);
    assert_eq!(admin.get(&path).await.ok(200), json!({ "items": [] }));
    // Rules that lead to a queue are in the way.
    let rule = json!({ "routerId": mine, "name": "R", "priority": 1, "targetQueueId": queue });
    let rule = id(&admin.post("/queue-distribution-rules", &rule).await.ok(201));
    let refused = admin.delete(&format!("/queues/{queue}")).await;
    refused.refused(409, "in_use", "Registro em uso");
    // So are published flows that name it.
    let hands_over = json!({ "schemaVersion": 1, "startBlockId": "people", "blocks": [
        { "id": "people", "type": "human", "queueId": queue, "defaultOutput": { "blockId": "people" } }] });
    let flow = published(&admin, &mine, "Atende", &hands_over).await;
    let refused = admin.delete(&format!("/queues/{queue}")).await;
    let details = json!([{ "field": "queueDistributionRule.targetQueueId", "message": rule },
        { "field": "flow.published", "message": flow }]);
    assert_eq!(refused.json()["details"], details);
    let bia = admin.member(&setup, &all, &[&mine]).await;
    let path = format!("/queues/{queue}?force=true");
    bia.delete(&path).await.refused(403, "admin_only", "Acesso restrito a administradores");
    admin.delete(&path).await.ok(204);
    admin.get(&format!("/queue-distribution-rules/{rule}")).await.assert_error(404);
}
