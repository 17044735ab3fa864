//! The end of a session, and the next one (rulings S22).

use serde_json::{Value, json};

use crate::harness::{Client, Setup, everywhere};

everywhere!(visitors_are_told_of_the_end, another_session_starts_without_a_message);

fn again(channel: &str, ok: &Value) -> Value {
    json!({ "channelId": channel, "userId": ok["userId"], "sessionKey": ok["sessionKey"] })
}

async fn visitors_are_told_of_the_end(setup: Setup) {
    let server = setup.start().await;
    let channel = &setup.seeded.short;
    let (mut client, ok) = Client::enter(server.addr, json!({ "channelId": channel })).await;
    assert_eq!((&ok["startOn"], &ok["mode"]), (&json!("open"), &Value::Null), "it has not begun");
    assert_eq!(ok.get("isTestChannel"), None, "visitors hear of no tests");
    assert_eq!(client.texts(1).await, ["Como foi?"]);
    let (other, ok) = Client::enter(server.addr, again(channel, &ok)).await;
    assert_eq!(ok["mode"], "flow");
    client.say("vir").await;
    assert_eq!(client.texts(1).await, ["Obrigado por vir"]);
    for client in [&client, &other] {
        assert_eq!(client.session().await, json!({ "mode": null }));
    }
    let (_late, ok) = Client::enter(server.addr, again(channel, &ok)).await;
    assert_eq!(ok["mode"], Value::Null, "it has ended");
}

async fn another_session_starts_without_a_message(setup: Setup) {
    let server = setup.start().await;
    let channel = &setup.seeded.short;
    let (mut client, _) = Client::enter(server.addr, json!({ "channelId": channel })).await;
    assert_eq!(client.texts(1).await, ["Como foi?"]);
    assert_eq!(
        client.emit("start", &json!({})).await,
        json!({ "ok": true }),
        "there is one: nothing happens"
    );
    for answer in ["vir", "voltar"] {
        client.say(answer).await;
        assert_eq!(client.texts(1).await, [format!("Obrigado por {answer}")]);
        assert_eq!(client.session().await, json!({ "mode": null }));
        assert_eq!(client.emit("start", &json!({})).await, json!({ "ok": true }));
        assert_eq!(client.texts(1).await, ["Como foi?"]);
    }
    let (waiting, ok) = Client::enter(server.addr, json!({ "channelId": setup.seeded.open })).await;
    assert_eq!(ok["startOn"], "message");
    let refused = waiting.emit("start", &json!({})).await;
    assert_eq!((&refused["ok"], &refused["code"]), (&json!(false), &json!("message_first")));
}
