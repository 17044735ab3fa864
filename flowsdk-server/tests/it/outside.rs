//! Flows that ask the outside: scripts in worker processes, requests that are refused.

use crate::harness::{Client, Setup, everywhere};

everywhere!(scripts_and_requests);

async fn scripts_and_requests(setup: Setup) {
    let server = setup.start().await;
    let auth = serde_json::json!({ "channelId": setup.seeded.calls });
    let (mut client, _) = Client::enter(server.addr, auth).await;
    client.say("oi").await;
    assert_eq!(client.texts(1).await, ["n= e="]);
    // One after the other, though they come while the first one still waits for its results.
    let said: Vec<String> = (1..=10).map(|n| "a".repeat(n)).collect();
    for text in &said {
        client.say(text).await;
    }
    let expected: Vec<String> = (1..=10).map(|n| format!("n={} e=http_forbidden", 2 * n)).collect();
    assert_eq!(client.texts(10).await, expected);
    // Each turn waited for a script and for a request, and the visitor saw it.
    for _ in 0..20 {
        let typing = client.typing().await;
        assert_eq!(typing["kind"], "flow");
        assert!(typing["ms"].as_u64().is_some_and(|ms| (1..=60_000).contains(&ms)), "{typing}");
    }
}
