//! Queues and rules.

use flowsdk_core::record::HasRecords;
use flowsdk_core::store::Store;
use flowsdk_core::testkit::store::{Samples, StoreUnderTest};
use serde_json::json;

use super::{HelpdeskTx, World, later, queue};
use crate::queue::{DistributionStrategy, HasQueues as _, Queue};
use crate::rule::{DistributionRule, HasRules as _};

/// A queue comes back as it was saved; a router has one of each name, and takes them along.
pub async fn a_queue_is_read_back_and_its_name_given_once<S: Store>(subject: StoreUnderTest<S>)
where
    S::Tx: HelpdeskTx,
{
    let samples = Samples {
        record: |id, router, number, at| queue(id, router, ["Cobrança", "Vendas 👋"][number], at),
        states: |first| {
            vec![Queue {
                name: "Outra".to_owned(),
                distribution_strategy: DistributionStrategy::ManualPickup,
                max_concurrent_tickets_per_agent: 1_000,
                abandon_after_minutes: None,
                reassign_after_minutes: None,
                accept_within_seconds: None,
                business_hours: None,
                deflect_when: Vec::new(),
                max_waiting: None,
                waiting_notice: None,
                service_level: None,
                survey: None,
                is_active: false,
                updated_at: later(5),
                ..first.clone()
            }]
        },
        filter: |router| router,
        is_unique: true,
    };
    samples.are_kept(&subject).await;
}

/// Active rules come by priority, then by age, of the routers that are asked for; active queues by age. A rule goes with
/// its queue.
pub async fn rules_are_asked_in_their_order<S: Store>(subject: StoreUnderTest<S>)
where
    S::Tx: HelpdeskTx,
{
    let world = World::new(&subject).await;
    let mut tx = world.begin().await;
    let rule = |id: &str, priority: i64, queue: &str, at: u64| DistributionRule {
        id: id.parse().expect("an id"),
        router_id: world.router.clone(),
        name: id.to_owned(),
        priority,
        conditions: serde_json::from_value(json!([{ "source": { "type": "context", "key": "a.b" },
            "comparator": "equals", "values": ["ação", 7] }]))
        .expect("conditions"),
        target_queue_id: queue.parse().expect("an id"),
        flow_id: None,
        is_active: true,
        created_at: later(at),
        updated_at: later(at),
    };
    let (first, second, third) = (rule("r1", -5, "q2", 9), rule("r2", 3, "q1", 1), rule("r3", 3, "q2", 2));
    let off = DistributionRule { is_active: false, ..rule("r4", -9, "q1", 0) };
    for rule in [&third, &second, &first, &off] {
        tx.records().insert(rule).await.expect("insert");
    }
    let routers = [world.router.clone(), "elsewhere".parse().expect("an id")];
    let found = tx.rules().active_of(&routers).await.expect("rules");
    assert_eq!(found, [first, second.clone(), third]);
    assert_eq!(tx.rules().active_of(&routers[1..]).await.expect("rules"), []);
    let off = Queue { is_active: false, ..queue("q3", &world.router, "q3", later(0)) };
    tx.records().insert(&off).await.expect("insert");
    let queues = tx.queues().active_of(&routers).await.expect("queues");
    assert_eq!(queues.iter().map(|queue| queue.id.as_str()).collect::<Vec<_>>(), ["q1", "q2"]);
    HasRecords::<Queue>::records(&mut tx).delete(&queues[1].id).await.expect("delete");
    assert_eq!(tx.rules().active_of(&routers).await.expect("rules"), [second]);
    for user in ["ana", "bia"] {
        let given = [(queues[0].id.clone(), user.parse().expect("an id"))];
        tx.queues().note_given(&given).await.expect("noted");
    }
    let last = tx.queues().last_given(&[queues[0].id.clone(), off.id]).await.expect("read");
    assert_eq!(last, [(queues[0].id.clone(), "bia".parse().expect("an id"))]);
}
