//! `flowsdk-server doctor phone`.

use secrecy::SecretString;
use serde_json::json;

use super::Shop;
use super::sending::World;
use crate::harness::process::ended;
use crate::harness::{Setup, everywhere};

everywhere!(what_fails_is_named);

impl World {
    async fn doctor(&self, arguments: &[&str]) -> (bool, String) {
        let mut command = self.setup.command_of("doctor");
        let webhook = format!("http://{}/phone/webhook", self.server.addr);
        command.args(["phone", "--webhook", &webhook]).args(arguments);
        ended(command).await
    }

    async fn changes(&self, settings: serde_json::Value) {
        self.admin.patch(&format!("/routers/{}", self.shop.router), &settings).await.ok(200);
    }
}

async fn what_fails_is_named(setup: Setup) {
    for secret in [super::SECRET, "good-token", "verify-Loja"] {
        setup.plant(secret);
    }
    let world = World::new(setup, false).await;
    let (ok, said) = world.doctor(&[]).await;
    let steps: Vec<&str> = said.lines().filter_map(|line| Some(line.split_once(": ")?.0)).collect();
    let all = ["number", "flow", "token", "app secret", "account", "templates", "address", "delivery"];
    assert_eq!(steps[..all.len()], all, "{said}");
    assert!(ok && said.contains("quality GREEN"), "{said}");
    assert!(said.contains("which that of --webhook is not") && !said.contains("give yours"), "{said}");
    for secret in [super::SECRET, "good-token", "verify-Loja"] {
        assert!(!said.contains(secret), "{said}");
    }
    let fails = async |step: &str, why: &str| {
        let (ok, said) = world.doctor(&["--number", "111"]).await;
        let expected = format!("{step}: FAILS: ");
        let line = said.lines().find(|line| line.starts_with(&expected));
        assert!(!ok && line.is_some_and(|line| line.contains(why)), "{step}: {said}");
    };
    world.provider.set_access_token(Some(SecretString::from("another-token")));
    fails("token", "190").await;
    let (_, said) = world.doctor(&[]).await;
    assert!(said.contains("templates: not checked"), "{said}");
    world.provider.set_access_token(Some(SecretString::from("good-token")));
    // The secret of another app: the deliveries that this server signs for itself are taken all the same.
    world.changes(json!({ "channelAppSecret": "the-secret-of-another-app" })).await;
    fails("app secret", "100").await;
    world.changes(json!({ "channelAppSecret": null })).await;
    fails("app secret", "channelAppSecret").await;
    world.changes(json!({ "channelAppSecret": super::SECRET, "channelVerifyToken": null })).await;
    fails("address", "channelVerifyToken").await;
    world.changes(json!({ "channelVerifyToken": "verify-Loja", "initialFlowId": null })).await;
    fails("flow", "nobody answers").await;
    world.provider.set_callback(None);
    fails("account", "no app hears").await;
    let path = format!("/channel-numbers/{}", world.number().await["id"].as_str().unwrap());
    world.admin.patch(&path, &json!({ "businessAccountId": "9112" })).await.ok(200);
    fails("account", "100").await;

    let (ok, said) = world.doctor(&["--number", "999"]).await;
    assert!(!ok && said.contains("phoneNumberId 999; give one of these with --number: 111"), "{said}");
    Shop::new(&world.admin, "Outra", "222", "another-secret").await;
    let (ok, said) = world.doctor(&[]).await;
    assert!(!ok && said.contains("222"), "which one: {said}");
    let (ok, said) = world.doctor(&["--number", "222"]).await;
    assert!(!ok && said.contains("token: FAILS: the number has no accessToken"), "{said}");
}
