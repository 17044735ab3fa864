//! The use cases of dead letters.

use std::sync::Arc;

use flowsdk_core::change::Author;
use flowsdk_core::context::OpContext;
use flowsdk_core::page::PageRequest;
use flowsdk_core::stream::broker::Broker as _;
use flowsdk_core::stream::dead_letter::{
    DeadLetterError, DeadLetterFilter, DeadLetterSink as _, DeadLetters, FailedEntry,
};
use flowsdk_core::stream::topic::{StreamPartition, TopicName};
use flowsdk_core::time::Timestamp;
use flowsdk_store::sql::{OutboxRoutes, SqlBroker, SqlStore};

use crate::support::databases::{file, memory_with};

fn failed(topic: TopicName) -> FailedEntry {
    FailedEntry {
        topic,
        group: "reader".to_owned(),
        source: Some(format!("0:{}", topic.name())),
        key: "k".to_owned(),
        payload: "{}".to_owned(),
        reason: "on purpose".to_owned(),
        attempts: 5,
        first_failed_at: Timestamp::from_millis(0),
        failed_at: Timestamp::from_millis(1),
    }
}

async fn backlog(store: &SqlStore, topic: TopicName, group: &str) -> u64 {
    let broker = SqlBroker::new(store.clone());
    broker.backlog(StreamPartition { topic, index: 0 }, group).await.expect("backlog")
}

/// A retry that would be lost is refused, and leaves the dead letter.
#[tokio::test]
async fn a_stream_that_nobody_reads_keeps_its_dead_letters() {
    let store = memory_with(OutboxRoutes::embedded([(TopicName::Flow, "reader")])).await;
    let letters = DeadLetters::new(Arc::new(store.clone()), OpContext::system());
    for topic in [TopicName::Flow, TopicName::Agent] {
        letters.record(&failed(topic)).await.expect("recorded");
    }
    let page = letters.list(&DeadLetterFilter::default(), &PageRequest::default()).await.expect("a page");
    for letter in page.items {
        let retried = letters.retry(&Author::default(), &letter.id).await;
        if letter.topic == TopicName::Flow {
            assert!(retried.is_ok(), "{retried:?}");
            assert!(matches!(letters.get(&letter.id).await, Err(DeadLetterError::NotFound)));
        } else {
            assert!(matches!(retried, Err(DeadLetterError::NotRead)), "{retried:?}");
            assert_eq!(letters.get(&letter.id).await.expect("it is there"), letter);
        }
    }
    assert_eq!(backlog(&store, TopicName::Flow, "reader").await, 1);
}

/// Many retries at once publish one entry.
#[tokio::test]
async fn retries_at_once_publish_once() {
    let store = file().await;
    let letters = Arc::new(DeadLetters::new(Arc::new(store.clone()), OpContext::system()));
    letters.record(&failed(TopicName::Flow)).await.expect("recorded");
    let page = letters.list(&DeadLetterFilter::default(), &PageRequest::default()).await.expect("a page");
    let mut retries = tokio::task::JoinSet::new();
    for _ in 0..8 {
        let (letters, id) = (Arc::clone(&letters), page.items[0].id.clone());
        retries.spawn(async move { usize::from(letters.retry(&Author::default(), &id).await.is_ok()) });
    }
    assert_eq!(retries.join_all().await.into_iter().sum::<usize>(), 1);
    assert_eq!(backlog(&store, TopicName::Flow, flowsdk_core::testkit::broker::GROUPS[0]).await, 1);
}
