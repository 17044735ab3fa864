//! Conformance suite for stores of numbers, templates, mappings and forms: the promises that
//! [`ChannelNumberRepository`](crate::channel_number::ChannelNumberRepository) and
//! [`RecordRepository`] make, as tests that the store's own crate runs.
//!
//! ```text
//! mod my_store {
//!     async fn make() -> flowsdk_core::testkit::store::StoreUnderTest<MyStore> { .. }
//!     flowsdk_channels::channel_store_conformance!(make);
//! }
//! ```
#![allow(clippy::expect_used, reason = "a failed expectation is a failed test")]

use std::sync::Arc;

use flowsdk_core::crypto::Encrypted;
use flowsdk_core::id::RouterId;
use flowsdk_core::page::PageRequest;
use flowsdk_core::record::{HasRecords, RecordRepository};
use flowsdk_core::router::{HasRouterCatalog, HasRouters, Router};
use flowsdk_core::session::Channel;
use flowsdk_core::store::{Store, Transaction};
use flowsdk_core::testkit::store::{Samples, StoreUnderTest};
use flowsdk_core::time::Timestamp;
use serde_json::json;

use crate::channel_number::{ChannelNumber, E164, FormKeys, HasChannelNumbers, ProviderId};
use crate::form::{FormStatus, HasFormDefinitions, InteractiveForm};
use crate::phone::{AccountNumber, HasPhoneAccounts};
use crate::template::{
    HasProviderTemplates, SentTemplate, Template, TemplateCategory, TemplateFilter, TemplateQuality,
    TemplateStatus,
};
use crate::type_mapping::{ChannelTypeMapping, ExternalType};

#[doc(hidden)]
pub use flowsdk_core;

/// A transaction with every repository that the cases use. Every transaction with those accessors is one.
pub trait ChannelsTx:
    Transaction
    + HasRouters
    + HasRouterCatalog
    + HasChannelNumbers
    + HasRecords<Template>
    + HasRecords<ChannelTypeMapping>
    + HasRecords<InteractiveForm>
    + HasFormDefinitions
    + HasPhoneAccounts
    + HasProviderTemplates
{
}

impl<
    T: Transaction
        + HasRouters
        + HasRouterCatalog
        + HasChannelNumbers
        + HasRecords<Template>
        + HasRecords<ChannelTypeMapping>
        + HasRecords<InteractiveForm>
        + HasFormDefinitions
        + HasPhoneAccounts
        + HasProviderTemplates,
> ChannelsTx for T
{
}

/// Tests that a [`Store`] keeps its promises about numbers and templates. The argument is the path of an async
/// function that returns a [`StoreUnderTest`], or an `Option` of one.
#[macro_export]
macro_rules! channel_store_conformance {
    ($make:path) => {
        $crate::__channel_store_cases! {
            ($crate::testkit::flowsdk_core::__conformance_tests)
            [$crate::testkit::flowsdk_core::testkit::store::run] [$crate::testkit] $make
        }
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __channel_store_cases {
    (($($then:tt)*) $($args:tt)*) => {
        $($then)*! {
            ($($args)*)
            numbers_are_found_by_their_business_account
            a_number_is_read_back
            an_id_of_the_provider_is_given_once
            pages_of_numbers_show_what_is_within_reach
            a_template_is_read_back_and_its_name_given_once
            templates_follow_the_provider
            templates_are_found_by_what_is_asked
            a_router_takes_its_numbers_and_templates_along
            a_mapping_is_read_back_and_its_channel_given_once
            a_form_is_read_back_with_its_definition
        }
    };
}

/// The names of the cases.
pub const CASES: &[&str] = crate::__channel_store_cases! { (flowsdk_core::__conformance_names) };

/// A store with a router.
struct World<S> {
    store: Arc<S>,
    router: RouterId,
}

impl<S: Store> World<S>
where
    S::Tx: ChannelsTx,
{
    async fn new(subject: &StoreUnderTest<S>) -> Self {
        let store = Arc::clone(&subject.store);
        let mut tx = store.begin().await.expect("begin");
        let router = router("router1");
        tx.routers().insert(&router).await.expect("a router");
        tx.commit().await.expect("commit");
        Self { store, router: router.id }
    }
}

fn later(millis: u64) -> Timestamp {
    Timestamp::from_millis(1_795_085_820_050) + std::time::Duration::from_millis(millis)
}

fn router(id: &str) -> Router {
    Router::new(id.parse().expect("an id"), id, later(0))
}

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
        provider_id: None,
        quality: None,
        rejected_reason: None,
        created_at: later(at),
        updated_at: later(at),
    }
}

/// A world with another router, and a transaction.
async fn two_routers<S: Store>(subject: &StoreUnderTest<S>) -> (World<S>, S::Tx, Router)
where
    S::Tx: ChannelsTx,
{
    let world = World::new(subject).await;
    let mut tx = world.store.begin().await.expect("begin");
    let other = router("other");
    tx.routers().insert(&other).await.expect("a router");
    (world, tx, other)
}

/// Saved records are found, locked or not: each of these in turn.
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

/// Deleted records are not found.
macro_rules! goes_away {
    ($tx:ident.$repository:ident(), $id:expr) => {
        $tx.$repository().delete($id).await.expect("delete");
        assert_eq!($tx.$repository().find($id).await.expect("find"), None);
    };
}

/// The numbers of business accounts come with the secret of their routers, and routers have verify tokens.
pub async fn numbers_are_found_by_their_business_account<S: Store>(subject: StoreUnderTest<S>)
where
    S::Tx: ChannelsTx,
{
    let (world, mut tx, other) = two_routers(&subject).await;
    let first = tx.router_catalog().find_for_update(&world.router).await.expect("found").expect("a router");
    let token = |router: Router, token: &str, secret: Option<&str>| Router {
        channel_verify_token: Some(token.to_owned()),
        channel_app_secret: secret.map(sealed),
        ..router
    };
    let first = token(first, "verify-one", Some("sealed"));
    tx.router_catalog().save(&first).await.expect("saved");
    tx.router_catalog().save(&token(other.clone(), "verify-other", None)).await.expect("saved");
    let mut elsewhere = number("n3", &other.id, "333", 2);
    elsewhere.business_account_id = provider_id("78");
    for number in [number("n1", &world.router, "111", 0), number("n2", &other.id, "222", 1), elsewhere] {
        tx.channel_numbers().insert_if_absent(&number).await.expect("a number");
    }
    let named = |account: &str, number: &str, router: &RouterId, secret: Option<&str>| AccountNumber {
        account_id: account.to_owned(),
        phone_number_id: number.to_owned(),
        router_id: router.clone(),
        app_secret: secret.map(sealed),
    };
    for (asked, expected) in [
        (
            &["77"][..],
            vec![named("77", "111", &world.router, Some("sealed")), named("77", "222", &other.id, None)],
        ),
        (&["78", "nobody's"], vec![named("78", "333", &other.id, None)]),
        (&[], vec![]),
    ] {
        let asked: Vec<String> = asked.iter().map(|id| (*id).to_owned()).collect();
        let mut found = tx.phone_accounts().numbers_of(&asked).await.expect("found");
        found.sort_by(|a, b| a.phone_number_id.cmp(&b.phone_number_id));
        assert_eq!(found, expected, "{asked:?}");
    }
    let mut tokens = tx.phone_accounts().verify_tokens(None).await.expect("found");
    tokens.sort();
    assert_eq!(tokens, ["verify-one", "verify-other"]);
    assert_eq!(tx.phone_accounts().verify_tokens(Some(&other.id)).await.expect("found"), ["verify-other"]);
    let nobody = "nobody".parse().expect("an id");
    assert_eq!(tx.phone_accounts().verify_tokens(Some(&nobody)).await.expect("found"), [""; 0]);
    tx.commit().await.expect("commit");
}

/// A number is read back as it was saved, with keys and without; a deleted one is not found.
pub async fn a_number_is_read_back<S: Store>(subject: StoreUnderTest<S>)
where
    S::Tx: ChannelsTx,
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
    S::Tx: ChannelsTx,
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

/// Lists of numbers: newest first, of one router, of those within reach, page by page.
pub async fn pages_of_numbers_show_what_is_within_reach<S: Store>(subject: StoreUnderTest<S>)
where
    S::Tx: ChannelsTx,
{
    let (world, mut tx, other) = two_routers(&subject).await;
    for (n, router) in [&world.router, &other.id, &world.router].into_iter().enumerate() {
        // Two of them in the same moment.
        let at = n as u64 / 2;
        let number = number(&format!("n{n}"), router, &format!("11{n}"), at);
        assert!(tx.channel_numbers().insert_if_absent(&number).await.expect("insert"));
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
        let mut numbers = Vec::new();
        let mut request = PageRequest { limit: 1, after: None };
        loop {
            let page = tx.channel_numbers().list(router, only, &request).await.expect("list");
            numbers.extend(page.items.into_iter().map(|one| one.id.to_string()));
            match page.next {
                Some(next) => request.after = Some(next),
                None => break,
            }
        }
        assert_eq!(numbers, ids, "{router:?} {only:?}");
    }
}

/// A template is read back as it was saved; router, account, name and language are given once.
pub async fn a_template_is_read_back_and_its_name_given_once<S: Store>(subject: StoreUnderTest<S>)
where
    S::Tx: ChannelsTx,
{
    let samples = Samples {
        record: |id, router, number, at| Template {
            created_at: at,
            updated_at: at,
            ..template(id, router, ["order", "order_2"][number], 0)
        },
        states: |first| {
            let components = vec![first.components[1].clone()];
            let changed = Template {
                components,
                provider_id: Some(provider_id("4711")),
                quality: Some(TemplateQuality::Yellow),
                rejected_reason: Some("é".to_owned()),
                updated_at: later(5),
                ..first.clone()
            };
            let mut states = Vec::new();
            for status in TemplateStatus::ALL {
                for category in TemplateCategory::ALL {
                    states.extend([Template { status, category, ..changed.clone() }, first.clone()]);
                }
            }
            states
        },
        filter: |router_id| TemplateFilter { router_id, ..TemplateFilter::default() },
        is_unique: true,
    };
    samples.are_kept(&subject).await;
    let world = World::new(&subject).await;
    let mut tx = world.store.begin().await.expect("begin");
    let first = template("t1", &world.router, "order", 0);
    for one in [
        &first,
        &Template {
            id: "t2".parse().expect("an id"),
            business_account_id: provider_id("78"),
            ..first.clone()
        },
        &Template {
            id: "t3".parse().expect("an id"),
            language: "en".to_owned().try_into().expect("a language"),
            ..first.clone()
        },
    ] {
        tx.records().insert(one).await.expect("insert");
    }
}

/// Templates of an account are read in the order of their ids, put under the name that they have, and found by the numbers
/// that send them.
pub async fn templates_follow_the_provider<S: Store>(subject: StoreUnderTest<S>)
where
    S::Tx: ChannelsTx,
{
    let (world, mut tx, other) = two_routers(&subject).await;
    let account = provider_id("77");
    let of = |id: &str, router: &RouterId, name: &str| template(id, router, name, 0);
    let first = of("t2", &world.router, "a");
    let elsewhere = Template { business_account_id: provider_id("78"), ..of("t3", &world.router, "c") };
    let all = [of("t1", &world.router, "b"), first.clone(), elsewhere, of("t4", &other.id, "a")];
    tx.provider_templates().put_many(&all).await.expect("put");
    let ids = async |tx: &mut S::Tx, routers: &[RouterId]| {
        let found = tx.provider_templates().of_account(routers, &account).await.expect("find");
        found.into_iter().map(|one| one.id.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(ids(&mut tx, std::slice::from_ref(&world.router)).await, ["t1", "t2"]);
    assert_eq!(ids(&mut tx, &[world.router.clone(), other.id.clone()]).await, ["t1", "t2", "t4"]);
    assert!(ids(&mut tx, &[]).await.is_empty());
    // Under another id, as two that read the same page would have it.
    let again = Template {
        id: "t9".parse().expect("an id"),
        status: TemplateStatus::Approved,
        provider_id: Some(provider_id("4711")),
        quality: Some(TemplateQuality::Red),
        rejected_reason: Some("SCAM".to_owned()),
        category: TemplateCategory::Marketing,
        components: vec![first.components[1].clone()],
        created_at: later(9),
        updated_at: later(9),
        ..first.clone()
    };
    tx.provider_templates().put_many(std::slice::from_ref(&again)).await.expect("put");
    let found: Option<Template> = tx.records().find(&first.id).await.expect("find");
    assert_eq!(found, Some(Template { id: first.id.clone(), created_at: first.created_at, ..again }));

    assert_eq!(tx.provider_templates().token(&world.router, &account).await.expect("find"), None);
    let mut number = number("n1", &world.router, "111", 0);
    number.business_account_id = account.clone();
    number.access_token = Some(Encrypted::from_stored("00:11".to_owned()));
    number.active = false;
    assert!(tx.channel_numbers().insert_if_absent(&number).await.expect("insert"));
    let token = async |tx: &mut S::Tx, router: &RouterId| {
        let found = tx.provider_templates().token(router, &account).await.expect("find");
        found.map(|token| token.as_stored().to_owned())
    };
    assert_eq!(token(&mut tx, &world.router).await.as_deref(), Some("00:11"));
    let mut active = crate::testkit::number("n2", &world.router, "112", 1);
    active.business_account_id = account.clone();
    active.access_token = Some(Encrypted::from_stored("00:22".to_owned()));
    assert!(tx.channel_numbers().insert_if_absent(&active).await.expect("insert"));
    assert_eq!(token(&mut tx, &world.router).await.as_deref(), Some("00:22"), "an active one first");
    assert_eq!(token(&mut tx, &other.id).await, None);

    let sent = |number: &str, name: &str| SentTemplate {
        phone_number_id: number.to_owned(),
        name: name.to_owned(),
        language: "pt_BR".to_owned(),
    };
    let asked = [sent("111", "a"), sent("111", "b"), sent("112", "a"), sent("111", "c"), sent("113", "a")];
    let known = async |tx: &mut S::Tx| {
        let mut found = tx.provider_templates().statuses(&asked).await.expect("find");
        found.sort_by_key(|(one, _)| (one.phone_number_id.clone(), one.name.clone()));
        found
    };
    let (approved, draft) = (TemplateStatus::Approved, TemplateStatus::Draft);
    assert_eq!(
        known(&mut tx).await,
        [(sent("111", "a"), approved), (sent("111", "b"), draft), (sent("112", "a"), approved)]
    );
    let told = [(sent("112", "a"), TemplateStatus::Paused), (sent("113", "b"), TemplateStatus::Paused)];
    tx.provider_templates().note_statuses(&told, later(11)).await.expect("note");
    let paused = TemplateStatus::Paused;
    assert_eq!(
        known(&mut tx).await,
        [(sent("111", "a"), paused), (sent("111", "b"), draft), (sent("112", "a"), paused)]
    );
    let found: Option<Template> = tx.records().find(&"t4".parse().expect("an id")).await.expect("find");
    assert_eq!(found.map(|one| one.status), Some(draft), "another router's is as it was");
}

/// Every filter of templates counts, alone and together with others.
pub async fn templates_are_found_by_what_is_asked<S: Store>(subject: StoreUnderTest<S>)
where
    S::Tx: ChannelsTx,
{
    let (world, mut tx, other) = two_routers(&subject).await;
    let approved = Template { status: TemplateStatus::Approved, ..template("t2", &world.router, "b", 1) };
    let elsewhere = Template { business_account_id: provider_id("78"), ..template("t3", &other.id, "b", 2) };
    for template in [&template("t1", &world.router, "a", 0), &approved, &elsewhere] {
        tx.records().insert(template).await.expect("insert");
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
        let page = templates(&mut tx).list(&filter, only, &PageRequest::default()).await.expect("list");
        let found: Vec<_> = page.items.iter().map(|one| one.id.as_str()).collect();
        assert_eq!(found, ids, "{filter:?} {only:?}");
    }
}

/// The numbers and templates of a router are deleted with it, and none of another router.
pub async fn a_router_takes_its_numbers_and_templates_along<S: Store>(subject: StoreUnderTest<S>)
where
    S::Tx: ChannelsTx,
{
    let (world, mut tx, other) = two_routers(&subject).await;
    for (n, router) in [&world.router, &other.id].into_iter().enumerate() {
        let number = number(&format!("n{n}"), router, &format!("11{n}"), 0);
        assert!(tx.channel_numbers().insert_if_absent(&number).await.expect("insert"));
        let template = template(&format!("n{n}"), router, "a", 0);
        tx.records().insert(&template).await.expect("insert");
    }
    tx.router_catalog().delete(&world.router).await.expect("delete");
    let page = PageRequest::default();
    let numbers = tx.channel_numbers().list(None, None, &page).await.expect("list");
    let templates = templates(&mut tx).list(&TemplateFilter::default(), None, &page).await.expect("list");
    assert_eq!(numbers.items.iter().map(|one| one.id.as_str()).collect::<Vec<_>>(), ["n1"]);
    assert_eq!(templates.items.iter().map(|one| one.id.as_str()).collect::<Vec<_>>(), ["n1"]);
}

/// A mapping comes back as it was saved; a router has one of each channel, and takes them along.
pub async fn a_mapping_is_read_back_and_its_channel_given_once<S: Store>(subject: StoreUnderTest<S>)
where
    S::Tx: ChannelsTx,
{
    let samples = Samples {
        record: |id, router_id, number, at| ChannelTypeMapping {
            id: id.parse().expect("an id"),
            router_id: router_id.clone(),
            channel_type: [Channel::Phone, Channel::Webchat][number],
            label: "Ação 👋".to_owned(),
            external_type: ExternalType::parse("WABA").expect("a name"),
            created_at: at,
            updated_at: at,
        },
        states: |first| {
            let external_type = ExternalType::parse("outro").expect("a name");
            let label = "B".to_owned();
            vec![ChannelTypeMapping { label, external_type, updated_at: later(5), ..first.clone() }]
        },
        filter: |router| router,
        is_unique: true,
    };
    samples.are_kept(&subject).await;
}

/// A form comes back as it was saved, with its definition apart; it outlives its number, and goes with its router.
pub async fn a_form_is_read_back_with_its_definition<S: Store>(subject: StoreUnderTest<S>)
where
    S::Tx: ChannelsTx,
{
    let samples = Samples {
        record: |id, router, number, at| form(id, router, ["A", "B"][number], at),
        states: |first| {
            let changed = InteractiveForm {
                status: FormStatus::Published,
                revision: 7,
                description: None,
                provider_form_id: None,
                updated_at: later(5),
                ..first.clone()
            };
            vec![InteractiveForm { name: "C".to_owned(), ..changed.clone() }, changed]
        },
        filter: |router| router,
        is_unique: true,
    };
    samples.are_kept(&subject).await;
    let world = World::new(&subject).await;
    let mut tx = world.store.begin().await.expect("begin");
    let number = number("n1", &world.router, "111", 0);
    assert!(tx.channel_numbers().insert_if_absent(&number).await.expect("insert"));
    let alone = form("i1", &world.router, "A", later(0));
    let numbered = InteractiveForm { channel_number_id: Some(number.id.clone()), ..alone.clone() };
    forms(&mut tx).insert(&numbered).await.expect("insert");
    let definition = json!({ "screens": [{ "id": "é", "n": 1.5 }] }).as_object().expect("an object").clone();
    assert_eq!(tx.form_definitions().find(&alone.id).await.expect("a definition"), serde_json::Map::new());
    for stored in [&serde_json::Map::new(), &definition] {
        tx.form_definitions().put(&alone.id, stored).await.expect("put");
        assert_eq!(&tx.form_definitions().find(&alone.id).await.expect("a definition"), stored);
    }
    for state in [&alone, &numbered] {
        forms(&mut tx).save(state).await.expect("save");
        assert_eq!(forms(&mut tx).find(&alone.id).await.expect("find").as_ref(), Some(state));
    }
    tx.channel_numbers().delete(&number.id).await.expect("delete");
    assert_eq!(forms(&mut tx).find(&alone.id).await.expect("find"), Some(alone.clone()));
    forms(&mut tx).delete(&alone.id).await.expect("delete");
    assert_eq!(tx.form_definitions().find(&alone.id).await.expect("a definition"), serde_json::Map::new());
}

fn form(id: &str, router: &RouterId, name: &str, at: Timestamp) -> InteractiveForm {
    InteractiveForm {
        id: id.parse().expect("an id"),
        router_id: router.clone(),
        name: name.to_owned(),
        description: Some("Ação 👋".to_owned()),
        status: FormStatus::Draft,
        revision: 1,
        provider_form_id: Some(provider_id("4711")),
        channel_number_id: None,
        flow_id: None,
        created_at: at,
        updated_at: at,
    }
}

fn forms(tx: &mut impl HasRecords<InteractiveForm>) -> &mut dyn RecordRepository<InteractiveForm> {
    tx.records()
}

fn templates(tx: &mut impl HasRecords<Template>) -> &mut dyn RecordRepository<Template> {
    tx.records()
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_case_that_is_written_is_in_the_list() {
        assert_eq!(super::CASES, flowsdk_core::testkit::written(include_str!("testkit.rs")));
    }
}
