//! The table of channels says the same as the table of each kind.

use flowsdk_channels::channel_number::{ChannelNumber, E164, HasChannelNumbers as _, ProviderId};
use flowsdk_channels::webchat::channels::HasWebchatCatalog as _;
use flowsdk_channels::webchat::{HasWebchat as _, Purpose, WebchatChannel};
use flowsdk_core::chat::StartOn;
use flowsdk_core::flow::Flow;
use flowsdk_core::id::{ChannelId, FlowId, RouterId};
use flowsdk_core::prelude::*;
use flowsdk_core::router::{FallbackTexts, Router};
use flowsdk_core::time::Timestamp;
use flowsdk_core::transfer::PortableChannel;
use sqlx::SqliteConnection;

use crate::sql::migrations;
use crate::sql::statement::{Sql, sql};
use crate::sql::{OutboxRoutes, SqlStore, SqlTx};

const STORED: Sql = sql("SELECT id, router_id, kind, is_test, initial_flow_id FROM channel ORDER BY id");

const OF_KINDS: Sql = sql("SELECT 'wc-' || id AS id, router_id, 'webchat', is_test_channel, initial_flow_id FROM webchat_channel
     UNION ALL SELECT phone_number_id, router_id, 'phone', CAST(0 AS BIGINT), NULL FROM channel_number ORDER BY id");

type Row = (String, String, String, i64, Option<String>);

const NOW: Timestamp = Timestamp::from_millis(1_000);

fn router() -> RouterId {
    RouterId::parse("r1").expect("an id")
}

fn channel(id: &str, initial_flow_id: Option<FlowId>) -> WebchatChannel {
    WebchatChannel {
        initial_flow_id,
        ..WebchatChannel::new(ChannelId::parse(id).expect("an id"), router(), "Loja", NOW)
    }
}

fn number(id: &str, phone_number_id: &str) -> ChannelNumber {
    ChannelNumber {
        id: id.parse().expect("an id"),
        router_id: router(),
        name: "Loja".to_owned(),
        phone_number_id: ProviderId::parse(phone_number_id).expect("digits"),
        phone_number: E164::parse("+551130000000").expect("a number"),
        business_account_id: ProviderId::parse("9").expect("digits"),
        access_token: None,
        keys: None,
        active: true,
        created_at: NOW,
        updated_at: NOW,
    }
}

/// Compares both sides, and returns the ids with their initial flows.
async fn channels(tx: &mut SqlTx) -> Vec<(String, Option<String>)> {
    let stored: Vec<Row> = tx.conn.fetch_all(STORED, ()).await.expect("channels");
    let of_kinds: Vec<Row> = tx.conn.fetch_all(OF_KINDS, ()).await.expect("channels");
    assert_eq!(stored, of_kinds);
    stored.into_iter().map(|(id, _, _, _, flow)| (id, flow)).collect()
}

async fn every_write_is_in_both(url: &str) {
    let url = url.parse().expect("an address");
    let store = SqlStore::connect(&url, OutboxRoutes::embedded([])).await.expect("a database");
    let mut tx = store.begin().await.expect("begin");
    let flow = FlowId::parse("f1").expect("an id");
    tx.routers().insert(&Router::new(router(), "R", NOW)).await.expect("a router");
    tx.flows().insert(&Flow::new(flow.clone(), router(), "F", NOW)).await.expect("a flow");

    tx.webchat().insert_channel(&channel("c1", None)).await.expect("a channel");
    let test = WebchatChannel { purpose: Purpose::RouterTest, ..channel("t1", None) };
    for again in ["t1", "t2"] {
        let wanted = WebchatChannel { id: ChannelId::parse(again).expect("an id"), ..test.clone() };
        assert_eq!(tx.webchat_catalog().test_channel_or_insert(&wanted).await.expect("a channel"), test);
    }
    let portable = PortableChannel {
        id: ChannelId::parse("c2").expect("an id"),
        name: "Loja".to_owned(),
        appearance: None,
        allowed_origins: None,
        initial_flow_id: Some(flow.clone()),
        start_on: StartOn::Message,
        fallback_texts: FallbackTexts::default(),
        attachments: None,
        is_closed: false,
    };
    tx.channel_transfer().insert_channels_of(&router(), &[(portable, None)], NOW).await.expect("a channel");
    for id in ["n1", "n2"] {
        let is_new = tx.channel_numbers().insert_if_absent(&number(id, "111")).await.expect("a number");
        assert_eq!(is_new, id == "n1");
    }
    tx.channel_numbers().insert_if_absent(&number("n3", "222")).await.expect("a number");
    tx.webchat_catalog().save_channel(&channel("c1", Some(flow.clone()))).await.expect("saved");
    let with_flow = |id: &str| (id.to_owned(), Some("f1".to_owned()));
    let without = |id: &str| (id.to_owned(), None);
    let expected = [without("111"), without("222"), with_flow("wc-c1"), with_flow("wc-c2"), without("wc-t1")];
    assert_eq!(channels(&mut tx).await, expected);
    let asked = ["111", "wc-c1", "wc-t1", "wc-t2", "c1"].map(str::to_owned);
    let mut routes = tx.routers().find_routes(&asked).await.expect("routes");
    routes.sort_unstable_by(|a, b| a.phone_number_id.cmp(&b.phone_number_id));
    let found: Vec<_> = routes
        .iter()
        .map(|route| (&*route.phone_number_id, route.initial_flow_id.is_some(), route.is_test))
        .collect();
    assert_eq!(found, [("111", false, false), ("wc-c1", true, false), ("wc-t1", false, true)]);

    // A process of a version without the table made the channel: saving it makes the row.
    tx.conn.execute(sql("DELETE FROM channel WHERE id IN ('wc-c1', 'wc-t1')"), ()).await.expect("deleted");
    tx.webchat_catalog().save_channel(&channel("c1", None)).await.expect("saved");
    let test = tx.webchat_catalog().test_channel_or_insert(&channel("t9", None)).await.expect("a channel");
    assert_eq!(test.id.as_str(), "t1");
    assert_eq!(
        channels(&mut tx).await,
        [without("111"), without("222"), without("wc-c1"), with_flow("wc-c2"), without("wc-t1")]
    );
    tx.webchat_catalog().delete_channel(&ChannelId::parse("t1").expect("an id")).await.expect("deleted");
    tx.channel_numbers().delete(&"n1".parse().expect("an id")).await.expect("deleted");
    assert_eq!(channels(&mut tx).await, [without("222"), without("wc-c1"), with_flow("wc-c2")]);
    tx.conn.execute(sql("DELETE FROM flow WHERE id = 'f1'"), ()).await.expect("deleted");
    assert_eq!(channels(&mut tx).await, [without("222"), without("wc-c1"), without("wc-c2")]);
    tx.router_catalog().delete(&router()).await.expect("deleted");
    assert_eq!(channels(&mut tx).await, []);
}

#[tokio::test]
async fn every_write_of_a_channel_is_in_both_tables() {
    every_write_is_in_both("sqlite::memory:").await;
    match super::new_postgres().await {
        Some(server) => every_write_is_in_both(&server).await,
        None => super::skipped("every_write_of_a_channel_is_in_both_tables"),
    }
}

const BEFORE: &str = "INSERT INTO router (id, name, tz, created_at) VALUES ('r1', 'R', 'UTC', 1);
    INSERT INTO flow (id, router_id, name, created_at) VALUES ('f1', 'r1', 'F', 1);
    INSERT INTO webchat_channel (id, router_id, name, is_test_channel, initial_flow_id, created_at)
        VALUES ('c1', 'r1', 'C', 0, 'f1', 1), ('t1', 'r1', 'T', 1, NULL, 1);
    INSERT INTO channel_number (id, router_id, name, phone_number_id, phone_number, business_account_id, created_at, updated_at)
        VALUES ('n1', 'r1', 'N', '111', '+1', '9', 1, 1);";

/// Removes the migration of channels, writes rows of the version before, and runs it again.
const UNDONE: &str = "DROP TABLE channel; DELETE FROM _sqlx_migrations WHERE version = 13;";

fn expected() -> Vec<Row> {
    let row = |id: &str, kind: &str, is_test: i64, flow: Option<&str>| {
        (id.to_owned(), "r1".to_owned(), kind.to_owned(), is_test, flow.map(str::to_owned))
    };
    vec![
        row("111", "phone", 0, None),
        row("wc-c1", "webchat", 0, Some("f1")),
        row("wc-t1", "webchat", 1, None),
    ]
}

#[tokio::test]
async fn channels_of_the_version_before_are_filled_in() {
    let mut connection: SqliteConnection = super::migrated_sqlite().await;
    sqlx::raw_sql(UNDONE).execute(&mut connection).await.expect("undone");
    sqlx::raw_sql(BEFORE).execute(&mut connection).await.expect("rows");
    migrations::sqlite().run_direct(None, &mut connection, false).await.expect("migrated");
    let found: Vec<Row> = sqlx::query_as(STORED.sqlite).fetch_all(&mut connection).await.expect("channels");
    assert_eq!(found, expected());
    let Some(mut connection) = super::migrated_postgres().await else {
        return super::skipped("channels_of_the_version_before_are_filled_in");
    };
    sqlx::raw_sql(UNDONE).execute(&mut connection).await.expect("undone");
    sqlx::raw_sql(BEFORE).execute(&mut connection).await.expect("rows");
    migrations::postgres().run_direct(None, &mut connection, false).await.expect("migrated");
    let found: Vec<Row> = sqlx::query_as(STORED.postgres).fetch_all(&mut connection).await.expect("channels");
    assert_eq!(found, expected());
}
