//! `rotate-secrets` (rulings A9).

use serde_json::json;

use crate::harness::process::run;
use crate::harness::{Api, Setup, everywhere};

everywhere!(secrets_survive_a_new_key);

/// A new `CRYPTO_SECRET`: first with the one before it, then, after the rotation, without.
async fn secrets_survive_a_new_key(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let router = setup.seeded.router.clone();
    let variable = json!({ "key": "tok", "value": "planted-variable", "isSecret": true });
    setup.plant("planted-variable");
    admin.post(&format!("/routers/{router}/variables"), &variable).await.ok(201);
    let number = json!({ "routerId": router, "name": "Loja", "phoneNumberId": "106540352242922",
        "phoneNumber": "5511987654321", "businessAccountId": "102290129340398", "accessToken": "planted-token" });
    setup.plant("planted-token");
    let number = admin.post("/channel-numbers", &number).await.ok(201)["id"].as_str().unwrap().to_owned();
    let keys = format!("/channel-numbers/{number}/encryption");
    admin.post(&format!("{keys}/generate-keys"), &json!({})).await.ok(200);
    let exported = admin.get(&format!("{keys}/private-key")).await.ok(200);
    if !setup.is_distributed() {
        let mut early = setup.command_of("rotate-secrets");
        early.env("CRYPTO_SECRET_PREVIOUS", setup.value("CRYPTO_SECRET"));
        let (status, _, err) = run(early).await;
        assert!(!status.success() && err.contains("another process"), "{err}");
    }
    assert!(server.stop().await.0.success());

    let old = setup.value("CRYPTO_SECRET").to_owned();
    let new = "a-new-secret-of-exactly-32-bytes";
    let setup = setup.with("CRYPTO_SECRET", new);
    let bare = setup.command_of("rotate-secrets");
    let (status, _, err) = run(bare).await;
    assert!(!status.success() && err.contains("CRYPTO_SECRET_PREVIOUS is missing"), "{err}");
    for (round, expected) in
        ["1 encrypted again, 0 as they were", "0 encrypted again, 1 as they were"].iter().enumerate()
    {
        let mut rotate = setup.command_of("rotate-secrets");
        rotate.env("CRYPTO_SECRET_PREVIOUS", &old);
        let (status, out, err) = run(rotate).await;
        assert!(status.success(), "{out}{err}");
        for column in ["router_variable.value_encrypted", "channel_number.encryption_private_key_encrypted"] {
            assert!(out.contains(&format!("{column}: {expected}")), "{round}: {out}");
        }
        assert!(!out.contains(&old) && !out.contains("planted"), "{out}");
    }
    // A key that none of them is under: said, and nothing is lost.
    let mut wrong = setup.command_of("rotate-secrets");
    wrong.env("CRYPTO_SECRET", "another-one-of-exactly-32-bytes!").env("CRYPTO_SECRET_PREVIOUS", &old);
    let (status, out, _) = run(wrong).await;
    assert!(!status.success() && out.contains("1 unreadable"), "{out}");

    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    assert_eq!(admin.get(&format!("{keys}/private-key")).await.ok(200), exported);
    let log = admin.get("/audit-logs?action=UPDATE").await.ok(200);
    let rotations = log["items"].as_array().unwrap().iter();
    let rotations: Vec<_> = rotations.filter_map(|record| record["changes"].get("rotatedSecrets")).collect();
    assert_eq!(rotations.len(), 1, "the round that renewed nothing left no record: {log}");
    assert_eq!(rotations[0]["router_variable.value_encrypted"], 1);
    assert!(server.stop().await.0.success());
}
