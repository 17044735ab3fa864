//! The cases of [`connection_conformance!`](crate::connection_conformance): numbers, templates, credentials,
//! integrations and the settings of observability.
#![allow(clippy::expect_used, reason = "a failed expectation is a failed test")]

use serde_json::json;

use super::store::StoreUnderTest;
use super::store::world::{World, later, router};
use crate::channel_number::{ChannelNumber, E164, FormKeys, ProviderId};
use crate::credential::{LlmCredential, LlmProvider};
use crate::crypto::Encrypted;
use crate::id::RouterId;
use crate::integration::{BaseUrl, Integration, IntegrationAuth, IntegrationKind, IntegrationSettings};
use crate::observability::ObservabilitySettings;
use crate::page::PageRequest;
use crate::prelude::*;
use crate::router::Router;
use crate::session::{SessionId, SessionsOf};
use crate::store::Store;
use crate::template::{Template, TemplateCategory, TemplateFilter, TemplateStatus};
use crate::testkit::store::StoreTx;

/// The names of the cases.
pub const CASES: &[&str] = crate::__connection_cases! { __conformance_names };

fn sealed(text: &str) -> Encrypted {
    Encrypted::from_stored(text.to_owned())
}

fn provider_id(digits: &str) -> ProviderId {
    ProviderId::parse(digits).expect("digits")
}

fn number(id: &str, router: &RouterId, phone_number_id: &str, at: u64) -> ChannelNumber {
    ChannelNumber {
        id: id.parse().expect("an id"),
        router_id: router.clone(),
        name: "Loja".to_owned(),
        phone_number_id: provider_id(phone_number_id),
        phone_number: E164::parse("5511987654321").expect("a number"),
        business_account_id: provider_id("77"),
        access_token: None,
        keys: None,
        active: true,
        created_at: later(at),
        updated_at: later(at),
    }
}

fn template(id: &str, router: &RouterId, name: &str, at: u64) -> Template {
    Template {
        id: id.parse().expect("an id"),
        router_id: router.clone(),
        business_account_id: provider_id("77"),
        name: name.to_owned().try_into().expect("a name"),
        language: "pt_BR".to_owned().try_into().expect("a language"),
        category: TemplateCategory::Utility,
        status: TemplateStatus::Draft,
        components: serde_json::from_value(json!([
            { "type": "HEADER", "format": "TEXT", "text": "é\"👋 {{1}}", "example": { "header_text": ["\\"] } },
            { "type": "BODY", "text": "Olá {{1}}\n!", "example": { "body_text": [["a"]] } },
            { "type": "BUTTONS", "buttons": [{ "type": "QUICK_REPLY", "text": "x" }, { "type": "OTP", "otp_type": "COPY_CODE" }] },
        ]))
        .expect("components"),
        created_at: later(at),
        updated_at: later(at),
    }
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

/// What is saved is found, locked or not: each of these in turn.
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

/// What is deleted is not found.
macro_rules! goes_away {
    ($tx:ident.$repository:ident(), $id:expr) => {
        $tx.$repository().delete($id).await.expect("delete");
        assert_eq!($tx.$repository().find($id).await.expect("find"), None);
    };
}

/// A number is read back as it was saved, with keys and without; a deleted one is not found.
pub async fn a_number_is_read_back<S: Store>(subject: StoreUnderTest<S>)
where
    S::Tx: StoreTx,
{
    let world = World::new(&subject).await;
    let mut tx = world.store.begin().await.expect("begin");
    let first = number("n1", &world.router, "111", 0);
    assert!(tx.channel_numbers().insert_if_absent(&first).await.expect("insert"));
    let keys = FormKeys {
        public_key: "PEM\n".to_owned(),
        private_key: sealed("00:11"),
        passphrase: sealed("22:33"),
    };
    let changed = ChannelNumber {
        name: "Ação 👋".to_owned(),
        phone_number: E164::parse("16505550100").expect("a number"),
        business_account_id: provider_id("78"),
        access_token: Some(sealed("44:55")),
        keys: Some(keys),
        active: false,
        updated_at: later(5),
        ..first.clone()
    };
    reads_back!(tx.channel_numbers(), [&first, &changed, &first]);
    goes_away!(tx.channel_numbers(), &first.id);
}

/// Two numbers never have the same id at the provider, in whichever router.
pub async fn an_id_of_the_provider_is_given_once<S: Store>(subject: StoreUnderTest<S>)
where
    S::Tx: StoreTx,
{
    let (world, mut tx, other) = two_routers(&subject).await;
    let first = number("n1", &world.router, "111", 0);
    assert!(tx.channel_numbers().insert_if_absent(&first).await.expect("insert"));
    for router in [&world.router, &other.id] {
        assert!(
            !tx.channel_numbers().insert_if_absent(&number("n2", router, "111", 1)).await.expect("insert")
        );
    }
    assert!(tx.channel_numbers().insert_if_absent(&number("n2", &other.id, "112", 1)).await.expect("insert"));
    assert_eq!(tx.channel_numbers().find(&first.id).await.expect("find"), Some(first));
}

/// The sessions of a number are those whose ids begin with it, and no others.
pub async fn sessions_of_a_number_are_counted_and_end<S: Store>(subject: StoreUnderTest<S>)
where
    S::Tx: StoreTx,
{
    let world = World::new(&subject).await;
    let ids = ["wa-111-5511999", "wa-111-5511998", "wa-1111-5511999", "wc-111-visitor", "ig-111-7"];
    let ids = ids.map(|id| SessionId::parse(id).expect("a session id"));
    let sessions: Vec<_> =
        ids.iter().map(|id| (crate::session::Session { id: id.clone(), ..world.session(0) }, None)).collect();
    world.save(&sessions).await.expect("saved");
    let mut tx = world.store.begin().await.expect("begin");
    let number = provider_id("111");
    let of = SessionsOf::PhoneNumber(number.as_str());
    assert_eq!(tx.live_sessions().count(of).await.expect("count"), 2);
    let mut ended = tx.live_sessions().end(of).await.expect("end");
    ended.sort_unstable();
    assert_eq!(ended, [ids[1].clone(), ids[0].clone()]);
    assert_eq!(tx.live_sessions().count(of).await.expect("count"), 0);
    assert_eq!(tx.live_sessions().count(SessionsOf::Router(&world.router)).await.expect("count"), 3);
}

/// A template is read back as it was saved; router, account, name and language are given once.
pub async fn a_template_is_read_back_and_its_name_given_once<S: Store>(subject: StoreUnderTest<S>)
where
    S::Tx: StoreTx,
{
    let (world, mut tx, other) = two_routers(&subject).await;
    let first = template("t1", &world.router, "order", 0);
    assert!(tx.templates().insert_if_absent(&first).await.expect("insert"));
    let again = Template { id: "t2".parse().expect("an id"), ..first.clone() };
    assert!(!tx.templates().insert_if_absent(&again).await.expect("insert"));
    for different in [
        Template { router_id: other.id.clone(), ..again.clone() },
        Template {
            id: "t3".parse().expect("an id"),
            business_account_id: provider_id("78"),
            ..again.clone()
        },
        Template {
            id: "t4".parse().expect("an id"),
            language: "en".to_owned().try_into().expect("a language"),
            ..again.clone()
        },
        template("t5", &world.router, "order_2", 1),
    ] {
        assert!(tx.templates().insert_if_absent(&different).await.expect("insert"), "{different:?}");
    }
    for status in TemplateStatus::ALL {
        for category in TemplateCategory::ALL {
            let components = vec![first.components[1].clone()];
            let changed = Template { status, category, components, updated_at: later(5), ..first.clone() };
            reads_back!(tx.templates(), [&changed, &first]);
        }
    }
    goes_away!(tx.templates(), &first.id);
    assert!(tx.templates().insert_if_absent(&first).await.expect("insert"), "its name is free again");
}

/// Every filter of templates counts, alone and together with others.
pub async fn templates_are_found_by_what_is_asked<S: Store>(subject: StoreUnderTest<S>)
where
    S::Tx: StoreTx,
{
    let (world, mut tx, other) = two_routers(&subject).await;
    let approved = Template { status: TemplateStatus::Approved, ..template("t2", &world.router, "b", 1) };
    let elsewhere = Template { business_account_id: provider_id("78"), ..template("t3", &other.id, "b", 2) };
    for template in [&template("t1", &world.router, "a", 0), &approved, &elsewhere] {
        assert!(tx.templates().insert_if_absent(template).await.expect("insert"));
    }
    let all = TemplateFilter::default();
    let of =
        |router: &RouterId| TemplateFilter { router_id: Some(router.clone()), ..TemplateFilter::default() };
    let named = |name: &str| TemplateFilter { name: Some(name.to_owned()), ..TemplateFilter::default() };
    let status = |status| TemplateFilter { status: Some(status), ..TemplateFilter::default() };
    let account =
        |id: &str| TemplateFilter { business_account_id: Some(provider_id(id)), ..TemplateFilter::default() };
    let both = TemplateFilter { status: Some(TemplateStatus::Approved), ..of(&other.id) };
    let (mine, none) = ([world.router.clone()], []);
    let (mine, none) = (Some(&mine[..]), Some(&none[..]));
    for (filter, only, ids) in [
        (all.clone(), None, &["t3", "t2", "t1"][..]),
        (all.clone(), mine, &["t2", "t1"]),
        (all, none, &[]),
        (of(&world.router), None, &["t2", "t1"]),
        (of(&world.router), mine, &["t2", "t1"]),
        (of(&other.id), mine, &[]),
        (named("b"), None, &["t3", "t2"]),
        (named("b"), mine, &["t2"]),
        (named("B"), None, &[]),
        (status(TemplateStatus::Approved), None, &["t2"]),
        (status(TemplateStatus::Paused), None, &[]),
        (account("78"), None, &["t3"]),
        (account("78"), mine, &[]),
        (both, None, &[]),
    ] {
        let page = tx.templates().list(&filter, only, &PageRequest::default()).await.expect("list");
        let found: Vec<_> = page.items.iter().map(|one| one.id.as_str()).collect();
        assert_eq!(found, ids, "{filter:?} {only:?}");
    }
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

    assert!(tx.llm_credentials().routers_of(&first.id).await.expect("routers").is_empty());
    for (id, credential) in [("b", &first), ("a", &first), ("c", &second)] {
        let router = Router { llm_credential_id: Some(credential.id.clone()), ..router(id) };
        tx.routers().insert(&router).await.expect("a router");
    }
    let named = tx.llm_credentials().routers_of(&first.id).await.expect("routers");
    assert_eq!(named.iter().map(RouterId::as_str).collect::<Vec<_>>(), ["a", "b"]);
    tx.llm_credentials().detach(&first.id).await.expect("detach");
    assert!(tx.llm_credentials().routers_of(&first.id).await.expect("routers").is_empty());
    assert_eq!(tx.llm_credentials().routers_of(&second.id).await.expect("routers").len(), 1);
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

/// Lists of numbers and of integrations: newest first, of one router, of those within reach, page by page.
pub async fn pages_show_what_is_within_reach<S: Store>(subject: StoreUnderTest<S>)
where
    S::Tx: StoreTx,
{
    let (world, mut tx, other) = two_routers(&subject).await;
    for (n, router) in [&world.router, &other.id, &world.router].into_iter().enumerate() {
        // Two of them in the same moment.
        let at = n as u64 / 2;
        let number = number(&format!("n{n}"), router, &format!("11{n}"), at);
        assert!(tx.channel_numbers().insert_if_absent(&number).await.expect("insert"));
        tx.integrations().insert(&integration(&format!("n{n}"), router, at)).await.expect("insert");
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
        let (mut numbers, mut integrations) = (Vec::new(), Vec::new());
        let mut request = PageRequest { limit: 1, after: None };
        loop {
            let page = tx.channel_numbers().list(router, only, &request).await.expect("list");
            numbers.extend(page.items.into_iter().map(|one| one.id.to_string()));
            let twin = tx.integrations().list(router, only, &request).await.expect("list");
            integrations.extend(twin.items.into_iter().map(|one| one.id.to_string()));
            assert_eq!(page.next, twin.next);
            match page.next {
                Some(next) => request.after = Some(next),
                None => break,
            }
        }
        assert_eq!(numbers, ids, "{router:?} {only:?}");
        assert_eq!(integrations, ids, "{router:?} {only:?}");
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

/// What belongs to a router goes with it, and nothing of another one.
pub async fn a_router_takes_its_connections_along<S: Store>(subject: StoreUnderTest<S>)
where
    S::Tx: StoreTx,
{
    let (world, mut tx, other) = two_routers(&subject).await;
    for (n, router) in [&world.router, &other.id].into_iter().enumerate() {
        let number = number(&format!("n{n}"), router, &format!("11{n}"), 0);
        assert!(tx.channel_numbers().insert_if_absent(&number).await.expect("insert"));
        let template = template(&format!("n{n}"), router, "a", 0);
        assert!(tx.templates().insert_if_absent(&template).await.expect("insert"));
        tx.integrations().insert(&integration(&format!("n{n}"), router, 0)).await.expect("insert");
    }
    tx.router_catalog().delete(&world.router).await.expect("delete");
    let page = PageRequest::default();
    let numbers = tx.channel_numbers().list(None, None, &page).await.expect("list");
    let templates = tx.templates().list(&TemplateFilter::default(), None, &page).await.expect("list");
    let integrations = tx.integrations().list(None, None, &page).await.expect("list");
    assert_eq!(numbers.items.iter().map(|one| one.id.as_str()).collect::<Vec<_>>(), ["n1"]);
    assert_eq!(templates.items.iter().map(|one| one.id.as_str()).collect::<Vec<_>>(), ["n1"]);
    assert_eq!(integrations.items.iter().map(|one| one.id.as_str()).collect::<Vec<_>>(), ["n1"]);
}
