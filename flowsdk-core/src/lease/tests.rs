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
    /// It is done, and the caller learns of it after this time.
    Late(Duration),
}

impl Store {
    fn keep_one(&self, keep: &Keep<'_>, value: &str, ttl: Duration) -> bool {
        let (mut held, now) = (self.held.lock().expect("a lock"), Instant::now());
        let owner = held.get(keep.key).filter(|(_, end)| *end > now).map(|(owner, _)| owner.clone());
        let mine = owner.as_deref().map_or(keep.take, |owner| owner == value);
        if mine {
            held.insert(keep.key.to_owned(), (value.to_owned(), now + ttl));
        }
        mine
    }
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
            Answer::Done | Answer::Late(_) => {}
            Answer::Away => return Err(KeyValueError::Unavailable("away".into())),
            Answer::Refused => return Ok(vec![false; keys.len()]),
            Answer::Never => std::future::pending().await,
        }
        let kept = keys.iter().map(|keep| self.keep_one(keep, value, ttl)).collect();
        if let Answer::Late(pause) = answer {
            tokio::time::sleep(pause).await;
        }
        Ok(kept)
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

/// Waits for a name without end.
async fn taken(leases: &Leases, name: &str) -> Lease {
    leases.take(name, &CancellationToken::new()).await.expect("nobody gives up")
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
        let lease = taken(&leases, "one").await;
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
            let lease = taken(&dying, name).await;
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
            waiting.spawn(async move { taken(&next, name).await });
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
    let _others = taken(&other, "awaited").await;
    let leases = Leases::new(Arc::clone(&store) as _, "me", TTL);
    let mut tasks = tokio::task::JoinSet::new();
    for n in 0..20 {
        let leases = leases.clone();
        tasks.spawn(async move {
            let lease = taken(&leases, &format!("p:{n}")).await;
            lease.hold_while(&CancellationToken::new(), std::future::pending()).await;
        });
    }
    tasks.spawn(async move { drop(taken(&leases, "awaited").await) });
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
    taken(&one, "p").await.release().await.expect("released");
    let begin = Instant::now();
    let lease = taken(&two, "p").await;
    assert_eq!(begin.elapsed(), Duration::ZERO);
    drop(lease);
    drop(taken(&one, "p").await);
    assert!(begin.elapsed() >= TTL && begin.elapsed() <= TTL * 6 / 5, "{:?}", begin.elapsed());
}

/// A process that stops while a call of it takes names does not keep them, whether the answer comes or not.
#[tokio::test(start_paused = true)]
async fn names_are_free_when_their_takers_give_up() {
    for late in [TTL / 4, TTL * 4] {
        let store = Arc::new(Store::default());
        let names = ["p", "q"];
        let [other, me, next] =
            ["other", "me", "next"].map(|who| Leases::new(Arc::clone(&store) as _, who, TTL));
        let others = [taken(&other, "p").await, taken(&other, "q").await];
        let stop = CancellationToken::new();
        let mut takers = tokio::task::JoinSet::new();
        for name in names {
            let (me, stop) = (me.clone(), stop.clone());
            takers.spawn(async move { me.take(name, &stop).await.map(drop) });
        }
        tokio::time::sleep(me.period() / 2).await;
        for lease in others {
            lease.release().await.expect("released");
        }
        store.answers.lock().expect("a lock").push_back(Answer::Late(late));
        tokio::time::sleep(me.period()).await;
        assert_eq!(
            store.get("lease:q").await.expect("a value").as_deref(),
            Some("me"),
            "the call is under way"
        );
        stop.cancel();
        assert_eq!(takers.join_all().await, [None, None], "{late:?}");
        let begin = Instant::now();
        for name in names {
            drop(taken(&next, name).await);
        }
        assert_eq!(begin.elapsed(), Duration::ZERO, "{late:?}");
    }
}

/// Who gives up waiting for a name leaves no trace, and a name that was lost is taken again.
#[tokio::test(start_paused = true)]
async fn a_name_is_taken_again_after_its_loss() {
    let store = Arc::new(Store::default());
    let leases = Leases::new(Arc::clone(&store) as _, "me", TTL);
    let lease = taken(&leases, "p").await;
    store.held.lock().expect("a lock").insert("lease:p".to_owned(), ("you".to_owned(), Instant::now() + TTL));
    let lost = CancellationToken::new();
    assert!(!lease.hold_while(&lost, lost.cancelled()).await);
    lease.release().await.expect("nothing to release");
    assert_eq!(store.get("lease:p").await.expect("a value").as_deref(), Some("you"));
    assert!(tokio::time::timeout(TTL / 2, taken(&leases, "p")).await.is_err());
    assert_eq!(leases.tickets().all.len(), 0);
    taken(&leases, "p").await;
    assert_eq!(store.get("lease:p").await.expect("a value").as_deref(), Some("me"));
}

#[tokio::test(start_paused = true)]
async fn a_tenure_ends_with_the_time_of_its_lease_before_anybody_asks() {
    let leases = Leases::new(Arc::new(Store::default()) as _, "me", TTL);
    let tenure = leases.tenure("one");
    assert!(Tenure::unlimited().is_held() && !tenure.is_held());
    let lease = taken(&leases, "one").await;
    assert!(tenure.is_held() && !leases.tenure("two").is_held());
    let lost = CancellationToken::new();
    assert!(lease.hold_while(&lost, tokio::time::sleep(TTL * 3)).await && tenure.is_held());
    // As in a process that was paused: its timers are late too.
    tokio::time::advance(TTL).await;
    assert!(!tenure.is_held());
    drop(lease);
    let lease = taken(&leases, "one").await;
    assert!(tenure.is_held());
    lease.release().await.expect("released");
    assert!(!tenure.is_held());
}
