//! Documents of addresses: what stands there becomes passages that are found.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use async_trait::async_trait;
use flowsdk_agent::knowledge::{
    Document, DocumentId, DocumentStatus, Ingest, KnowledgeError, MediaType, OfflineEmbedders, PdfError,
    PdfReader,
};
use flowsdk_core::change::Author;
use flowsdk_core::router::Reach;
use flowsdk_store::sql::SqlStore;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::crashes::{dies_after, wherever_it_dies};
use super::library::Library;
use super::site::Visited;
use crate::conversations::world::World;
use crate::support::databases::on_every_database;

on_every_database! {
    what_stands_at_an_address_is_found,
    a_busy_server_is_asked_again,
    an_address_that_cannot_be_read_fails,
    an_address_that_was_left_is_asked_again,
    what_is_replaced_while_it_is_fetched_stays_so,
    what_is_deleted_while_it_is_fetched_is_gone,
    a_pdf_is_read_by_its_reader,
    a_slow_site_of_one_router_delays_no_other,
}

const MENU: &str = "https://tea.example/menu";

async fn library(store: SqlStore) -> (World, Library) {
    let world = World::new(store).await;
    let library = Library::new(&world.store, &world.cx);
    (world, library)
}

async fn find(library: &Library) -> Vec<String> {
    library.find(json!({ "routerId": "router1", "query": "tea" })).await
}

fn error_of(document: &Document) -> &str {
    assert_eq!(document.status, DocumentStatus::Failed, "{document:?}");
    document.error.as_deref().expect("an error")
}

async fn what_stands_at_an_address_is_found(store: SqlStore) {
    let (world, library) = library(store).await;
    let id = library.add_address("router1", MENU).await;
    let waiting = library.get(&id).await;
    assert_eq!((waiting.status, waiting.size, waiting.fetched_at), (DocumentStatus::Waiting, 0, None));
    assert_eq!(waiting.address.as_ref().map(|address| address.as_str()), Some(MENU));
    library.site.says("text/html; charset=iso-8859-1", *b"<h1>Tea</h1><p>Ch\xe1 costs 12.</p>");
    let fetched_at = world.cx.now();
    library.ingest.round().await.expect("a round");
    let reading = library.get(&id).await;
    assert_eq!((reading.status, reading.fetched_at), (DocumentStatus::Reading, Some(fetched_at)));
    library.work().await;
    let ready = library.get(&id).await;
    assert_eq!((ready.status, ready.media_type), (DocumentStatus::Ready, MediaType::Html));
    assert_eq!(find(&library).await, ["# Tea\n\nChá costs 12."]);
    // Begun anew it is fetched anew.
    world.clock.advance(Duration::from_hours(1));
    library.site.says("text/markdown", "# Tea\n\nIt costs 13.");
    library.knowledge.retry(&Author::default(), Reach::ALL, &id).await.expect("begun anew");
    library.work().await;
    let ready = library.get(&id).await;
    assert_eq!((ready.revision, ready.media_type), (2, MediaType::Markdown));
    assert_eq!(ready.fetched_at, Some(fetched_at + Duration::from_hours(1)));
    assert_eq!(find(&library).await, ["# Tea\n\nIt costs 13."]);
    assert_eq!(library.site.asked(), [MENU, MENU]);
    // A text takes the place of the address, and the other way round.
    library.replace(&id, "Tea costs 14.").await;
    library.work().await;
    let ready = library.get(&id).await;
    assert_eq!((ready.address, ready.fetched_at, ready.size), (None, None, 13));
    library.replace_by(&id, json!({ "address": "https://tea.example/new" })).await;
    library.work().await;
    assert_eq!(library.site.asked(), ["https://tea.example/new"]);
    assert_eq!(find(&library).await, ["Green tea"]);
}

async fn a_busy_server_is_asked_again(store: SqlStore) {
    let (world, library) = library(store).await;
    library.site.is_busy(Some(20));
    library.site.is_busy(None);
    let id = library.add_address("router1", MENU).await;
    library.work().await;
    assert_eq!((library.get(&id).await.status, library.site.asked().len()), (DocumentStatus::Fetching, 1));
    world.clock.advance(Duration::from_secs(19));
    library.work().await;
    assert_eq!(library.site.asked().len(), 0, "it is left alone for as long as it asks");
    world.clock.advance(Duration::from_secs(1));
    library.work().await;
    assert_eq!((library.get(&id).await.status, library.site.asked().len()), (DocumentStatus::Fetching, 1));
    world.clock.advance(Duration::from_secs(10));
    library.work().await;
    assert_eq!(library.get(&id).await.status, DocumentStatus::Ready);
    // One that is busy for ever.
    let id = library.add_address("router1", MENU).await;
    let mut tries = 0;
    while library.get(&id).await.status != DocumentStatus::Failed {
        library.site.is_busy(Some(1));
        library.work().await;
        world.clock.advance(Duration::from_secs(1));
        tries += 1;
        assert!(tries < 100, "it never fails");
    }
    assert!(tries > 10, "{tries}");
    let failed = library.get(&id).await;
    assert_eq!(error_of(&failed), "the address cannot be read now: its server answers with status 503");
}

async fn an_address_that_cannot_be_read_fails(store: SqlStore) {
    let (_world, library) = library(store).await;
    library.site.refuses();
    let id = library.add_address("router1", MENU).await;
    library.work().await;
    let failed = library.get(&id).await;
    assert_eq!(error_of(&failed), "the address cannot be read: its server answers with status 404");
    for (content_type, bytes, expected) in [
        ("image/png", &b"PNG"[..], "it is neither text, Markdown, HTML nor PDF"),
        ("text/html", b"", "there is nothing in it"),
        ("application/pdf", b"<html>", "it is not what its type says"),
        ("text/plain", b"ch\xe1", "it is no text in its character set"),
        ("text/html", &[b' '; (1 << 20) + 1], "it is too large: at most"),
    ] {
        library.site.says(content_type, bytes);
        library.knowledge.retry(&Author::default(), Reach::ALL, &id).await.expect("begun anew");
        library.work().await;
        let failed = library.get(&id).await;
        let error = error_of(&failed);
        assert!(error.starts_with(&format!("the address cannot be read: {expected}")), "{error}");
    }
    // A program that reads no addresses says so.
    let shared = Arc::new(library.store().clone());
    let ingest = Ingest::new(shared, library.cx().clone(), Arc::new(OfflineEmbedders));
    library.knowledge.retry(&Author::default(), Reach::ALL, &id).await.expect("begun anew");
    while ingest.round().await.expect("a round") > 0 {}
    let failed = library.get(&id).await;
    assert!(error_of(&failed).ends_with("this program reads no addresses"), "{failed:?}");
}

/// A process dies at any place, and the next one goes on.
async fn an_address_that_was_left_is_asked_again(store: SqlStore) {
    let (_world, library) = library(store).await;
    let died = wherever_it_dies(async |polls| {
        let id = library.add_address("router1", MENU).await;
        let worked = async { while library.another_ingest().round().await.expect("a round") > 0 {} };
        let done = dies_after(polls, worked).await;
        library.work().await;
        let document = library.get(&id).await;
        assert_eq!((document.status, document.embedded), (DocumentStatus::Ready, 1), "after {polls} polls");
        assert_eq!(find(&library).await, ["Green tea"]);
        let asked = library.site.asked().len();
        assert!((1..=2).contains(&asked), "{asked} requests after {polls} polls");
        library.knowledge.delete(&Author::default(), Reach::ALL, &id).await.expect("deleted");
        done
    })
    .await;
    assert!(died > 2, "{died}");
}

/// Works until the site is asked, does something, and lets the site answer.
async fn meanwhile(library: &Library, act: impl AsyncFnOnce()) {
    let gate = library.site.gate.acquire_many(1_000).await.expect("a gate");
    let mut working = pin!(library.work());
    while !library.site.is_asked() {
        let polled = working.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        assert_eq!(polled, Poll::Pending);
        tokio::task::yield_now().await;
    }
    act().await;
    drop(gate);
    working.await;
}

async fn what_is_replaced_while_it_is_fetched_stays_so(store: SqlStore) {
    let (_world, library) = library(store).await;
    let id = library.add_address("router1", MENU).await;
    meanwhile(&library, async || library.replace(&id, "Tea costs 13.").await).await;
    let document = library.get(&id).await;
    assert_eq!((document.status, document.revision), (DocumentStatus::Ready, 2));
    assert_eq!((document.fetched_at, document.media_type), (None, MediaType::Text));
    assert_eq!(find(&library).await, ["Tea costs 13."]);
    // By another address, whose answer comes second.
    let other = json!({ "address": "https://tea.example/other" });
    library.replace_by(&id, json!({ "address": MENU })).await;
    library.site.asked();
    library.site.says("text/plain", "Old tea");
    library.site.says("text/plain", "New tea");
    meanwhile(&library, async || library.replace_by(&id, other).await).await;
    assert_eq!(library.site.asked(), [MENU, "https://tea.example/other"]);
    assert_eq!(find(&library).await, ["New tea"]);
}

async fn what_is_deleted_while_it_is_fetched_is_gone(store: SqlStore) {
    let (_world, library) = library(store).await;
    let id: DocumentId = library.add_address("router1", MENU).await;
    let delete = async || {
        library.knowledge.delete(&Author::default(), Reach::ALL, &id).await.expect("deleted");
    };
    meanwhile(&library, delete).await;
    let gone = library.knowledge.get(Reach::ALL, &id).await;
    assert!(matches!(gone, Err(KnowledgeError::NotFound)), "{gone:?}");
    assert_eq!(find(&library).await, [""; 0]);
}

/// Says what it is given, or why not.
#[derive(Debug)]
struct Scribe(Result<String, PdfError>);

#[async_trait]
impl PdfReader for Scribe {
    async fn read(&self, pdf: &[u8]) -> Result<String, PdfError> {
        assert!(pdf.starts_with(b"%PDF-"));
        self.0.clone()
    }
}

async fn a_pdf_is_read_by_its_reader(store: SqlStore) {
    let (_world, library) = library(store).await;
    let id = library.add_address("router1", "https://tea.example/menu.pdf").await;
    let work = async |read: Option<Result<String, PdfError>>| {
        library.site.says("application/octet-stream", "%PDF-1.7 ..");
        library.knowledge.retry(&Author::default(), Reach::ALL, &id).await.expect("begun anew");
        let shared = Arc::new(library.store().clone());
        let ingest = Ingest::new(shared, library.cx().clone(), Arc::new(OfflineEmbedders));
        let mut ingest = ingest.with_web(Arc::new(Visited(Arc::clone(&library.site))));
        if let Some(read) = read {
            ingest = ingest.with_pdfs(Arc::new(Scribe(read)));
        }
        while ingest.round().await.expect("a round") > 0 {}
        library.get(&id).await
    };
    let ready = work(Some(Ok("\nTea costs 12.\n".to_owned()))).await;
    assert_eq!((ready.status, ready.chunks), (DocumentStatus::Ready, 1));
    assert_eq!((ready.media_type, ready.size), (MediaType::Pdf, 11));
    for (read, expected) in [
        (None, "this server cannot read PDFs now"),
        (Some(Err(PdfError::Encrypted)), "the PDF is encrypted"),
        (Some(Err(PdfError::Memory)), "the PDF needs too much memory"),
        (Some(Ok(" \n".to_owned())), "the document has no text"),
        (Some(Ok("a".repeat((5 << 20) + 1))), "the text of the PDF is longer than 5 MiB"),
    ] {
        assert_eq!(error_of(&work(read).await), expected);
    }
}

async fn a_slow_site_of_one_router_delays_no_other(store: SqlStore) {
    let (world, library) = library(store).await;
    world.add_router("router2", "c2").await;
    let permits = u32::try_from(library.site.gate.available_permits()).expect("few");
    let gate = library.site.gate.acquire_many(permits).await.expect("a gate");
    for number in 0..30 {
        library.add_address("router1", &format!("{MENU}/{number}")).await;
    }
    let tea = library.add("router2", "Menu", &[], "Green tea").await;
    let stop = CancellationToken::new();
    let mut asked = Vec::new();
    let read = async {
        while library.get(&tea).await.status != DocumentStatus::Ready || asked.len() < 4 {
            tokio::task::yield_now().await;
            asked.extend(library.site.asked());
        }
    };
    tokio::select! {
        () = library.ingest.run(&stop) => panic!("nobody stops it"),
        () = read => {}
    }
    assert_eq!(asked.len(), 4, "a router has a part of the places");
    drop(gate);
    library.work().await;
    assert_eq!(library.site.asked().len(), 30);
}
