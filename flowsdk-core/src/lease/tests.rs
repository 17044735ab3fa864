use std::collections::VecDeque;

use async_trait::async_trait;

use super::*;

const TTL: Duration = Duration::from_secs(6);

/// A store of leases by the clock of the test. Calls fail as they are told to, and then succeed.
#[derive(Debug, Default)]
struct Store {
    held: Mutex<BTreeMap<String, (String, Instant)>>,
    answers: Mutex<VecDeque<Answer>>,
    calls: Mutex<Vec<usize>>,
}

#[derive(Debug, Clone, Copy)]
enum Answer {
    Done,
    Away,
    /// Every key is another's.
    Refused,
    Never,
}

#[async_trait]
impl KeyValue for Store {
    async fn get(&self, key: &str) -> Result<Option<String>, KeyValueError> {
        let held = self.held.lock().expect("a lock");
        Ok(held.get(key).filter(|(_, end)| *end > Instant::now()).map(|(owner, _)| owner.clone()))
    }

    async fn keep(&self, keys: &[Keep<'_>], value: &str, ttl: Duration) -> Result<Vec<bool>, KeyValueError> {
        self.calls.lock().expect("a lock").push(keys.len());
        let answer = self.answers.lock().expect("a lock").pop_front().unwrap_or(Answer::Done);
        match answer {
            Answer::Done => {}
            Answer::Away => return Err(KeyValueError::Unavailable("away".into())),
            Answer::Refused => return Ok(vec![false; keys.len()]),
            Answer::Never => std::future::pending().await,
        }
        let (mut held, now) = (self.held.lock().expect("a lock"), Instant::now());
        Ok(keys
            .iter()
            .map(|keep| {
                let owner = held.get(keep.key).filter(|(_, end)| *end > now).map(|(owner, _)| owner.clone());
                let mine = owner.as_deref().map_or(keep.take, |owner| owner == value);
                if mine {
                    held.insert(keep.key.to_owned(), (value.to_owned(), now + ttl));
                }
                mine
            })
            .collect())
    }

    async fn delete_if(&self, key: &str, value: &str) -> Result<bool, KeyValueError> {
        let mut held = self.held.lock().expect("a lock");
        let mine = held.get(key).is_some_and(|(owner, _)| owner == value);
        Ok(mine && held.remove(key).is_some())
    }

    async fn set(&self, _: &str, _: &str, _: Option<Duration>) -> Result<(), KeyValueError> {
        Ok(())
    }

    async fn set_if_absent(
        &self,
        _: &str,
        _: &str,
        _: Option<Duration>,
    ) -> Result<Option<String>, KeyValueError> {
        Ok(None)
    }

    async fn take(&self, _: &str) -> Result<Option<String>, KeyValueError> {
        Ok(None)
    }

    async fn delete(&self, _: &str) -> Result<bool, KeyValueError> {
        Ok(true)
    }

    async fn add(&self, _: &str, by: i64, _: Duration) -> Result<i64, KeyValueError> {
        Ok(by)
    }
}

/// A lease is lost when the store says so, or when nobody could be asked for the whole of its time.
#[tokio::test(start_paused = true)]
async fn only_renewals_that_fail_until_its_time_is_over_lose_it() {
    use Answer::{Away, Done, Never, Refused};
    for (answers, held) in [
        (vec![], true),
        (vec![Away, Away, Away, Done, Away, Away, Away], true),
        (vec![Away, Away, Away, Away, Away], false),
        (vec![Done, Refused], false),
        (vec![Never], true),
        (vec![Never, Never], false),
    ] {
        let store = Arc::new(Store::default());
        let leases = Leases::new(Arc::clone(&store) as _, "me", TTL);
        let lease = leases.take("one").await;
        let told = format!("{answers:?}");
        *store.answers.lock().expect("a lock") = answers.into();
        let lost = CancellationToken::new();
        let running = tokio::time::sleep(Duration::from_secs(60));
        assert_eq!(lease.hold_while(&lost, running).await, held, "{told}");
        assert_eq!(lost.is_cancelled(), !held, "{told}");
    }
}

/// The name of an owner that dies at any moment goes to one that waits after at most its time and a fifth of it.
#[tokio::test(start_paused = true)]
async fn a_dead_owner_is_followed_within_six_fifths_of_its_time() {
    for moment in 0..30 {
        let store = Arc::new(Store::default());
        let names = ["relay", "conversation:0", "conversation:1"];
        let dying = Leases::new(Arc::clone(&store) as _, "dying", TTL);
        let mut held = tokio::task::JoinSet::new();
        for name in names {
            let lease = dying.take(name).await;
            held.spawn(async move {
                let forever = std::future::pending();
                lease.hold_while(&CancellationToken::new(), forever).await;
            });
        }
        // The next owner asks at moments of its own.
        tokio::time::sleep(TTL * moment / 37).await;
        let next = Leases::new(Arc::clone(&store) as _, "next", TTL);
        let mut waiting = tokio::task::JoinSet::new();
        for name in names {
            let next = next.clone();
            waiting.spawn(async move { next.take(name).await });
        }
        tokio::time::sleep(TTL * 2 + TTL * moment / 23).await;
        assert_eq!(waiting.try_join_next().map(drop), None, "they are renewed");
        held.shutdown().await;
        let died = Instant::now();
        let taken = waiting.join_all().await;
        assert_eq!(taken.len(), names.len());
        assert!(died.elapsed() <= TTL * 6 / 5 + Duration::from_millis(10), "{:?}", died.elapsed());
    }
}

/// However many leases a process has and awaits, it asks five times in their time.
#[tokio::test(start_paused = true)]
async fn one_call_renews_all_leases_of_a_process() {
    let store = Arc::new(Store::default());
    let other = Leases::new(Arc::clone(&store) as _, "other", Duration::from_secs(3_600));
    let _others = other.take("awaited").await;
    let leases = Leases::new(Arc::clone(&store) as _, "me", TTL);
    let mut tasks = tokio::task::JoinSet::new();
    for n in 0..20 {
        let leases = leases.clone();
        tasks.spawn(async move {
            let lease = leases.take(&format!("p:{n}")).await;
            lease.hold_while(&CancellationToken::new(), std::future::pending()).await;
        });
    }
    tasks.spawn(async move { drop(leases.take("awaited").await) });
    tokio::time::sleep(TTL).await;
    store.calls.lock().expect("a lock").clear();
    tokio::time::sleep(TTL * 10).await;
    let calls = store.calls.lock().expect("a lock").clone();
    assert!(calls.iter().all(|&keys| keys == 21), "{calls:?}");
    assert!((49..=51).contains(&calls.len()), "{}", calls.len());
}

/// A name is free at once when its lease is released, and after its time when it is dropped.
#[tokio::test(start_paused = true)]
async fn a_released_lease_is_free_and_a_dropped_one_ends() {
    let store = Arc::new(Store::default());
    let [one, two] = ["one", "two"].map(|owner| Leases::new(Arc::clone(&store) as _, owner, TTL));
    one.take("p").await.release().await.expect("released");
    let begin = Instant::now();
    let lease = two.take("p").await;
    assert_eq!(begin.elapsed(), Duration::ZERO);
    drop(lease);
    drop(one.take("p").await);
    assert!(begin.elapsed() >= TTL && begin.elapsed() <= TTL * 6 / 5, "{:?}", begin.elapsed());
}

/// Who gives up waiting for a name leaves no trace, and a name that was lost is taken again.
#[tokio::test(start_paused = true)]
async fn a_name_is_taken_again_after_its_loss() {
    let store = Arc::new(Store::default());
    let leases = Leases::new(Arc::clone(&store) as _, "me", TTL);
    let lease = leases.take("p").await;
    store.held.lock().expect("a lock").insert("lease:p".to_owned(), ("you".to_owned(), Instant::now() + TTL));
    let lost = CancellationToken::new();
    assert!(!lease.hold_while(&lost, lost.cancelled()).await);
    lease.release().await.expect("nothing to release");
    assert_eq!(store.get("lease:p").await.expect("a value").as_deref(), Some("you"));
    assert!(tokio::time::timeout(TTL / 2, leases.take("p")).await.is_err());
    assert_eq!(leases.tickets().all.len(), 0);
    leases.take("p").await;
    assert_eq!(store.get("lease:p").await.expect("a value").as_deref(), Some("me"));
}
