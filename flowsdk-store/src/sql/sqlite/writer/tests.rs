use super::*;

const PRAGMAS: &str = "PRAGMA journal_mode = wal; PRAGMA foreign_keys = on;
     CREATE TABLE IF NOT EXISTS t (id INTEGER PRIMARY KEY, name TEXT, parent INTEGER REFERENCES t (id) DEFERRABLE INITIALLY DEFERRED) STRICT;";

fn writer(folder: &tempfile::TempDir) -> Writer {
    let patience = Duration::from_millis(200);
    Writer::open(&folder.path().join("t.db"), PRAGMAS, patience, &Generations::new(), Damage::default())
        .expect("a writer")
}

async fn names(writer: &Writer) -> Vec<(i64, Option<String>)> {
    let tx = writer.begin().await.expect("begin");
    tx.prepare("SELECT id, name FROM t ORDER BY id").fetch_all().expect("rows")
}

fn insert(tx: &DirectTx, id: i64, name: Option<&str>) -> Result<u64, StorageError> {
    tx.bound("INSERT INTO t (name, id) VALUES ($2, $1)", (id, name))?.execute()
}

#[tokio::test]
async fn what_is_committed_is_there_and_what_is_dropped_is_not() {
    let folder = tempfile::tempdir().expect("a folder");
    let writer = writer(&folder);
    let tx = writer.begin().await.expect("begin");
    assert_eq!(insert(&tx, 1, Some("a")).expect("a row"), 1);
    assert_eq!(insert(&tx, 2, None).expect("a row"), 1);
    tx.commit().await.expect("commit");
    let tx = writer.begin().await.expect("begin");
    insert(&tx, 3, None).expect("a row");
    drop(tx);
    assert_eq!(names(&writer).await, [(1, Some("a".to_owned())), (2, None)]);
    // Nobody waits for this one, and it is committed all the same.
    let tx = writer.begin().await.expect("begin");
    insert(&tx, 4, None).expect("a row");
    let mut committing = Box::pin(tx.commit());
    assert!(futures_util::FutureExt::now_or_never(&mut committing).is_none_or(|done| done.is_ok()));
    drop(committing);
    assert_eq!(names(&writer).await.len(), 3);
}

#[tokio::test]
async fn errors_are_told_apart_and_leave_nothing_open() {
    let folder = tempfile::tempdir().expect("a folder");
    let writer = writer(&folder);
    let tx = writer.begin().await.expect("begin");
    insert(&tx, 1, None).expect("a row");
    match insert(&tx, 1, None) {
        Err(StorageError::Unique { constraint }) => assert!(constraint.contains("t.id"), "{constraint}"),
        other => panic!("{other:?}"),
    }
    // The transaction goes on, and others wait for it.
    assert!(matches!(writer.begin().await, Err(StorageError::Contention(_))));
    tx.commit().await.expect("commit");
    assert_eq!(names(&writer).await, [(1, None)]);
    // A commit that fails is rolled back.
    let tx = writer.begin().await.expect("begin");
    tx.prepare("INSERT INTO t (id, parent) VALUES (2, 9)").execute().expect("checked at the commit");
    assert!(matches!(tx.commit().await, Err(StorageError::Orphan { .. })));
    assert_eq!(names(&writer).await, [(1, None)]);
    let tx = writer.begin().await.expect("begin");
    let found = tx.prepare("SELECT name FROM t").fetch_optional::<(String,)>();
    assert!(matches!(found, Err(StorageError::Corrupt { .. })), "{found:?}");
    assert!(matches!(tx.prepare("SELECT").execute(), Err(StorageError::Other(_))));
    drop(tx);
    writer.close().await;
    assert!(matches!(writer.begin().await, Err(StorageError::Unavailable(_))));
}

#[tokio::test]
async fn a_database_in_memory_has_its_tables_and_is_one_for_every_transaction() {
    let patience = Duration::from_millis(200);
    let generations = Generations::new();
    let open = |tables: &'static str| {
        let migrate = move |connection: &Connection| connection.execute_batch(tables);
        Writer::open_in_memory("PRAGMA foreign_keys = on", patience, &generations, migrate)
    };
    let writer = open("CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT) STRICT").expect("a writer");
    let tx = writer.begin().await.expect("begin");
    insert(&tx, 1, Some("a")).expect("a row");
    tx.commit().await.expect("commit");
    assert_eq!(names(&writer).await, [(1, Some("a".to_owned()))]);
    writer.close().await;
    assert!(matches!(writer.begin().await, Err(StorageError::Unavailable(_))));
    assert!(matches!(open("CREATE").err(), Some(StorageError::Other(_))), "tables that cannot be made");
}

#[test]
fn binds_are_numbered() {
    assert_eq!(
        numbered("UPDATE t SET a = $2, b = '$.x' WHERE c = $10"),
        "UPDATE t SET a = ?2, b = '$.x' WHERE c = ?10"
    );
    assert_eq!(numbered("SELECT ?, ?"), "SELECT ?, ?");
}

#[tokio::test]
async fn a_glance_sees_what_is_committed_writes_nothing_and_waits_for_nobody() {
    let folder = tempfile::tempdir().expect("a folder");
    let writer = writer(&folder);
    let file = folder.path().join("t.db");
    let glances = Glances::open(&file, "PRAGMA query_only = on", Duration::from_secs(1), Damage::default())
        .expect("glances");
    let count =
        |tx: &DirectTx| tx.prepare("SELECT COUNT(*) FROM t").fetch_optional::<(i64,)>().expect("a row");
    let tx = writer.begin().await.expect("begin");
    insert(&tx, 1, None).expect("a row");
    // Beside a writer, of a second glance only if the first is over.
    let glance = glances.begin().expect("begin").expect("a glance");
    assert_eq!(count(&glance), Some((0,)));
    assert!(glances.begin().expect("begin").is_none());
    tx.commit().await.expect("commit");
    assert_eq!(count(&glance), Some((0,)), "it sees one moment");
    assert!(insert(&glance, 2, None).is_err());
    glance.commit().await.expect("over");
    assert_eq!(count(&glances.begin().expect("begin").expect("a glance")), Some((1,)));
    glances.close().await;
    assert!(matches!(glances.begin(), Err(StorageError::Unavailable(_))));
}

#[tokio::test]
async fn it_tells_whether_the_log_has_something_new() {
    let folder = tempfile::tempdir().expect("a folder");
    let writer = writer(&folder);
    assert!(writer.take_logged(), "of whoever had the file before");
    assert!(!writer.take_logged());
    let tx = writer.begin().await.expect("begin");
    insert(&tx, 1, None).expect("a row");
    drop(tx);
    assert!(!writer.take_logged(), "nothing was committed");
    let tx = writer.begin().await.expect("begin");
    insert(&tx, 1, None).expect("a row");
    tx.commit().await.expect("commit");
    assert!(writer.take_logged());
    assert!(!writer.take_logged());
    writer.note_logged();
    assert!(writer.take_logged());
}

const PROBE: &str = "INSERT INTO t (id) VALUES (1)";

#[tokio::test]
async fn a_disk_that_refused_a_commit_is_tried_again_until_it_takes_one() {
    let folder = tempfile::tempdir().expect("a folder");
    let writer = writer(&folder);
    let broken = StorageError::Unique { constraint: "t.id".to_owned() };
    writer.refused.note(&Err(broken));
    assert!(!writer.refused.is_so(), "a broken rule is no fault of the disk");
    writer.refused.note(&Err(StorageError::Unavailable("database or disk is full".into())));
    // While another transaction has the connection nobody knows.
    let tx = writer.begin().await.expect("begin");
    assert!(matches!(writer.try_again(PROBE).await, Err(StorageError::Contention(_))));
    assert!(writer.refused.is_so());
    drop(tx);
    writer.try_again(PROBE).await.expect("it takes a commit");
    assert!(!writer.refused.is_so());
    writer.try_again(PROBE).await.expect("nothing to try");
    assert_eq!(names(&writer).await, [(1, None)]);
}
