//! Numbers and the accounts that they belong to.

use flowsdk_core::id::RouterId;
use flowsdk_core::page::PageRequest;
use flowsdk_core::router::{HasRouterCatalog, Router};
use flowsdk_core::store::{Store, Transaction};
use flowsdk_core::testkit::store::StoreUnderTest;

use super::{ChannelsTx, World, later, number, provider_id, sealed, two_routers};
use crate::channel_number::{ChannelNumber, E164, FormKeys, HasChannelNumbers};
use crate::phone::{AccountNumber, HasPhoneAccounts};

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
