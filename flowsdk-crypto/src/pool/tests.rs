use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use super::*;

/// A job that begins, says so, and ends when it is told.
fn held(pool: &Pool) -> (oneshot::Receiver<()>, mpsc::Sender<()>) {
    let (begun, begins) = mpsc::channel();
    let (release, released) = mpsc::channel::<()>();
    let result = pool
        .submit(move || {
            begun.send(()).expect("the test waits");
            let _told_or_forgotten = released.recv();
        })
        .expect("room");
    begins.recv().expect("it begins");
    (result, release)
}

#[tokio::test]
async fn who_goes_away_while_waiting_costs_no_work_and_no_room() {
    let pool = Pool::new("test", 1, 1);
    let (first, release) = held(&pool);
    let worked = Arc::new(AtomicUsize::new(0));
    let count = || {
        let worked = Arc::clone(&worked);
        move || worked.fetch_add(1, Ordering::SeqCst)
    };
    let gone = pool.submit(count()).expect("room");
    assert!(pool.submit(count()).is_none(), "full");
    drop(gone);
    let stays = pool.submit(count()).expect("the room of the one who went");
    release.send(()).expect("it waits");
    first.await.expect("done");
    assert_eq!(stays.await.expect("done"), 0, "the first to be counted");
    assert_eq!(worked.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn jobs_run_in_order_and_on_no_more_threads_than_allowed() {
    let pool = Pool::new("test", 2, 100);
    let (first, release_first) = held(&pool);
    let (second, release_second) = held(&pool);
    let order = Arc::new(Mutex::new(Vec::new()));
    let results: Vec<_> = (0..10)
        .map(|number| {
            let order = Arc::clone(&order);
            pool.submit(move || order.lock().expect("whole").push(number)).expect("room")
        })
        .collect();
    assert_eq!(pool.shared.lock().threads, 2);
    assert!(order.lock().expect("whole").is_empty(), "both threads are held");
    // The other thread stays held, so that one alone takes the queue.
    release_first.send(()).expect("it waits");
    first.await.expect("done");
    for result in results {
        result.await.expect("done");
    }
    assert_eq!(*order.lock().expect("whole"), (0..10).collect::<Vec<_>>());
    release_second.send(()).expect("it waits");
    second.await.expect("done");
}

#[tokio::test]
async fn threads_begin_with_the_first_job_and_end_with_the_pool() {
    let pool = Pool::new("test", 4, 0);
    let shared = Arc::downgrade(&pool.shared);
    assert_eq!(pool.shared.lock().threads, 0);
    let name = pool.submit(|| thread::current().name().map(str::to_owned)).expect("room");
    assert_eq!(name.await.expect("done").as_deref(), Some("test"));
    assert_eq!(pool.shared.lock().threads, 1);
    drop(pool);
    let end = Instant::now() + Duration::from_secs(10);
    while shared.strong_count() > 0 {
        assert!(Instant::now() < end, "a thread lives on");
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

#[tokio::test]
async fn a_panic_ends_its_job_and_nothing_else() {
    let pool = Pool::new("test", 1, 1);
    let panics = pool.submit(|| panic!("as the test wants")).expect("room");
    let works = pool.submit(|| 1).expect("room");
    assert!(panics.await.is_err());
    assert_eq!(works.await, Ok(1));
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn its_threads_stand_back_and_the_caller_does_not() {
    let pool = Pool::new("test", 1, 0);
    let nice = || rustix::process::getpriority_process(None).expect("a priority");
    let mine = nice();
    let theirs = pool.submit(nice).expect("room").await.expect("done");
    assert_eq!(theirs, 10.max(mine));
    assert_eq!(nice(), mine);
}
