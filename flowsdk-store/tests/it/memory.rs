//! The in-process adapters.

use std::sync::Arc;

use flowsdk_core::stream::broker::{Broker, Tails};
use flowsdk_core::testkit::KeyValueUnderTest;
use flowsdk_core::time::ManualClock;
use flowsdk_store::memory::{MemoryBroker, MemoryKeyValue};

async fn broker() -> Arc<dyn Broker> {
    Arc::new(MemoryBroker::new(4))
}

async fn tails() -> Arc<dyn Tails> {
    Arc::new(MemoryBroker::new(4))
}

async fn broker_of_one_partition() -> Arc<dyn Broker> {
    Arc::new(MemoryBroker::default())
}

async fn key_values() -> KeyValueUnderTest {
    let clock = ManualClock::at(1_795_085_820_050);
    KeyValueUnderTest::manual(Arc::new(MemoryKeyValue::new(Arc::new(clock.clone()))), clock)
}

mod streams {
    flowsdk_core::broker_conformance!(super::broker);
}

mod tails {
    flowsdk_core::tail_conformance!(super::tails);
}

mod streams_of_one_partition {
    flowsdk_core::broker_conformance!(super::broker_of_one_partition);
}

mod keys {
    flowsdk_core::key_value_conformance!(super::key_values);
}

mod leases {
    flowsdk_core::lease_conformance!(super::key_values);
}
