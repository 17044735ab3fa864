//! Copies of vectors, and their indexes, on PostgreSQL with pgvector.

use std::sync::Arc;

use flowsdk_agent::knowledge::{FoundPassage, VectorIndex as _};
use flowsdk_core::change::Author;
use flowsdk_core::router::Reach;
use flowsdk_store::sql::{DatabaseUrl, OutboxRoutes, SqlStore};
use serde_json::{Value, json};
use sqlx::{AssertSqlSafe, Connection as _, PgConnection};

use super::library::Library;
use crate::conversations::world::World;
use crate::support::databases::{connected, memory, new_pgvector};

/// Passages from which on the tests have an index.
const INDEXED_FROM: u32 = 40;
const SKIPPED: &str = "SKIPPED: FLOWSDK_TEST_PGVECTOR is not set, see `cargo xtask test`";

/// A database with pgvector, and a connection of its superuser.
struct Server {
    url: DatabaseUrl,
    admin: PgConnection,
    world: World,
    shelf: Library,
}

#[allow(clippy::print_stderr, reason = "a skipped test must be seen")]
async fn server() -> Option<Server> {
    let Some((url, name)) = new_pgvector().await else {
        eprintln!("{SKIPPED}");
        return None;
    };
    let DatabaseUrl::Postgres(options) = &url else { unreachable!("a server") };
    let admin = PgConnection::connect_with(options).await.expect("a connection");
    let (world, shelf) = library_on(connect(&url).await).await;
    connected(name);
    Some(Server { url, admin, world, shelf })
}

async fn connect(url: &DatabaseUrl) -> SqlStore {
    let store = SqlStore::connect(url, OutboxRoutes::relayed()).await.expect("a database");
    store.with_vectors_indexed_from(INDEXED_FROM)
}

async fn library_on(store: SqlStore) -> (World, Library) {
    let world = World::new(store).await;
    world.add_router("router2", "c2").await;
    let library = Library::new(&world.store, &world.cx);
    (world, library)
}

impl Server {
    async fn number(&mut self, query: &'static str) -> i64 {
        sqlx::query_scalar(query).fetch_one(&mut self.admin).await.expect(query)
    }

    async fn execute(&mut self, statement: &'static str) {
        sqlx::raw_sql(statement).execute(&mut self.admin).await.expect(statement);
    }

    async fn copies(&mut self) -> i64 {
        self.number("SELECT count(*) FROM knowledge_vector").await
    }

    /// The indexes of spaces, and how many of them are whole.
    async fn indexes(&mut self) -> (i64, i64) {
        let all =
            "SELECT count(*) FROM pg_class WHERE relkind = 'i' AND relname LIKE 'knowledge_vector_near%'";
        let whole = "SELECT count(*) FROM pg_index JOIN pg_class ON oid = indexrelid
             WHERE indisvalid AND relname LIKE 'knowledge_vector_near%'";
        (self.number(all).await, self.number(whole).await)
    }
}

/// Passages about different things.
fn book(passages: usize) -> String {
    let things = ["tea", "heron", "lighthouse", "bicycle", "marmot", "harbour", "violin"];
    let section = |at: usize| {
        let (one, other) = (things[at % 7], things[at / 7 % 7]);
        format!(
            "# Section {at}\n\nThe {one} and the {other} of page {at}. {}\n\n",
            "word ".repeat(140 + at % 9)
        )
    };
    (0..passages).map(section).collect()
}

async fn stock(library: &Library) {
    let (all, some) = (book(120), book(30));
    library
        .stock(&[
            ("router1", "Book", &["book"], all.as_str()),
            ("router1", "Booklet", &["book", "small"], some.as_str()),
            ("router1", "Note", &["note"], "The heron drinks tea in the harbour."),
            ("router2", "Book", &["book"], some.replace("heron", "stork").as_str()),
        ])
        .await;
}

async fn search(library: &Library, search: Value) -> Vec<(String, u32, f32, String)> {
    let search = serde_json::from_value(search).expect("a search");
    let search = Reach::ALL.admit(search).expect("within reach");
    let found: Vec<FoundPassage> = library.knowledge.search(search).await.expect("passages");
    found.into_iter().map(|found| (found.name, found.position, found.score, found.text)).collect()
}

/// Compares searches with those of a database that reads every vector.
async fn same_as_every_comparison(library: &Library, compared: &Library) {
    for query in ["heron", "tea in the harbour", "the violin of page 77", "page 12", "bicycle bicycle marmot"]
    {
        for (router, tags) in [
            ("router1", json!([])),
            ("router1", json!(["note", "small"])),
            ("router1", json!(["none"])),
            ("router2", json!([])),
        ] {
            for limit in [1, 10, 50] {
                let asked = json!({ "routerId": router, "query": query, "tags": tags, "limit": limit });
                let found = search(library, asked.clone()).await;
                assert_eq!(found, search(compared, asked.clone()).await, "{asked}");
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_index_finds_what_every_comparison_finds() {
    let Some(mut server) = server().await else { return };
    stock(&server.shelf).await;
    let (_other, compared) = library_on(memory().await).await;
    stock(&compared).await;
    assert_eq!(server.copies().await, 181);
    assert_eq!(server.indexes().await, (1, 1), "the other router has few passages");
    same_as_every_comparison(&server.shelf, &compared).await;
    // Without it they are compared one by one.
    server.execute("UPDATE pg_index SET indisvalid = false WHERE indexrelid::regclass::text LIKE 'knowledge_vector_near%'").await;
    same_as_every_comparison(&server.shelf, &compared).await;
    server.execute("DELETE FROM knowledge_copy WHERE document_id IN (SELECT id FROM knowledge_document WHERE name = 'Booklet')").await;
    same_as_every_comparison(&server.shelf, &compared).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn documents_that_the_index_passes_over_are_found() {
    let Some(server) = server().await else { return };
    let near = "# Tea\n\ngreen tea green tea green tea\n\n".repeat(600);
    let far: String =
        (0..60).map(|at| format!("# {at}\n\nA tea of page {at}. {}\n\n", "word ".repeat(150))).collect();
    server
        .shelf
        .stock(&[("router1", "Near", &["near"], near.as_str()), ("router1", "Far", &["far"], far.as_str())])
        .await;
    let found = search(
        &server.shelf,
        json!({ "routerId": "router1", "query": "green tea", "tags": ["far"], "limit": 5 }),
    )
    .await;
    assert_eq!(found.len(), 5);
    assert!(found.iter().all(|(name, ..)| name == "Far"), "{found:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn copies_follow_their_documents() {
    let Some(mut server) = server().await else { return };
    let library = &server.shelf;
    let id = library.add("router1", "Book", &[], &book(60)).await;
    library.work().await;
    assert_eq!((server.copies().await, server.indexes().await), (60, (1, 1)));
    // Before the new ones are copied nothing of the old ones is found.
    server.shelf.replace(&id, "The otter swims.").await;
    while server.shelf.ingest.round().await.expect("a round") > 0 {}
    let all = || json!({ "routerId": "router1", "query": "the otter, the heron", "limit": 50 });
    assert_eq!(server.shelf.find(all()).await, ["The otter swims."]);
    server.shelf.work().await;
    assert_eq!(server.shelf.find(all()).await, ["The otter swims."]);
    assert_eq!((server.copies().await, server.indexes().await), (1, (0, 0)), "it has few passages now");
    // Another model is another space.
    server.shelf.replace(&id, &book(50)).await;
    server.shelf.work().await;
    server.shelf.teacher.rename("another");
    server.shelf.ingest.embed_anew().await.expect("begun anew");
    server.shelf.work().await;
    let of_now =
        "SELECT count(*) FROM knowledge_vector JOIN knowledge_space ON id = space WHERE model = 'another'";
    assert_eq!((server.number(of_now).await, server.copies().await), (50, 50));
    assert_eq!(server.indexes().await, (1, 1), "that of the other model is gone");
    server.shelf.knowledge.delete(&Author::default(), Reach::ALL, &id).await.expect("deleted");
    assert_eq!((server.copies().await, server.shelf.find(all()).await), (0, vec![]));
    server.shelf.work().await;
    assert_eq!(server.indexes().await, (0, 0));
}

/// What a build leaves that ends early, with its process or its server, is an index that is not whole.
#[tokio::test(flavor = "multi_thread")]
async fn an_index_that_is_not_whole_is_built_anew() {
    let Some(mut server) = server().await else { return };
    server.shelf.stock(&[("router1", "Book", &[], book(60).as_str())]).await;
    server.execute("UPDATE pg_index SET indisvalid = false WHERE indexrelid::regclass::text LIKE 'knowledge_vector_near%'").await;
    assert_eq!(server.indexes().await, (1, 0));
    // Another process builds it at this moment.
    server.execute("SELECT pg_advisory_lock(7814123920046131)").await;
    server.shelf.work().await;
    assert_eq!(server.indexes().await, (1, 0), "it is left alone");
    server.execute("SELECT pg_advisory_unlock(7814123920046131)").await;
    server.shelf.work().await;
    assert_eq!(server.indexes().await, (1, 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn processes_that_build_at_once_build_one_index() {
    let Some(mut server) = server().await else { return };
    let id = server.shelf.add("router1", "Book", &[], &book(300)).await;
    while server.shelf.ingest.round().await.expect("a round") > 0 {}
    let other = connect(&server.url).await.with_context(server.world.cx.clone());
    let work = async |store: &SqlStore| while store.tend().await.expect("a part") {};
    tokio::join!(work(&server.world.store), work(&other), work(&server.world.store));
    assert_eq!((server.copies().await, server.indexes().await), (300, (1, 1)));
    assert_eq!(server.shelf.get(&id).await.chunks, 300);
}

/// A role without rights works as on a database without pgvector. When an administrator has created the extension, the next
/// start uses it.
#[tokio::test(flavor = "multi_thread")]
async fn an_extension_that_comes_later_is_used() {
    let Some((DatabaseUrl::Postgres(options), name)) = new_pgvector().await else { return };
    let mut admin = PgConnection::connect_with(&options).await.expect("a connection");
    let role = format!("plain_{name}");
    let grant = format!("CREATE ROLE {role} LOGIN; ALTER DATABASE {name} OWNER TO {role}");
    sqlx::raw_sql(AssertSqlSafe(grant)).execute(&mut admin).await.expect("a role");
    let url = DatabaseUrl::Postgres(Box::new((*options).clone().username(&role)));
    let (world, shelf) = library_on(connect(&url).await).await;
    stock(&shelf).await;
    let (_other, compared) = library_on(memory().await).await;
    stock(&compared).await;
    let has_copies = "SELECT to_regclass('knowledge_vector') IS NOT NULL";
    let has: bool = sqlx::query_scalar(has_copies).fetch_one(&mut admin).await.expect(has_copies);
    assert!(!has, "it may not create the extension");
    same_as_every_comparison(&shelf, &compared).await;

    sqlx::raw_sql("CREATE EXTENSION vector").execute(&mut admin).await.expect("an extension");
    let store = Arc::new(connect(&url).await.with_context(world.cx.clone()));
    let library = Library::new(&store, &world.cx);
    same_as_every_comparison(&shelf, &compared).await;
    library.work().await;
    let copies: i64 = sqlx::query_scalar("SELECT count(*) FROM knowledge_vector")
        .fetch_one(&mut admin)
        .await
        .expect("a number");
    assert_eq!(copies, 181);
    same_as_every_comparison(&shelf, &compared).await;
    // One that is dropped takes the copies with it.
    sqlx::raw_sql("DROP EXTENSION vector CASCADE; CREATE EXTENSION vector")
        .execute(&mut admin)
        .await
        .expect("anew");
    let store = Arc::new(connect(&url).await.with_context(world.cx.clone()));
    let library = Library::new(&store, &world.cx);
    library.work().await;
    same_as_every_comparison(&shelf, &compared).await;
    connected(name);
}
