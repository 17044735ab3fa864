//! How fast messages are sent (WhatsApp Business Platform, "Messaging limits"; rulings C7).

use std::collections::HashMap;
use std::num::NonZeroU32;
use std::time::Duration;

use flowsdk_core::context::OpContext;
use flowsdk_core::id::ContactId;
use flowsdk_core::time::Timestamp;
use governor::clock::Clock;
use governor::middleware::NoOpMiddleware;
use governor::nanos::Nanos;
use governor::state::keyed::DashMapStateStore;
use governor::{NotUntil, Quota, RateLimiter};

/// Messages that a number may send in a second.
const PER_SECOND: NonZeroU32 = NonZeroU32::new(80).expect("not zero");
/// One contact takes a message of a number every so often,
const PAIR_PERIOD: Duration = Duration::from_secs(6);
/// and so many at once before that counts.
const PAIR_BURST: NonZeroU32 = NonZeroU32::new(45).expect("not zero");

type Limiter = RateLimiter<String, DashMapStateStore<String>, ContextClock, NoOpMiddleware<Nanos>>;

/// The injected clock, as the limiters read it.
#[derive(Debug, Clone)]
struct ContextClock(OpContext);

impl Clock for ContextClock {
    type Instant = Nanos;

    fn now(&self) -> Nanos {
        let millis = u64::try_from(self.0.now().as_millis()).unwrap_or(0);
        Duration::from_millis(millis).into()
    }
}

/// Whether a message may go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Admission {
    /// It may.
    Now,
    /// What is for its contact waits until then.
    Contact(Timestamp),
    /// Its number has sent enough for the moment.
    Number,
}

fn wait(refused: &NotUntil<Nanos>, clock: &ContextClock) -> Duration {
    refused.wait_time_from(clock.now()).max(Duration::from_millis(1))
}

/// The pace of every number, and of every contact of one.
#[derive(Debug)]
pub(super) struct Pace {
    numbers: Limiter,
    pairs: Limiter,
    clock: ContextClock,
    /// Numbers, and pairs, that are to send nothing before a time: the provider said so, or their pace does.
    held: HashMap<String, Timestamp>,
}

impl Pace {
    pub(super) fn new(cx: &OpContext) -> Self {
        let limiter = |quota| RateLimiter::new(quota, DashMapStateStore::default(), ContextClock(cx.clone()));
        let pair = Quota::with_period(PAIR_PERIOD).map(|quota| quota.allow_burst(PAIR_BURST));
        Self {
            numbers: limiter(Quota::per_second(PER_SECOND)),
            pairs: limiter(pair.unwrap_or(Quota::per_second(PAIR_BURST))),
            clock: ContextClock(cx.clone()),
            held: HashMap::new(),
        }
    }

    /// Takes a place for one message to a contact, if there is one now.
    pub(super) fn admit(&mut self, number: &str, contact: &ContactId, now: Timestamp) -> Admission {
        let pair = format!("{number}/{contact}");
        if self.held(number, now).is_some() {
            return Admission::Number;
        }
        if let Some(until) = self.held(&pair, now) {
            return Admission::Contact(until);
        }
        // Whoever is refused is held, so that they take no place again and again while they wait.
        if let Err(refused) = self.numbers.check_key(&number.to_owned()) {
            self.held.insert(number.to_owned(), now + wait(&refused, &self.clock));
            return Admission::Number;
        }
        if let Err(refused) = self.pairs.check_key(&pair) {
            let until = now + wait(&refused, &self.clock);
            self.held.insert(pair, until);
            return Admission::Contact(until);
        }
        Admission::Now
    }

    fn held(&self, key: &str, now: Timestamp) -> Option<Timestamp> {
        self.held.get(key).copied().filter(|until| *until > now)
    }

    /// Lets a number send nothing before `until`.
    pub(super) fn hold(&mut self, number: &str, until: Timestamp) {
        let held = self.held.entry(number.to_owned()).or_insert(until);
        *held = (*held).max(until);
    }

    /// Forgets what is full again.
    pub(super) fn forget_quiet(&mut self, now: Timestamp) {
        self.numbers.retain_recent();
        self.pairs.retain_recent();
        self.held.retain(|_, until| *until > now);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use flowsdk_core::id::Cuids;
    use flowsdk_core::time::ManualClock;

    use super::*;

    #[test]
    fn numbers_and_contacts_have_a_pace() {
        let clock = ManualClock::at(1_795_085_820_000);
        let cx = OpContext::new(Arc::new(clock.clone()), Arc::new(Cuids::new(clock.clone())));
        let mut pace = Pace::new(&cx);
        let contact = |text: &str| text.parse::<ContactId>().expect("an id");
        let mut admitted = |number: &str, name: &dyn Fn(usize) -> String, tries: usize| {
            let mut admit = |nth| pace.admit(number, &contact(&name(nth)), cx.now());
            (0..tries).filter(|nth| admit(*nth) == Admission::Now).count()
        };
        assert_eq!(admitted("111", &|nth| format!("c{nth}"), 200), 80);
        assert_eq!(admitted("222", &|_| "one".to_owned(), 200), 45);
        // Whoever waits takes no place of others of the number.
        assert_eq!(admitted("222", &|nth| format!("other{nth}"), 200), 34);
        clock.advance(Duration::from_secs(12));
        assert_eq!(admitted("222", &|_| "one".to_owned(), 200), 2);
        assert_eq!(admitted("111", &|nth| format!("new{nth}"), 200), 80);
        pace.hold("333", cx.now() + Duration::from_secs(5));
        assert_eq!(pace.admit("333", &contact("one"), cx.now()), Admission::Number);
        clock.advance(Duration::from_secs(5));
        assert_eq!(pace.admit("333", &contact("one"), cx.now()), Admission::Now);
        clock.advance(Duration::from_secs(3_600));
        pace.forget_quiet(cx.now());
        assert!(pace.pairs.is_empty() && pace.held.is_empty());
    }
}
