//! What happens when the provider takes messages more slowly than they come (rulings C7).

use std::sync::Arc;
use std::time::Duration;

use flowsdk_core::context::OpContext;
use flowsdk_core::id::Cuids;
use flowsdk_core::time::ManualClock;
use flowsdk_server::simulator::Limits;
use serde_json::json;

use super::sending::{PHONE, World, texts};
use super::transcript;
use crate::harness::{Setup, eventually, everywhere};

everywhere!(
    in process:
    what_exceeds_the_rate_of_a_number_is_sent_later,
    what_exceeds_the_rate_of_a_recipient_is_sent_later,
);

/// A provider whose clock stands, too.
struct Limited {
    world: World,
    clock: ManualClock,
}

impl Limited {
    async fn new(setup: Setup, limits: Limits) -> Self {
        let clock = ManualClock::at(OpContext::system().now().as_millis());
        let cx = OpContext::new(Arc::new(clock.clone()), Arc::new(Cuids::new(clock.clone())));
        let world = World::timed(setup, false, cx).await;
        world.provider.limit(limits);
        Self { world, clock }
    }

    /// The phone says these, each after the answer before it was made.
    async fn says(&self, words: &[&str]) {
        for (nth, word) in words.iter().enumerate() {
            self.world.says(word);
            transcript(&self.world.admin, PHONE, 2 * nth + 2).await;
        }
    }

    /// Lets time pass until the provider has taken `count` messages; returns their texts.
    async fn taken(&self, count: usize) -> Vec<String> {
        eventually("they are taken", || async {
            self.clock.advance(Duration::from_secs(1));
            self.world.server.advance(Duration::from_secs(1)).await;
            (self.world.provider.sent().len() >= count).then_some(())
        })
        .await;
        texts(&self.world.provider.sent()).into_iter().map(str::to_owned).collect()
    }
}

const WORDS: [&str; 7] = ["um", "dois", "três", "quatro", "cinco", "seis", "sete"];
const ANSWERS: [&str; 7] =
    ["eco um", "eco dois", "eco três", "eco quatro", "eco cinco", "eco seis", "eco sete"];

async fn what_exceeds_the_rate_of_a_number_is_sent_later(setup: Setup) {
    let limited = Limited::new(setup, Limits { number_per_second: 2, ..Limits::default() }).await;
    limited.says(&WORDS).await;
    let World { provider, .. } = &limited.world;
    eventually("the third is refused", || async { (provider.calls() >= 3).then_some(()) }).await;
    assert_eq!(provider.sent().len(), 2, "the clock of the provider stands");
    assert_eq!(limited.taken(7).await, ANSWERS);
    assert!(provider.calls() > 7, "{} calls", provider.calls());
    assert_eq!(limited.world.health().await["status"], "ok");
}

async fn what_exceeds_the_rate_of_a_recipient_is_sent_later(setup: Setup) {
    let limits = Limits { pair_seconds: 6, pair_burst: 3, ..Limits::default() };
    let limited = Limited::new(setup, limits).await;
    limited.says(&WORDS).await;
    let World { provider, .. } = &limited.world;
    eventually("the fourth is refused", || async { (provider.calls() >= 4).then_some(()) }).await;
    // Another recipient does not wait.
    provider.say("111", "15550000001", "Bia", json!({ "type": "text", "text": { "body": "oi" } }));
    assert_eq!(texts(&limited.world.sent(4).await), ["eco um", "eco dois", "eco três", "eco oi"]);
    let taken = limited.taken(8).await;
    assert_eq!(
        (&taken[..3], &taken[4..]),
        (&ANSWERS.map(str::to_owned)[..3], &ANSWERS.map(str::to_owned)[3..])
    );
    assert!(provider.calls() > 8, "{} calls", provider.calls());
}
