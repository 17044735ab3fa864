//! The settings of a router's phone channel.

use flowsdk_server::simulator::{Fault, Side};
use serde_json::{Value, json};

use super::sending::{PHONE, World};
use super::{bodies, transcript};
use crate::harness::{Setup, eventually, everywhere};

everywhere!(contacts_see_that_they_were_read_and_that_somebody_types);
everywhere!(in process: whoever_writes_an_opt_out_word_has_revoked, settings_are_checked);

impl World {
    async fn sets(&self, settings: &Value) {
        self.admin.patch(&format!("/routers/{}", self.shop.router), settings).await.ok(200);
    }

    /// The newest opt-in of the router, once it is this contact's.
    async fn newest_opt_in(&self, phone: &str) -> Value {
        eventually("the opt-in is there", || async {
            let opt_ins = self.admin.get(&format!("/routers/{}/opt-ins", self.shop.router)).await.ok(200);
            let newest = opt_ins["items"].as_array()?.first()?.clone();
            (newest["contact"]["phoneNumber"] == phone).then_some(newest)
        })
        .await
    }

    /// What the phone wrote, with whether the business has read it.
    fn ticks(&self) -> Vec<bool> {
        let screen = self.provider.screen("111", PHONE);
        screen.messages.iter().filter(|bubble| bubble.from == Side::Phone).map(|bubble| bubble.read).collect()
    }
}

async fn contacts_see_that_they_were_read_and_that_somebody_types(setup: Setup) {
    let world = World::new(setup, false).await;
    world.says("um");
    world.sent(1).await;
    world.sets(&json!({ "phone": { "readReceipts": true } })).await;
    world.says("dois");
    world.sent(2).await;
    eventually("both are read", || async { (world.ticks() == [true, true]).then_some(()) }).await;
    assert!(!world.provider.screen("111", PHONE).typing);
    // The answer is on its way for longer than the receipt.
    world.sets(&json!({ "phone": { "typingIndicator": true } })).await;
    world.provider.fail_next(Fault::Delay { millis: 3_000 });
    world.says("três");
    eventually("somebody types", || async { world.provider.screen("111", PHONE).typing.then_some(()) }).await;
    world.sent(3).await;
    let screen = world.provider.screen("111", PHONE);
    assert!(!screen.typing, "until the answer is there");
    assert_eq!(world.ticks(), [true; 3]);
    assert_eq!(world.provider.calls(), 3, "what is sent is counted without receipts");
    assert!(world.server.stop().await.0.success());
}

async fn whoever_writes_an_opt_out_word_has_revoked(setup: Setup) {
    let world = World::new(setup, false).await;
    world.sets(&json!({ "phone": { "optOutWords": ["sair", "não quero mais"] } })).await;
    world.says("quero sair");
    world.says("Sair!");
    let said = transcript(&world.admin, PHONE, 4).await;
    assert!(bodies(&said).contains(&"eco Sair!"), "the flow answers it: {said:?}");
    let revoked = world.newest_opt_in(PHONE).await;
    assert_eq!((&revoked["status"], &revoked["source"]), (&json!("revoked"), &json!("contact")));
    let all = world.admin.get(&format!("/routers/{}/opt-ins", world.shop.router)).await.ok(200);
    assert_eq!(all["items"].as_array().map(Vec::len), Some(1), "{all}");
    // Also where no flow answers.
    world.sets(&json!({ "initialFlowId": null })).await;
    let other = "5521987654321";
    let text = json!({ "type": "text", "text": { "body": "nao quero mais" } });
    world.provider.say("111", other, "Bia", text);
    assert_eq!(world.newest_opt_in(other).await["source"], "contact");
}

async fn settings_are_checked(setup: Setup) {
    let world = World::new(setup, false).await;
    let path = format!("/routers/{}", world.shop.router);
    for (phone, field) in [
        (json!({ "optOutWords": [""] }), "phone.optOutWords[0]"),
        (json!({ "optOutWords": ["!?"] }), "phone.optOutWords[0]"),
        (json!({ "optOutWords": ["a".repeat(65)] }), "phone.optOutWords[0]"),
        (json!({ "optOutWords": vec!["sair"; 51] }), "phone.optOutWords"),
        (json!({ "readReceipts": "yes" }), "phone.readReceipts"),
        (json!({ "reads": true }), "phone.reads"),
    ] {
        let answer = world.admin.patch(&path, &json!({ "phone": phone })).await;
        assert_eq!(answer.invalid_fields(), [field], "{phone}");
    }
    let all = json!({ "readReceipts": true, "typingIndicator": false, "optOutWords": ["sair"] });
    world.sets(&json!({ "phone": all })).await;
    assert_eq!(world.admin.get(&path).await.ok(200)["phone"], all);
    world.sets(&json!({ "phone": null })).await;
    let none = json!({ "readReceipts": false, "typingIndicator": false, "optOutWords": [] });
    assert_eq!(world.admin.get(&path).await.ok(200)["phone"], none);
}
