//! The cases of [`key_value_conformance!`](crate::key_value_conformance).
#![allow(clippy::expect_used, reason = "a failed expectation is a failed test")]

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinSet;

use super::KeyValueUnderTest;
use crate::kv::{Keep, KeyValue, KeyValueError};

/// The names of the cases.
pub const CASES: &[&str] = crate::__key_value_cases! { (crate::__conformance_names) };

const TTL: Option<Duration> = Some(Duration::from_secs(1));
/// Longer than [`TTL`].
const OVER: Duration = Duration::from_millis(1_100);
const LONG: Duration = Duration::from_secs(3600);

async fn get(subject: &KeyValueUnderTest, key: &str) -> Option<String> {
    subject.kv.get(key).await.expect("get")
}

async fn set(subject: &KeyValueUnderTest, key: &str, value: &str, ttl: Option<Duration>) {
    subject.kv.set(key, value, ttl).await.expect("set");
}

/// Keeps one key without taking it.
async fn extend(subject: &KeyValueUnderTest, key: &str, value: &str, ttl: Duration) -> bool {
    let kept = subject.kv.keep(&[Keep { key, take: false }], value, ttl).await.expect("keep");
    assert_eq!(kept.len(), 1);
    kept[0]
}

fn some(value: &str) -> Option<String> {
    Some(value.to_owned())
}

/// A key that was never set is not there.
pub async fn an_absent_key_has_no_value(subject: KeyValueUnderTest) {
    assert_eq!(get(&subject, "nothing").await, None);
    assert_eq!(subject.kv.take("nothing").await.expect("take"), None);
    assert!(!subject.kv.delete("nothing").await.expect("delete"));
    assert!(!extend(&subject, "nothing", "", LONG).await);
    assert!(!subject.kv.delete_if("nothing", "").await.expect("delete_if"));
}

/// A value is read back, under its own key.
pub async fn a_value_is_read_back(subject: KeyValueUnderTest) {
    set(&subject, "a", "1", None).await;
    set(&subject, "b", "2", Some(LONG)).await;
    assert_eq!(get(&subject, "a").await, some("1"));
    assert_eq!(get(&subject, "b").await, some("2"));
    assert_eq!(get(&subject, "A").await, None);
}

/// Keys and values are any text, the empty value too.
pub async fn any_text_is_read_back(subject: KeyValueUnderTest) {
    let long = "á".repeat(200_000);
    for (n, value) in ["", " ", "0", "null", "João 👋\n\t\"'\\", long.as_str()].into_iter().enumerate() {
        let key = format!("chave:ç👋 %_*?[{n}]");
        set(&subject, &key, value, None).await;
        assert_eq!(get(&subject, &key).await.as_deref(), Some(value));
        assert_eq!(
            subject.kv.set_if_absent(&key, "x", None).await.expect("set_if_absent").as_deref(),
            Some(value)
        );
        assert!(extend(&subject, &key, value, LONG).await);
        assert_eq!(subject.kv.take(&key).await.expect("take").as_deref(), Some(value));
    }
}

/// A later set counts alone, its time to live too.
pub async fn a_second_set_replaces_value_and_time(subject: KeyValueUnderTest) {
    set(&subject, "k", "1", TTL).await;
    set(&subject, "k", "2", None).await;
    set(&subject, "l", "1", None).await;
    set(&subject, "l", "2", TTL).await;
    subject.advance(OVER).await;
    assert_eq!(get(&subject, "k").await, some("2"));
    assert_eq!(get(&subject, "l").await, None);
}

/// A value is there before its time is over and gone after, for every operation.
pub async fn values_end_with_their_time(subject: KeyValueUnderTest) {
    for key in ["get", "take", "delete", "delete_if", "other"] {
        set(&subject, key, "v", TTL).await;
    }
    set(&subject, "long", "v", Some(LONG)).await;
    assert_eq!(get(&subject, "other").await, some("v"));
    subject.advance(OVER).await;
    assert_eq!(get(&subject, "get").await, None);
    assert_eq!(subject.kv.take("take").await.expect("take"), None);
    assert!(!subject.kv.delete("delete").await.expect("delete"));
    assert!(!subject.kv.delete_if("delete_if", "v").await.expect("delete_if"));
    assert_eq!(get(&subject, "long").await, some("v"));
}

/// The first value stays; the second asker gets it.
pub async fn set_if_absent_sets_once(subject: KeyValueUnderTest) {
    assert_eq!(subject.kv.set_if_absent("k", "1", None).await.expect("set_if_absent"), None);
    assert_eq!(subject.kv.set_if_absent("k", "2", TTL).await.expect("set_if_absent"), some("1"));
    // The refused one did not give its time to live either.
    subject.advance(OVER).await;
    assert_eq!(get(&subject, "k").await, some("1"));
}

/// A value whose time is over is absent.
pub async fn set_if_absent_sets_again_after_the_end(subject: KeyValueUnderTest) {
    assert_eq!(subject.kv.set_if_absent("k", "1", TTL).await.expect("set_if_absent"), None);
    subject.advance(OVER).await;
    assert_eq!(subject.kv.set_if_absent("k", "2", None).await.expect("set_if_absent"), None);
    assert_eq!(get(&subject, "k").await, some("2"));
}

/// A take empties the key.
pub async fn take_reads_once(subject: KeyValueUnderTest) {
    set(&subject, "k", "v", Some(LONG)).await;
    assert_eq!(subject.kv.take("k").await.expect("take"), some("v"));
    assert_eq!(subject.kv.take("k").await.expect("take"), None);
    assert_eq!(get(&subject, "k").await, None);
}

/// A delete tells whether there was something.
pub async fn delete_tells_whether_it_was_there(subject: KeyValueUnderTest) {
    set(&subject, "k", "v", None).await;
    assert!(subject.kv.delete("k").await.expect("delete"));
    assert!(!subject.kv.delete("k").await.expect("delete"));
    assert_eq!(get(&subject, "k").await, None);
}

/// Another value is not extended.
pub async fn keep_asks_for_the_value(subject: KeyValueUnderTest) {
    set(&subject, "k", "mine", TTL).await;
    assert!(!extend(&subject, "k", "yours", LONG).await);
    subject.advance(OVER).await;
    assert_eq!(get(&subject, "k").await, None);
}

/// The time to live counts anew, and may be shorter too.
pub async fn keep_prolongs(subject: KeyValueUnderTest) {
    set(&subject, "longer", "v", TTL).await;
    set(&subject, "shorter", "v", None).await;
    assert!(extend(&subject, "longer", "v", LONG).await);
    assert!(extend(&subject, "shorter", "v", Duration::from_secs(1)).await);
    subject.advance(OVER).await;
    assert_eq!(get(&subject, "longer").await, some("v"));
    assert_eq!(get(&subject, "shorter").await, None);
}

/// An expired key is not extended.
pub async fn keep_does_not_revive(subject: KeyValueUnderTest) {
    set(&subject, "k", "v", TTL).await;
    subject.advance(OVER).await;
    assert!(!extend(&subject, "k", "v", LONG).await);
    assert_eq!(get(&subject, "k").await, None);
}

/// Of several keys those that are the caller's go on, and those that are free are taken if that is wished.
pub async fn keep_answers_for_each_key(subject: KeyValueUnderTest) {
    set(&subject, "mine", "v", TTL).await;
    set(&subject, "other", "w", Some(LONG)).await;
    let keys = ["taken", "other", "left", "mine"].map(|key| Keep { key, take: key != "left" });
    let kept = subject.kv.keep(&keys, "v", LONG).await.expect("keep");
    assert_eq!(kept, [true, false, false, true]);
    assert_eq!(subject.kv.keep(&[], "v", LONG).await.expect("keep"), [false; 0]);
    subject.advance(OVER).await;
    for (key, value) in [("taken", some("v")), ("other", some("w")), ("left", None), ("mine", some("v"))] {
        assert_eq!(get(&subject, key).await, value, "{key}");
    }
}

/// Another value is not deleted.
pub async fn delete_if_asks_for_the_value(subject: KeyValueUnderTest) {
    set(&subject, "k", "mine", None).await;
    assert!(!subject.kv.delete_if("k", "yours").await.expect("delete_if"));
    assert_eq!(get(&subject, "k").await, some("mine"));
    assert!(subject.kv.delete_if("k", "mine").await.expect("delete_if"));
    assert!(!subject.kv.delete_if("k", "mine").await.expect("delete_if"));
    assert_eq!(get(&subject, "k").await, None);
}

/// How many of 32 that do `work` at once succeed.
async fn winners<F>(subject: &KeyValueUnderTest, work: impl Fn(Arc<dyn KeyValue>, usize) -> F) -> usize
where
    F: Future<Output = bool> + Send + 'static,
{
    let mut tasks = JoinSet::new();
    for n in 0..32 {
        tasks.spawn(work(Arc::clone(&subject.kv), n));
    }
    tasks.join_all().await.into_iter().filter(|won| *won).count()
}

/// Of 32 that set an absent key at once exactly one does, and the others are told its value.
pub async fn one_of_many_sets(subject: KeyValueUnderTest) {
    for round in 0..8 {
        let key = format!("k{round}");
        let answers = std::sync::Mutex::new(Vec::new());
        let answers = Arc::new(answers);
        let won = winners(&subject, |kv, n| {
            let (key, answers) = (key.clone(), Arc::clone(&answers));
            async move {
                let before = kv.set_if_absent(&key, &n.to_string(), Some(LONG)).await.expect("set_if_absent");
                let won = before.is_none();
                answers.lock().expect("answers").extend(before);
                won
            }
        });
        assert_eq!(won.await, 1);
        let value = get(&subject, &key).await.expect("set");
        assert!(answers.lock().expect("answers").iter().all(|answer| *answer == value));
    }
}

/// Of 32 that take a value at once exactly one gets it.
pub async fn one_of_many_takes(subject: KeyValueUnderTest) {
    for _ in 0..8 {
        set(&subject, "k", "v", Some(LONG)).await;
        let won = winners(&subject, |kv, _| async move { kv.take("k").await.expect("take").is_some() });
        assert_eq!(won.await, 1);
    }
}

/// Of 32 that delete their value at once exactly one does.
pub async fn one_of_many_deletes(subject: KeyValueUnderTest) {
    for _ in 0..8 {
        set(&subject, "k", "v", Some(LONG)).await;
        let won = winners(&subject, |kv, _| async move { kv.delete_if("k", "v").await.expect("delete_if") });
        assert_eq!(won.await, 1);
    }
}

async fn add(subject: &KeyValueUnderTest, key: &str, by: i64, ttl: Duration) -> i64 {
    subject.kv.add(key, by, ttl).await.expect("add")
}

/// Additions begin at 0, go both ways over all 64 bits, each under its key; the sum is a value as any other.
pub async fn additions_sum_up(subject: KeyValueUnderTest) {
    for (by, sum) in [(2, 2), (0, 2), (3, 5), (-9, -4), (4, 0), (i64::MAX, i64::MAX), (-i64::MAX, 0)] {
        assert_eq!(add(&subject, "k", by, LONG).await, sum);
        assert_eq!(get(&subject, "k").await, Some(sum.to_string()));
    }
    assert_eq!(add(&subject, "least", i64::MIN, LONG).await, i64::MIN);
    assert_eq!(add(&subject, "least", 0, LONG).await, i64::MIN);
    set(&subject, "set", "41", None).await;
    assert_eq!(add(&subject, "set", 1, LONG).await, 42);
    assert!(subject.kv.delete_if("set", "42").await.expect("delete_if"));
    assert_eq!(add(&subject, "set", 1, LONG).await, 1);
}

/// Later additions do not prolong the sum, nor do they set an end where there is none. After the end it begins
/// anew.
pub async fn a_sum_ends_with_the_time_of_its_first_addition(subject: KeyValueUnderTest) {
    set(&subject, "set", "1", None).await;
    assert_eq!(add(&subject, "set", 1, Duration::from_secs(1)).await, 2);
    assert_eq!(add(&subject, "k", 1, Duration::from_secs(1)).await, 1);
    subject.advance(OVER / 2).await;
    assert_eq!(add(&subject, "k", 1, LONG).await, 2);
    subject.advance(OVER / 2).await;
    assert_eq!(get(&subject, "k").await, None);
    assert_eq!(add(&subject, "k", 5, LONG).await, 5);
    subject.advance(OVER).await;
    assert_eq!(add(&subject, "k", 1, LONG).await, 6);
    assert_eq!(add(&subject, "set", 1, LONG).await, 3);
}

/// A value that is not a whole number of 64 bits stays as it is, and so does a sum that would leave them.
pub async fn what_is_no_number_is_not_added_to(subject: KeyValueUnderTest) {
    let most = i64::MAX.to_string();
    for value in ["", "a", "1.5", " 1", "1 ", "01", "+1", "9223372036854775808", "{}", &most] {
        set(&subject, "k", value, Some(LONG)).await;
        let refused = subject.kv.add("k", 1, LONG).await;
        assert!(matches!(&refused, Err(KeyValueError::Corrupt { .. })), "{value:?}: {refused:?}");
        assert_eq!(get(&subject, "k").await.as_deref(), Some(value));
    }
}

/// Of 32 that add at once each counts, and each is told another sum.
pub async fn of_many_additions_none_is_lost(subject: KeyValueUnderTest) {
    for round in 0..4 {
        let mut tasks = JoinSet::new();
        for _ in 0..32 {
            let kv = Arc::clone(&subject.kv);
            tasks.spawn(async move { kv.add(&format!("k{round}"), 1, LONG).await.expect("add") });
        }
        let mut sums = tasks.join_all().await;
        sums.sort_unstable();
        assert_eq!(sums, (1..=32).collect::<Vec<_>>());
    }
}
