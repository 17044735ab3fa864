//! Groups of agents, and what their agents may.

use serde_json::json;

use super::agents::agent;
use super::building::{id, router};
use super::router_records::Routes;
use crate::harness::{Api, Setup, everywhere};

everywhere!(life);
everywhere!(in process: what_is_refused, scope, twice, agents_are_in_groups);

const ROUTES: Routes = Routes {
    path: "/agent-groups",
    body: |router| json!({ "routerId": router, "name": "Vendas", "canActiveDispatch": true }),
    second: |router| json!({ "routerId": router, "name": "Suporte" }),
    change: || json!({ "name": "Comercial", "canActiveDispatch": false }),
    fields: 6,
    unlisted: &[],
    commands: &[],
    resource: "queues",
    kind: "AGENT_GROUP",
    not_found: "Grupo de agentes não encontrado",
};

async fn life(setup: Setup) {
    ROUTES.live(setup).await;
}

async fn scope(setup: Setup) {
    ROUTES.keep_to_their_router(setup).await;
}

async fn twice(setup: Setup) {
    ROUTES.are_created_once(setup).await;
}

async fn what_is_refused(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let router = router(&admin, "Loja").await;
    let wrong = [("name", json!("")), ("canActiveDispatch", json!("yes")), ("other", json!(1))];
    ROUTES.refuse(&admin, &router, &json!({}), &wrong).await;
    let again = admin.post(ROUTES.path, &(ROUTES.body)(&router)).await;
    again.refused(409, "name_taken", "Nome já existe");
}

async fn agents_are_in_groups(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let (mine, other) = (router(&admin, "Loja").await, router(&admin, "Outra").await);
    let group = id(&admin.post("/agent-groups", &(ROUTES.body)(&mine)).await.ok(201));
    let foreign = id(&admin.post("/agent-groups", &(ROUTES.body)(&other)).await.ok(201));
    let ana = agent(&admin, &mine, "ana").await;
    assert_eq!(ana["groupId"], json!(null));
    let path = format!("/agents/{}", id(&ana));
    let text = "O grupo de agentes não existe neste roteador";
    for unknown in [&foreign, "cnothing"] {
        let refused = admin.patch(&path, &json!({ "groupId": unknown })).await;
        refused.refused(422, "agent_group_unknown", text);
    }
    let bia = super::agents::user(&admin, "bia").await;
    let body = json!({ "routerId": mine, "userId": bia, "groupId": foreign });
    admin.post("/agents", &body).await.refused(422, "agent_group_unknown", text);
    let changed = admin.patch(&path, &json!({ "groupId": group })).await.ok(200);
    assert_eq!((&changed["groupId"], &changed["canActiveDispatch"]), (&json!(group), &json!(false)));
    admin.delete(&format!("/agent-groups/{group}")).await.ok(204);
    assert_eq!(admin.get(&path).await.ok(200)["groupId"], json!(null), "they stay agents");
}
