//! Files of conversations.

use std::time::Duration;

use super::StoreUnderTest;
use super::world::{NOW, World, later, session_id};
use crate::id::RouterId;
use crate::media::{
    MediaFailure, MediaFile, MediaFilter, MediaId, MediaKind, MediaOrigin, MediaOutcome, MediaStatus,
    StoredBlob,
};
use crate::message::Direction;
use crate::page::PageRequest;
use crate::prelude::*;
use crate::store::Store;
use crate::testkit::store::StoreTx;

fn file(n: u64, router: &RouterId, origin: MediaOrigin) -> MediaFile {
    let cx = super::world::context();
    MediaFile {
        id: format!("file{n}").parse().expect("an id"),
        created_at: later(n),
        updated_at: later(n),
        ..MediaFile::new(&cx, router.clone(), origin, MediaKind::Image)
    }
}

async fn insert<S: Store>(world: &World<S>, files: &[MediaFile])
where
    S::Tx: StoreTx,
{
    let mut tx = world.store.begin().await.expect("begin");
    tx.media().insert_many(files).await.expect("insert");
    tx.commit().await.expect("commit");
}

async fn note<S: Store>(world: &World<S>, outcomes: &[(MediaId, MediaOutcome)]) -> Vec<MediaId>
where
    S::Tx: StoreTx,
{
    let mut tx = world.store.begin().await.expect("begin");
    let mut noted = tx.media().note(outcomes, later(99)).await.expect("note");
    tx.commit().await.expect("commit");
    noted.sort();
    noted
}

fn ids(files: &[MediaFile]) -> Vec<&str> {
    files.iter().map(|file| file.id.as_str()).collect()
}

/// A file is read back by its id, by its message and in lists.
pub async fn files_are_read_back<S: Store>(subject: StoreUnderTest<S>)
where
    S::Tx: StoreTx,
{
    let world = World::new(&subject).await;
    let message = world.message(Direction::In, 1, "a");
    world.insert(std::slice::from_ref(&message)).await;
    let full = MediaFile {
        message_id: Some(message.id.clone()),
        session_id: Some(session_id(1)),
        kind: MediaKind::Document,
        mime_type: Some("application/pdf".to_owned()),
        filename: Some("nota ☕.pdf".to_owned()),
        size: Some(1 << 40),
        sha256: Some("ff".to_owned()),
        status: MediaStatus::Failed,
        failure: Some(MediaFailure::TooLarge),
        provider_id: Some("4711".to_owned()),
        phone_number_id: Some("111".to_owned()),
        attempts: 7,
        due_at: Some(later(3)),
        ..file(0, &world.router, MediaOrigin::Contact)
    };
    let others = [file(1, &world.router, MediaOrigin::Upload), file(2, &world.router, MediaOrigin::Visitor)];
    insert(&world, std::slice::from_ref(&full)).await;
    insert(&world, &others).await;
    let mut tx = world.store.read().await.expect("read");
    assert_eq!(tx.media().find(&full.id).await.expect("find").as_ref(), Some(&full));
    assert_eq!(tx.media().find(&"file9".parse().expect("an id")).await.expect("find"), None);
    let found =
        tx.media().find_many(&[full.id.clone(), "file9".parse().expect("an id")]).await.expect("find");
    assert_eq!(found, std::slice::from_ref(&full));
    let found = tx.media().of_messages(std::slice::from_ref(&message.id)).await.expect("of messages");
    assert_eq!(found, std::slice::from_ref(&full));
    for (filter, only, expected) in [
        (MediaFilter::default(), None, vec!["file2", "file1", "file0"]),
        (
            MediaFilter { status: Some(MediaStatus::Pending), ..MediaFilter::default() },
            None,
            vec!["file2", "file1"],
        ),
        (
            MediaFilter { status: Some(MediaStatus::Failed), router_id: Some(world.router.clone()) },
            Some(vec![world.router.clone()]),
            vec!["file0"],
        ),
        (MediaFilter::default(), Some(vec!["other".parse().expect("an id")]), vec![]),
    ] {
        let (mut found, mut after) = (Vec::new(), None);
        loop {
            let page = PageRequest { limit: 2, after };
            let page = tx.media().list(&filter, only.as_deref(), &page).await.expect("a page");
            found.extend(page.items);
            after = page.next;
            if after.is_none() {
                break;
            }
        }
        assert_eq!(ids(&found), expected, "{filter:?}");
    }
}

/// What becomes of a file counts while it is pending; that its content is deleted counts always.
pub async fn outcomes_of_files_count_once<S: Store>(subject: StoreUnderTest<S>)
where
    S::Tx: StoreTx,
{
    let world = World::new(&subject).await;
    let due = |n, at| MediaFile { due_at: Some(later(at)), ..file(n, &world.router, MediaOrigin::Contact) };
    insert(&world, &[due(0, 5), due(1, 4), due(2, 9), file(3, &world.router, MediaOrigin::Upload)]).await;
    let mut tx = world.store.read().await.expect("read");
    assert_eq!(ids(&tx.media().due(later(6), 8).await.expect("due")), ["file1", "file0"]);
    assert_eq!(ids(&tx.media().due(later(6), 1).await.expect("due")), ["file1"]);
    drop(tx);
    let id = |n: u64| -> MediaId { format!("file{n}").parse().expect("an id") };
    let stored = |size| MediaOutcome::Stored(StoredBlob { size, sha256: "aa".to_owned() });
    let noted = note(
        &world,
        &[
            (id(0), stored(7)),
            (id(1), MediaOutcome::Again(later(50))),
            (id(2), MediaOutcome::Failed(MediaFailure::Gone)),
            (id(9), stored(7)),
        ],
    )
    .await;
    assert_eq!(noted, [id(0), id(1), id(2)]);
    let noted = note(
        &world,
        &[(id(0), MediaOutcome::Failed(MediaFailure::Gone)), (id(2), stored(1)), (id(1), stored(2))],
    )
    .await;
    assert_eq!(noted, [id(1)]);
    assert_eq!(
        note(&world, &[(id(0), MediaOutcome::Expired), (id(2), MediaOutcome::Expired)]).await.len(),
        2
    );
    let mut tx = world.store.read().await.expect("read");
    let mut found = Vec::new();
    for n in 0..3 {
        let file = tx.media().find(&id(n)).await.expect("find").expect("a file");
        found.push((file.status, file.failure, file.size, file.attempts, file.due_at));
        assert_eq!(file.updated_at, later(99));
    }
    assert_eq!(
        found,
        [
            (MediaStatus::Expired, None, Some(7), 1, None),
            (MediaStatus::Stored, None, Some(2), 2, None),
            (MediaStatus::Expired, None, None, 1, None),
        ]
    );
}

/// Files go with what names them: those of contacts with their messages, those of visitors after a while, all with their
/// router.
pub async fn files_that_nobody_names_are_found<S: Store>(subject: StoreUnderTest<S>)
where
    S::Tx: StoreTx,
{
    let world = World::new(&subject).await;
    let message = world.message(Direction::In, 1, "a");
    let other = world.message(Direction::In, 1, "b");
    world.insert(&[message.clone(), other.clone()]).await;
    let of = |n, message: &crate::message::NewMessage| MediaFile {
        message_id: Some(message.id.clone()),
        due_at: Some(NOW),
        ..file(n, &world.router, MediaOrigin::Contact)
    };
    let visitor = |n| file(n, &world.router, MediaOrigin::Visitor);
    let upload = |n, status| MediaFile { status, ..file(n, &world.router, MediaOrigin::Upload) };
    insert(
        &world,
        &[
            of(0, &message),
            visitor(1),
            visitor(2),
            visitor(30),
            upload(3, MediaStatus::Stored),
            upload(4, MediaStatus::Pending),
            upload(31, MediaStatus::Pending),
        ],
    )
    .await;
    let mut tx = world.store.begin().await.expect("begin");
    let attached = [("file2", &message), ("file2", &other), ("file3", &other)];
    for (id, message) in attached {
        let attached = [(id.parse().expect("an id"), message.id.clone())];
        tx.media().attach(&attached).await.expect("attach");
    }
    tx.commit().await.expect("commit");
    let mut tx = world.store.read().await.expect("read");
    let found =
        tx.media().find_many(&["file2".parse().expect("an id"), "file3".parse().expect("an id")]).await;
    let mut found: Vec<_> =
        found.expect("find").into_iter().map(|file| (file.id.to_string(), file.message_id)).collect();
    found.sort();
    assert_eq!(found, [("file2".to_owned(), Some(message.id.clone())), ("file3".to_owned(), None)]);
    let orphans = |found: Vec<MediaId>| {
        let mut found: Vec<String> = found.iter().map(MediaId::to_string).collect();
        found.sort();
        found
    };
    assert_eq!(orphans(tx.media().orphans(later(20), 100).await.expect("orphans")), ["file1", "file4"]);
    assert_eq!(tx.media().orphans(later(20), 1).await.expect("orphans").len(), 1);
    drop(tx);
    let mut tx = world.store.begin().await.expect("begin");
    tx.contact_catalog().delete(&world.contact).await.expect("delete");
    tx.commit().await.expect("commit");
    let mut tx = world.store.read().await.expect("read");
    let found = orphans(tx.media().orphans(later(20), 100).await.expect("orphans"));
    assert_eq!(found, ["file0", "file1", "file2", "file4"]);
    drop(tx);
    let mut tx = world.store.begin().await.expect("begin");
    tx.media().delete_many(&["file0", "file1"].map(|id| id.parse().expect("an id"))).await.expect("delete");
    tx.router_catalog().delete(&world.router).await.expect("delete");
    tx.commit().await.expect("commit");
    let mut tx = world.store.read().await.expect("read");
    let found = orphans(tx.media().orphans(NOW, 100).await.expect("orphans"));
    assert_eq!(found, ["file2", "file3", "file30", "file31", "file4"]);
}

/// Contents of contacts whose time is over are found, the oldest first. Uploads have no time.
pub async fn files_whose_time_is_over_are_found<S: Store>(subject: StoreUnderTest<S>)
where
    S::Tx: StoreTx,
{
    let world = World::new(&subject).await;
    let with = |n, origin, status| MediaFile { status, ..file(n, &world.router, origin) };
    insert(
        &world,
        &[
            with(3, MediaOrigin::Contact, MediaStatus::Stored),
            with(1, MediaOrigin::Visitor, MediaStatus::Stored),
            with(2, MediaOrigin::Upload, MediaStatus::Stored),
            with(0, MediaOrigin::Contact, MediaStatus::Failed),
            with(9, MediaOrigin::Contact, MediaStatus::Stored),
        ],
    )
    .await;
    let mut tx = world.store.read().await.expect("read");
    let found = tx.media().older(later(9), 10).await.expect("older");
    assert_eq!(found.iter().map(MediaId::as_str).collect::<Vec<_>>(), ["file1", "file3"]);
    assert_eq!(tx.media().older(later(9) + Duration::from_millis(1), 1).await.expect("older").len(), 1);
}
