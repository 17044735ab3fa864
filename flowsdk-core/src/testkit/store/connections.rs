//! Credentials, integrations and the settings of observability.

use super::StoreUnderTest;
use super::world::{World, later, router};
use crate::credential::{LlmCredential, LlmProvider};
use crate::crypto::Encrypted;
use crate::id::RouterId;
use crate::in_use::{HasReferences as _, Referred, Referrer};
use crate::integration::{BaseUrl, Integration, IntegrationAuth, IntegrationKind, IntegrationSettings};
use crate::observability::ObservabilitySettings;
use crate::page::PageRequest;
use crate::prelude::*;
use crate::router::Router;
use crate::store::Store;
use crate::testkit::store::StoreTx;

fn sealed(text: &str) -> Encrypted {
    Encrypted::from_stored(text.to_owned())
}

fn integration(id: &str, router: &RouterId, at: u64) -> Integration {
    Integration {
        id: id.parse().expect("an id"),
        router_id: router.clone(),
        name: "CRM".to_owned(),
        kind: IntegrationKind::Http,
        base_url: BaseUrl::parse("https://a.example/v1").expect("an address"),
        credentials: None,
        settings: IntegrationSettings::default(),
        created_at: later(at),
        updated_at: later(at),
    }
}

/// A world with another router, and a transaction.
async fn two_routers<S: Store>(subject: &StoreUnderTest<S>) -> (World<S>, S::Tx, Router)
where
    S::Tx: StoreTx,
{
    let world = World::new(subject).await;
    let mut tx = world.store.begin().await.expect("begin");
    let other = router("other");
    tx.routers().insert(&other).await.expect("a router");
    (world, tx, other)
}

/// A saved record is found, locked or not: each of these in turn.
macro_rules! reads_back {
    ($tx:ident.$repository:ident(), $states:expr) => {
        for expected in $states {
            $tx.$repository().save(expected).await.expect("save");
            let found = $tx.$repository().find(&expected.id).await.expect("find");
            assert_eq!(found.as_ref(), Some(expected));
            let locked = $tx.$repository().find_for_update(&expected.id).await.expect("find");
            assert_eq!(locked.as_ref(), Some(expected));
        }
    };
}

/// A deleted record is not found.
macro_rules! goes_away {
    ($tx:ident.$repository:ident(), $id:expr) => {
        $tx.$repository().delete($id).await.expect("delete");
        assert_eq!($tx.$repository().find($id).await.expect("find"), None);
    };
}

/// A credential is read back as it was saved; the routers that name it are known, and left without one.
pub async fn a_credential_is_read_back_and_detached<S: Store>(subject: StoreUnderTest<S>)
where
    S::Tx: StoreTx,
{
    let world = World::new(&subject).await;
    let mut tx = world.store.begin().await.expect("begin");
    let first = LlmCredential {
        id: "l1".parse().expect("an id"),
        name: "Ação".to_owned(),
        provider: LlmProvider::Openai,
        base_url: None,
        api_key: Some(sealed("00:11")),
        created_at: later(0),
        updated_at: later(0),
    };
    let second = LlmCredential { id: "l2".parse().expect("an id"), created_at: later(1), ..first.clone() };
    for credential in [&first, &second] {
        tx.llm_credentials().insert(credential).await.expect("insert");
    }
    let changed = LlmCredential {
        name: "b".to_owned(),
        provider: LlmProvider::OpenaiCompatible,
        base_url: Some(BaseUrl::parse("https://a.example").expect("an address")),
        api_key: None,
        updated_at: later(5),
        ..first.clone()
    };
    reads_back!(tx.llm_credentials(), [&changed, &first]);
    let page = tx.llm_credentials().list(&PageRequest::default()).await.expect("list");
    assert_eq!(page.items, [second.clone(), first.clone()]);
    let one = PageRequest { limit: 1, after: None };
    let page = tx.llm_credentials().list(&one).await.expect("list");
    assert_eq!(page.items, std::slice::from_ref(&second));
    let next = PageRequest { limit: 1, after: page.next };
    let page = tx.llm_credentials().list(&next).await.expect("list");
    assert_eq!(page.items, std::slice::from_ref(&first));

    let (to_first, to_second) = (Referred::LlmCredential(&first.id), Referred::LlmCredential(&second.id));
    assert_eq!(tx.references().referrers(to_first).await.expect("none"), []);
    for (id, credential) in [("b", &first), ("a", &first), ("c", &second)] {
        let router = Router { llm_credential_id: Some(credential.id.clone()), ..router(id) };
        tx.routers().insert(&router).await.expect("a router");
    }
    let named = tx.references().referrers(to_first).await.expect("routers");
    let router = |id: &str| Referrer { field: "router.llmCredentialId".to_owned(), id: id.to_owned() };
    assert_eq!(named, [router("a"), router("b")]);
    tx.references().detach(to_first).await.expect("detach");
    assert_eq!(tx.references().referrers(to_first).await.expect("none"), []);
    assert_eq!(tx.references().referrers(to_second).await.expect("routers"), [router("c")]);
    goes_away!(tx.llm_credentials(), &first.id);
}

/// An integration is read back as it was saved; a deleted one is not found.
pub async fn an_integration_is_read_back<S: Store>(subject: StoreUnderTest<S>)
where
    S::Tx: StoreTx,
{
    let world = World::new(&subject).await;
    let mut tx = world.store.begin().await.expect("begin");
    let first = integration("i1", &world.router, 0);
    tx.integrations().insert(&first).await.expect("insert");
    let changed = Integration {
        name: "Ação 👋".to_owned(),
        base_url: BaseUrl::parse("http://127.0.0.1:8080").expect("an address"),
        credentials: Some(sealed("00:11")),
        settings: IntegrationSettings {
            auth: IntegrationAuth::Header,
            header_name: Some("x-api-key".to_owned()),
            timeout_ms: 7,
        },
        updated_at: later(5),
        ..first.clone()
    };
    reads_back!(tx.integrations(), [&changed, &first]);
    goes_away!(tx.integrations(), &first.id);
}

/// Lists of integrations: newest first, of one router, of those within reach, page by page.
pub async fn pages_of_integrations_show_what_is_within_reach<S: Store>(subject: StoreUnderTest<S>)
where
    S::Tx: StoreTx,
{
    let (world, mut tx, other) = two_routers(&subject).await;
    for (n, router) in [&world.router, &other.id, &world.router].into_iter().enumerate() {
        // Two of them in the same moment.
        tx.integrations().insert(&integration(&format!("n{n}"), router, n as u64 / 2)).await.expect("insert");
    }
    let (mine, none) = ([world.router.clone()], []);
    let (mine, none) = (Some(&mine[..]), Some(&none[..]));
    for (router, only, ids) in [
        (None, None, &["n2", "n1", "n0"][..]),
        (None, mine, &["n2", "n0"]),
        (None, none, &[]),
        (Some(&other.id), None, &["n1"]),
        (Some(&other.id), mine, &[]),
        (Some(&world.router), mine, &["n2", "n0"]),
    ] {
        let mut found = Vec::new();
        let mut request = PageRequest { limit: 1, after: None };
        loop {
            let page = tx.integrations().list(router, only, &request).await.expect("list");
            found.extend(page.items.into_iter().map(|one| one.id.to_string()));
            match page.next {
                Some(next) => request.after = Some(next),
                None => break,
            }
        }
        assert_eq!(found, ids, "{router:?} {only:?}");
    }
}

/// There is one set of settings: the default ones, until others were saved.
pub async fn the_settings_of_observability_are_one<S: Store>(subject: StoreUnderTest<S>)
where
    S::Tx: StoreTx,
{
    let mut tx = subject.store.begin().await.expect("begin");
    assert_eq!(tx.observability().get().await.expect("get"), ObservabilitySettings::default());
    for round in 0..2 {
        let found = tx.observability().get_for_update().await.expect("get");
        assert_eq!(found.updated_at.is_some(), round > 0);
        let settings = ObservabilitySettings {
            enabled: true,
            service_name: "ação".to_owned(),
            endpoint: Some(BaseUrl::parse("https://a.example").expect("an address")),
            logfire_token: Some(sealed("00:11")),
            updated_at: Some(later(round)),
        };
        tx.observability().save(&settings).await.expect("save");
        assert_eq!(tx.observability().get().await.expect("get"), settings);
    }
    let default = ObservabilitySettings::default();
    tx.observability().save(&default).await.expect("save");
    assert_eq!(tx.observability().get_for_update().await.expect("get"), default);
}

/// The integrations of a router are deleted with it, and none of another router.
pub async fn a_router_takes_its_integrations_along<S: Store>(subject: StoreUnderTest<S>)
where
    S::Tx: StoreTx,
{
    let (world, mut tx, other) = two_routers(&subject).await;
    for (n, router) in [&world.router, &other.id].into_iter().enumerate() {
        tx.integrations().insert(&integration(&format!("n{n}"), router, 0)).await.expect("insert");
    }
    tx.router_catalog().delete(&world.router).await.expect("delete");
    let integrations = tx.integrations().list(None, None, &PageRequest::default()).await.expect("list");
    assert_eq!(integrations.items.iter().map(|one| one.id.as_str()).collect::<Vec<_>>(), ["n1"]);
}
