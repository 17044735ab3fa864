//! Routers.

use serde_json::json;

use super::StoreUnderTest;
use super::world::{context, flow, later, router};
use crate::crypto::Encrypted;
use crate::id::RouterId;
use crate::page::PageRequest;
use crate::prelude::*;
use crate::router::{FallbackTexts, PhoneOptions, Router};
use crate::store::Store;
use crate::testkit::store::StoreTx;

/// A router comes back as it was inserted, bare or with everything set, then with the flow it was given and
/// without it.
pub async fn a_router_is_read_back<S: Store>(subject: StoreUnderTest<S>)
where
    S::Tx: StoreTx,
{
    let full = Router {
        name: "Ação 👋".to_owned(),
        tz: "Europe/Lisbon".to_owned(),
        channel_verify_token: Some("'; --".to_owned()),
        channel_app_secret: Some(Encrypted::from_stored("00:11".to_owned())),
        llm_credential_id: Some("credential1".parse().expect("an id")),
        logo_url: Some("https://example.com/ç.png".to_owned()),
        sentiment_config: Some(json!({ "prompt": "João 👋\n", "levels": [1, 2.5, null] })),
        copilot_config: Some(json!([])),
        helpdesk_agent_prefix_enabled: true,
        helpdesk_agent_prefix_template: Some("*{{agent}}*: ".to_owned()),
        fallback_texts: FallbackTexts {
            failed: Some(String::new()),
            unanswered: Some("até já 👋".to_owned()),
            stuck_handoff: Some("\n".to_owned()),
        },
        phone: PhoneOptions {
            read_receipts: true,
            typing_indicator: true,
            opt_out_words: vec!["não".to_owned()],
        },
        updated_at: later(5),
        ..router("r1")
    };
    for router in [full, router("r2")] {
        let mut tx = subject.store.begin().await.expect("begin");
        let flow = flow(&format!("flow of {}", router.id).replace(' ', "-"), &router.id);
        tx.routers().insert(&router).await.expect("a router");
        tx.flows().insert(&flow).await.expect("a flow");
        for initial in [Some(&flow.id), None] {
            tx.routers().set_initial_flow(&router.id, initial).await.expect("set");
            let found = tx.routers().find_many(&[router.id.clone(), "r3".parse().expect("an id")]).await;
            let expected = Router { initial_flow_id: initial.cloned(), ..router.clone() };
            assert!(found.expect("find") == [expected], "{router:?}");
        }
        tx.commit().await.expect("commit");
    }
}

/// A list shows all routers, or those asked for that exist, newest first.
pub async fn routers_are_listed_among_those_asked_for<S: Store>(subject: StoreUnderTest<S>)
where
    S::Tx: StoreTx,
{
    let mut tx = subject.store.begin().await.expect("begin");
    let mut routers: Vec<Router> = Vec::new();
    for n in 0..150u64 {
        let router = Router { created_at: later(n), ..router(&format!("r{n}")) };
        tx.routers().insert(&router).await.expect("a router");
        routers.insert(0, router);
    }
    let page = PageRequest { limit: 200, after: None };
    assert!(tx.routers().list(None, &page).await.expect("list").items == routers);
    for among in [0, 1, 149, 150] {
        let mut only: Vec<RouterId> = routers[..among].iter().map(|router| router.id.clone()).collect();
        only.extend(only.first().cloned());
        only.push("nobody".parse().expect("an id"));
        let found = tx.routers().list(Some(&only), &page).await.expect("list");
        assert!(found.items == routers[..among] && found.next.is_none(), "{among}");
    }
    assert!(tx.routers().list(Some(&[]), &page).await.expect("list").items.is_empty());
}

/// Pages show each router once, also those of one moment, whatever comes meanwhile.
pub async fn pages_of_routers_are_stable_under_inserts<S: Store>(subject: StoreUnderTest<S>)
where
    S::Tx: StoreTx,
{
    let cx = context();
    let mut tx = subject.store.begin().await.expect("begin");
    let mut expected = Vec::new();
    for n in 0..9u64 {
        let router = Router::new(RouterId::generate(cx.ids()), "R", later(n / 4));
        tx.routers().insert(&router).await.expect("a router");
        expected.insert(0, router.id);
    }
    let all = expected.clone();
    for only in [None, Some(&all[..])] {
        let (mut listed, mut page) = (Vec::new(), PageRequest { limit: 2, after: None });
        loop {
            let found = tx.routers().list(only, &page).await.expect("list");
            listed.extend(found.items.into_iter().map(|router| router.id));
            let new = Router::new(RouterId::generate(cx.ids()), "New", later(100));
            tx.routers().insert(&new).await.expect("a router");
            // Later pages show only records from before the first page.
            page.after = found.next;
            if page.after.is_none() {
                break;
            }
        }
        let before: Vec<_> = listed.into_iter().filter(|id| all.contains(id)).collect();
        assert_eq!(before, expected);
    }
}
