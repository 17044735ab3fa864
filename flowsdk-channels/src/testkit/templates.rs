//! Message templates.

use flowsdk_core::crypto::Encrypted;
use flowsdk_core::id::RouterId;
use flowsdk_core::page::PageRequest;
use flowsdk_core::record::{HasRecords, RecordRepository};
use flowsdk_core::store::Store;
use flowsdk_core::testkit::store::{Samples, StoreUnderTest};
use serde_json::json;

use super::{ChannelsTx, World, later, number, provider_id, two_routers};
use crate::channel_number::HasChannelNumbers;
use crate::template::{
    HasProviderTemplates, SentTemplate, Template, TemplateCategory, TemplateFilter, TemplateQuality,
    TemplateStatus,
};

pub(super) fn template(id: &str, router: &RouterId, name: &str, at: u64) -> Template {
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

pub(super) fn templates(tx: &mut impl HasRecords<Template>) -> &mut dyn RecordRepository<Template> {
    tx.records()
}
