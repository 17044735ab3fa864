//! Documents become passages that are found.

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use flowsdk_agent::knowledge::{DocumentId, DocumentStatus, KnowledgeError, SearchKnowledge};
use flowsdk_agent::model::ModelError;
use flowsdk_core::change::Author;
use flowsdk_core::router::Reach;
use flowsdk_core::store::{Store as _, Transaction as _};
use flowsdk_store::sql::SqlStore;
use serde_json::json;

use super::crashes::{dies_after, wherever_it_dies};
use super::library::Library;
use crate::conversations::world::World;
use crate::support::databases::on_every_database_and_pgvector;

on_every_database_and_pgvector! {
    a_document_is_read_and_found,
    a_router_finds_its_own_documents,
    a_document_is_embedded_in_batches,
    a_document_that_was_left_goes_on,
    what_is_replaced_meanwhile_is_not_mixed,
    what_is_deleted_meanwhile_is_gone,
    a_busy_model_is_asked_again,
    a_document_that_cannot_be_embedded_fails,
    what_cannot_be_read_fails,
    documents_of_another_model_are_embedded_anew,
    a_changed_model_in_the_middle_mixes_nothing,
    the_nearest_of_many_passages_are_found,
    documents_take_turns,
}

pub(super) async fn library(store: SqlStore) -> (World, Library) {
    let world = World::new(store).await;
    world.add_router("router2", "c2").await;
    let library = Library::new(&world.store, &world.cx);
    (world, library)
}

/// A text of so many passages, each a section.
pub(super) fn long(passages: usize) -> String {
    (0..passages).map(|at| format!("# Section {at}\n\n{}\n\n", "word ".repeat(150 + at % 7))).collect()
}

async fn a_document_is_read_and_found(store: SqlStore) {
    let (_world, library) = library(store).await;
    let id = library.add("router1", "Menu", &["menu"], "# Tea\n\nGreen tea costs 12 reais.").await;
    let waiting = library.get(&id).await;
    assert_eq!((waiting.status, waiting.chunks, waiting.revision), (DocumentStatus::Waiting, 0, 1));
    assert_eq!(library.find(json!({ "routerId": "router1", "query": "tea" })).await, [""; 0]);
    library.work().await;
    let ready = library.get(&id).await;
    assert_eq!((ready.status, ready.chunks, ready.embedded), (DocumentStatus::Ready, 1, 1));
    assert_eq!((ready.embedded_by.as_deref(), ready.error), (Some("teacher"), None));
    let search: SearchKnowledge =
        serde_json::from_value(json!({ "routerId": "router1", "query": "how much is green tea" }))
            .expect("a search");
    let search = Reach::ALL.admit(search).expect("within reach");
    let found = library.knowledge.search(search).await.expect("passages");
    assert_eq!(found.len(), 1);
    assert_eq!((&found[0].document_id, found[0].name.as_str(), found[0].position), (&id, "Menu", 0));
    assert!(found[0].text.contains("12 reais") && found[0].score > 0.2, "{found:?}");
    library.knowledge.delete(&Author::default(), Reach::ALL, &id).await.expect("deleted");
    assert_eq!(library.find(json!({ "routerId": "router1", "query": "tea" })).await, [""; 0]);
}

async fn a_router_finds_its_own_documents(store: SqlStore) {
    let (_world, library) = library(store).await;
    library
        .stock(&[
            ("router1", "Menu", &["menu", "tea"], "Green tea costs 12 reais."),
            ("router1", "Hours", &["hours"], "Tea is served from nine to six."),
            ("router2", "Menu", &["menu"], "Green tea costs 99 reais."),
        ])
        .await;
    let find = async |router: &str, tags: &[&str]| {
        let query = json!({ "routerId": router, "query": "green tea", "tags": tags });
        library.find(query).await
    };
    let (menu, hours, other) =
        ("Green tea costs 12 reais.", "Tea is served from nine to six.", "Green tea costs 99 reais.");
    assert_eq!(find("router1", &[]).await, [menu, hours]);
    assert_eq!(find("router2", &[]).await, [other]);
    assert_eq!(find("router1", &["hours", "none"]).await, [hours]);
    assert_eq!(find("router1", &["tea"]).await, [menu]);
    assert_eq!(find("router2", &["tea"]).await, [""; 0]);
    assert_eq!(library.find(json!({ "routerId": "router1", "query": "tea", "limit": 1 })).await.len(), 1);
    let nowhere = json!({ "routerId": "router3", "query": "tea" });
    let nowhere: SearchKnowledge = serde_json::from_value(nowhere).expect("a search");
    let nowhere = library.knowledge.search(Reach::ALL.admit(nowhere).expect("within reach")).await;
    assert!(matches!(nowhere, Err(KnowledgeError::RouterUnknown(_))), "{nowhere:?}");
}

async fn a_document_is_embedded_in_batches(store: SqlStore) {
    let (_world, library) = library(store).await;
    let id = library.add("router1", "Book", &[], &long(150)).await;
    let mut seen = Vec::new();
    while library.ingest.round().await.expect("a round") > 0 {
        let document = library.get(&id).await;
        seen.push((document.status.name(), document.embedded));
    }
    assert_eq!(seen, [("embedding", 0), ("embedding", 64), ("embedding", 128), ("ready", 150)]);
    assert_eq!(library.teacher.asked(), [64, 64, 22]);
}

/// A process dies at any place, and the next one goes on: nothing is embedded twice that was stored.
async fn a_document_that_was_left_goes_on(store: SqlStore) {
    let (_world, library) = library(store).await;
    let text = long(70);
    let died = wherever_it_dies(async |polls| {
        let id = library.add("router1", "Book", &[], &text).await;
        let worked = async { while library.another_ingest().round().await.expect("a round") > 0 {} };
        let done = dies_after(polls, worked).await;
        library.work().await;
        let document = library.get(&id).await;
        assert_eq!((document.status, document.embedded), (DocumentStatus::Ready, 70), "after {polls} polls");
        let asked: usize = library.teacher.asked().iter().sum();
        assert!(asked <= 70 + 64, "{asked} texts after {polls} polls");
        library.knowledge.delete(&Author::default(), Reach::ALL, &id).await.expect("deleted");
        done
    })
    .await;
    assert!(died > 2, "{died}");
}

/// Works until the model is asked, does something, and lets the model answer.
async fn meanwhile(library: &Library, act: impl AsyncFnOnce()) {
    let gate = library.teacher.gate.acquire_many(1_000).await.expect("a gate");
    {
        let mut working = pin!(library.work());
        while library.teacher.asked.lock().expect("a lock").is_empty() {
            let polled = working.as_mut().poll(&mut Context::from_waker(Waker::noop()));
            assert_eq!(polled, Poll::Pending);
            tokio::task::yield_now().await;
        }
        act().await;
        drop(gate);
        working.await;
    }
    library.teacher.asked();
}

async fn what_is_replaced_meanwhile_is_not_mixed(store: SqlStore) {
    let (_world, library) = library(store).await;
    let id = library.add("router1", "Menu", &[], &long(3)).await;
    meanwhile(&library, async || library.replace(&id, "Green tea costs 13 reais.").await).await;
    let document = library.get(&id).await;
    assert_eq!((document.status, document.revision), (DocumentStatus::Ready, 2));
    assert_eq!((document.chunks, document.embedded), (1, 1));
    let all = json!({ "routerId": "router1", "query": "word tea", "limit": 50 });
    assert_eq!(library.find(all).await, ["Green tea costs 13 reais."]);
}

async fn what_is_deleted_meanwhile_is_gone(store: SqlStore) {
    let (_world, library) = library(store).await;
    let id = library.add("router1", "Menu", &[], &long(3)).await;
    let delete = async || {
        library.knowledge.delete(&Author::default(), Reach::ALL, &id).await.expect("deleted");
    };
    meanwhile(&library, delete).await;
    let gone = library.knowledge.get(Reach::ALL, &id).await;
    assert!(matches!(gone, Err(KnowledgeError::NotFound)), "{gone:?}");
    assert_eq!(library.find(json!({ "routerId": "router1", "query": "word" })).await, [""; 0]);
}

fn busy(seconds: u64) -> ModelError {
    ModelError::Unavailable { reason: "429".to_owned(), retry_after: Some(Duration::from_secs(seconds)) }
}

async fn a_busy_model_is_asked_again(store: SqlStore) {
    let (world, library) = library(store).await;
    library.teacher.fail(busy(20));
    library.teacher.fail(ModelError::unavailable("500"));
    let id = library.add("router1", "Menu", &[], "Tea").await;
    library.work().await;
    assert_eq!(
        (library.get(&id).await.status, library.teacher.asked()),
        (DocumentStatus::Embedding, vec![1])
    );
    world.clock.advance(Duration::from_secs(19));
    library.work().await;
    assert_eq!(library.teacher.asked(), [0; 0], "it is left alone for as long as it asks");
    world.clock.advance(Duration::from_secs(1));
    library.work().await;
    assert_eq!(
        (library.get(&id).await.status, library.teacher.asked()),
        (DocumentStatus::Embedding, vec![1])
    );
    world.clock.advance(Duration::from_secs(10));
    library.work().await;
    assert_eq!((library.get(&id).await.status, library.teacher.asked()), (DocumentStatus::Ready, vec![1]));
}

async fn a_document_that_cannot_be_embedded_fails(store: SqlStore) {
    let (world, library) = library(store).await;
    library.teacher.fail(ModelError::Account { reason: "401".to_owned() });
    let id = library.add("router1", "Menu", &[], "Tea").await;
    library.work().await;
    let failed = library.get(&id).await;
    assert_eq!(failed.status, DocumentStatus::Failed);
    assert!(failed.error.as_deref().is_some_and(|error| error.contains("401")), "{failed:?}");
    library.knowledge.retry(&Author::default(), Reach::ALL, &id).await.expect("begun anew");
    library.work().await;
    let ready = library.get(&id).await;
    assert_eq!((ready.status, ready.error, ready.revision), (DocumentStatus::Ready, None, 2));
    // One that is busy for ever.
    let id = library.add("router1", "Menu", &[], "Tea").await;
    let mut tries = 0;
    while library.get(&id).await.status != DocumentStatus::Failed {
        library.teacher.fail(busy(1));
        library.work().await;
        world.clock.advance(Duration::from_secs(1));
        tries += 1;
        assert!(tries < 100, "it never fails");
    }
    assert!(tries > 10, "{tries}");
}

async fn what_cannot_be_read_fails(store: SqlStore) {
    let (_world, library) = library(store).await;
    let id = library.add("router1", "Page", &[], "x").await;
    let content = json!({ "mediaType": "text/html", "text": "<script>nothing()</script>" });
    let content = serde_json::from_value(content).expect("a content");
    library.knowledge.replace(&Author::default(), Reach::ALL, &id, content).await.expect("replaced");
    library.work().await;
    let failed = library.get(&id).await;
    assert_eq!(
        (failed.status, failed.error.as_deref()),
        (DocumentStatus::Failed, Some("the document has no text"))
    );
    // One that has brought down the process each time.
    let id = library.add("router1", "Trap", &[], "x").await;
    interrupt(&library, &id, 3).await;
    library.work().await;
    let failed = library.get(&id).await;
    assert_eq!(failed.status, DocumentStatus::Failed);
    assert!(failed.error.as_deref().is_some_and(|error| error.contains("interrupted")), "{failed:?}");
}

/// Its reading was begun so often and never ended.
async fn interrupt(library: &Library, id: &DocumentId, times: u32) {
    use flowsdk_agent::knowledge::HasKnowledge as _;
    let mut tx = library.store().begin().await.expect("begin");
    tx.knowledge().set_due(id, Some(library.now()), times).await.expect("set");
    tx.commit().await.expect("commit");
}

async fn documents_of_another_model_are_embedded_anew(store: SqlStore) {
    let (_world, library) = library(store).await;
    library.stock(&[("router1", "Menu", &[], "Green tea")]).await;
    library.teacher.rename("another");
    let search = || json!({ "routerId": "router1", "query": "tea" });
    assert_eq!(library.find(search()).await, [""; 0], "vectors of two models are not compared");
    library.ingest.embed_anew().await.expect("begun anew");
    library.work().await;
    assert_eq!(library.find(search()).await, ["Green tea"]);
    library.teacher.asked();
    library.ingest.embed_anew().await.expect("nothing to do");
    library.work().await;
    assert_eq!(library.teacher.asked(), [0; 0]);
}

async fn a_changed_model_in_the_middle_mixes_nothing(store: SqlStore) {
    let (_world, library) = library(store).await;
    let id = library.add("router1", "Book", &[], &long(100)).await;
    library.ingest.round().await.expect("read");
    library.ingest.round().await.expect("the first batch");
    assert_eq!(library.get(&id).await.embedded, 64);
    library.teacher.rename("another");
    library.work().await;
    let ready = library.get(&id).await;
    assert_eq!((ready.status, ready.embedded_by.as_deref()), (DocumentStatus::Ready, Some("another")));
    assert_eq!(library.teacher.asked(), [64, 64, 36], "all are made anew");
}

/// More passages than are in memory at once, in one document and in many.
async fn the_nearest_of_many_passages_are_found(store: SqlStore) {
    let (_world, library) = library(store).await;
    let mut text = long(600);
    text.push_str("# Secret\n\nThe marmot sleeps in the lighthouse.");
    library.stock(&[("router1", "Book", &[], &text)]).await;
    for at in 0..5 {
        let animal = format!("A heron number {at} wades.");
        library.stock(&[("router1", "Note", &[], &animal)]).await;
    }
    let found =
        library.find(json!({ "routerId": "router1", "query": "marmot lighthouse", "limit": 2 })).await;
    assert!(found.len() == 2 && found[0].contains("The marmot sleeps"), "{found:?}");
    let found = library.find(json!({ "routerId": "router1", "query": "heron wades", "limit": 50 })).await;
    assert_eq!(found.len(), 50);
    assert!(found[..5].iter().all(|text| text.contains("heron")), "{:?}", &found[..5]);
}

/// A long document does not hold up a short one that comes later.
async fn documents_take_turns(store: SqlStore) {
    let (world, library) = library(store).await;
    for at in 0..8 {
        library.add("router1", &format!("Book {at}"), &[], &long(200)).await;
        world.clock.advance(Duration::from_millis(1));
    }
    let short = library.add("router2", "Note", &[], "Tea").await;
    let mut rounds = 0;
    while library.get(&short).await.status != DocumentStatus::Ready {
        world.clock.advance(Duration::from_millis(1));
        library.ingest.round().await.expect("a round");
        rounds += 1;
    }
    assert!(rounds <= 6, "{rounds} rounds");
}
