//! Tokens as a visitor sees them (spec A 9): every family, over the web chat.

use flowsdk_core::contact::HasContacts as _;
use flowsdk_core::store::Store as _;
use serde_json::{Value, json};

use super::building::{answer, shop};
use crate::harness::{Api, Client, Setup, everywhere};

everywhere!(every_family_of_tokens_over_the_web_chat);

fn block(id: &str, text: &str, enter: Value, next: &str) -> Value {
    json!({ "id": id, "type": "content", "title": format!("Bloco {id}"), "onEnter": enter,
        "contents": [{ "type": "text", "text": { "body": text } }],
        "input": { "variable": "said" }, "defaultOutput": { "blockId": next } })
}

const FIRST: &str = "{{router.brand}}|{{router.absent}}|{{flow.promo}}|{{contact.name}}|{{contact.phoneNumber}}|\
    {{contact.whatsapp.name}}|{{contact.city}}|{{input}}|{{input.type}}|{{inputMessage}}|{{lastInput}}|\
    {{input.media.id}}|{{session.mode}}|{{session.source}}|{{session.blockId}}|{{session.currentBlock.name}}|\
    {{session.currentFlow.name}}|{{session.contactIdentity}}|{{session.absent}}|{{said}}|{{absent}}|{{absent.path}}|\
    {{ticket}}|{{ticket.exit.key}}|{{handoffDeflect.reason}}";

const SECOND: &str = "{{contact.name}}|{{contact.variables.name}}|{{contact.city}}|{{contact.variables.city}}|\
    {{contact.order.id}}|{{said}}|{{session.previousBlock.id}}|{{session.sessionHistory.0.block.id}}|\
    {{system.now}}|{{a{{said}}}}|{{session.flowId}}|{{session.routerId}}";

async fn every_family_of_tokens_over_the_web_chat(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let enter = json!([
        { "type": "setContactName", "value": "{{said}}" },
        { "type": "setContactName", "value": "  " },
        { "type": "setContactName", "value": "{{absent}}" },
        { "type": "setContactVariable", "key": "city", "value": "Recife" },
        { "type": "setContactVariable", "key": "order", "value": { "id": "A1" } },
        { "type": "setContactVariable", "key": "name", "value": "na sombra" },
    ]);
    let blocks = [block("um", FIRST, json!([]), "dois"), block("dois", SECOND, enter, "um")];
    let definition = json!({ "schemaVersion": 1, "startBlockId": "um", "blocks": blocks });
    let (router, flow, channel) = shop(&admin, "Loja", &definition).await;
    let brand = json!({ "key": "brand", "value": "ACME", "isSecret": true });
    admin.post(&format!("/routers/{router}/variables"), &brand).await.ok(201);
    let promo = json!({ "key": "promo", "value": "{{said}}" });
    admin.post(&format!("/flows/{flow}/variables"), &promo).await.ok(201);

    let (mut client, ok) = Client::enter(server.addr, json!({ "channelId": channel })).await;
    let identity = format!("wc-{channel}-{}", ok["userId"].as_str().unwrap());
    let first = answer(&mut client, "olá {{router.brand}}").await;
    let said = "olá {{router.brand}}";
    let expected = [
        "ACME", "", "{{said}}", "", &identity, "", "", said, "text", said, said, "", "flow", "webchat", "um",
        "Bloco um", "Início", &identity, "", "", "", "", "", "", "",
    ];
    assert_eq!(first.split('|').collect::<Vec<_>>(), expected);

    let second = answer(&mut client, "Bia").await;
    let second: Vec<_> = second.split('|').collect();
    assert_eq!(
        second[..8],
        ["Bia", "na sombra", "Recife", "Recife", "A1", "Bia", "um", "um"],
        "in the same turn"
    );
    let now: jiff::Timestamp = second[8].parse().expect("ISO 8601");
    assert!(now.as_millisecond() > 1_700_000_000_000);
    assert_eq!(second[9..], ["", flow.as_str(), router.as_str()]);

    // The name is locked: the name that the gateway gives does not overwrite it.
    let third = answer(&mut client, "de novo").await;
    let third: Vec<_> = third.split('|').collect();
    assert_eq!((third[3], third[5], third[6], third[19]), ("Bia", "Bia", "Recife", "de novo"));
    let store = setup.store().await;
    let found = store.read().await.unwrap().contacts().find_by_phone_numbers(&[identity]).await.unwrap();
    setup.done(store).await;
    assert_eq!((found[0].name.as_str(), found[0].name_locked), ("Bia", true));
    let expected = json!({ "city": "Recife", "order": { "id": "A1" }, "name": "na sombra" });
    assert_eq!(json!(found[0].variables), expected);
}
