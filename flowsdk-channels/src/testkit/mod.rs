//! Conformance suite for stores of numbers, templates, mappings and forms: the promises that
//! [`ChannelNumberRepository`](crate::channel_number::ChannelNumberRepository) and
//! [`RecordRepository`](flowsdk_core::record::RecordRepository) make, as tests that the store's own crate runs.
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
use flowsdk_core::record::HasRecords;
use flowsdk_core::router::{HasRouterCatalog, HasRouters, Router};
use flowsdk_core::store::{Store, Transaction};
use flowsdk_core::testkit::store::StoreUnderTest;
use flowsdk_core::time::Timestamp;

use crate::channel_number::{ChannelNumber, E164, HasChannelNumbers, ProviderId};
use crate::form::{HasFormDefinitions, InteractiveForm};
use crate::phone::HasPhoneAccounts;
use crate::template::{HasProviderTemplates, Template, TemplateFilter};
use crate::type_mapping::ChannelTypeMapping;

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

// Behind the macros that they use.
mod forms;
mod mappings;
mod numbers;
mod templates;

pub use forms::a_form_is_read_back_with_its_definition;
pub use mappings::a_mapping_is_read_back_and_its_channel_given_once;
pub use numbers::{
    a_number_is_read_back, an_id_of_the_provider_is_given_once, numbers_are_found_by_their_business_account,
    pages_of_numbers_show_what_is_within_reach,
};
pub use templates::{
    a_template_is_read_back_and_its_name_given_once, templates_are_found_by_what_is_asked,
    templates_follow_the_provider,
};
use templates::{template, templates};

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

#[cfg(test)]
mod tests {
    #[test]
    fn every_case_that_is_written_is_in_the_list() {
        let files = [
            include_str!("numbers.rs"),
            include_str!("templates.rs"),
            include_str!("mod.rs"),
            include_str!("mappings.rs"),
            include_str!("forms.rs"),
        ];
        let written: Vec<&str> = files.into_iter().flat_map(flowsdk_core::testkit::written).collect();
        assert_eq!(super::CASES, written);
    }
}
