//! Wakes the readers of streams in the database after a commit that put entries into them.

use flowsdk_core::stream::topic::TopicName;
use tokio::sync::Notify;

/// The readers that wait, by stream: a commit wakes those of its streams only.
#[derive(Debug)]
pub(super) struct Published(Vec<(TopicName, Notify)>);

impl Published {
    pub(super) fn new() -> Self {
        Self(TopicName::ALL.into_iter().map(|topic| (topic, Notify::new())).collect())
    }

    /// Returns the bell of a stream.
    pub(super) fn of(&self, topic: TopicName) -> &Notify {
        let at = self.0.iter().position(|(known, _)| *known == topic).unwrap_or_default();
        &self.0[at].1
    }

    /// Wakes the readers of `topics`.
    pub(super) fn tell(&self, topics: &[TopicName]) {
        topics.iter().for_each(|topic| self.of(*topic).notify_waiters());
    }

    /// Wakes every reader.
    pub(super) fn tell_all(&self) {
        self.0.iter().for_each(|(_, bell)| bell.notify_waiters());
    }
}

/// Returns the names of streams as other processes are told them.
pub(super) fn names(topics: &[TopicName]) -> String {
    let names: Vec<&str> = topics.iter().map(|topic| topic.name()).collect();
    names.join(",")
}

/// Returns the streams that another process named; `None` for a stream of a later version.
pub(super) fn topics(names: &str) -> Option<Vec<TopicName>> {
    let topic = |name| TopicName::ALL.into_iter().find(|topic| topic.name() == name);
    names.split(',').map(topic).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_commit_wakes_the_readers_of_its_streams() {
        let published = Published::new();
        let told = |topic| {
            let mut told = Box::pin(published.of(topic).notified());
            told.as_mut().enable();
            told
        };
        let (mut flow, mut status) = (told(TopicName::Flow), told(TopicName::Status));
        published.tell(&[TopicName::Flow]);
        assert!(flow.as_mut().enable(), "its reader is told");
        assert!(!status.as_mut().enable(), "another is not");
        published.tell_all();
        assert!(status.as_mut().enable());
    }

    #[test]
    fn streams_are_named_to_other_processes() {
        let some = [TopicName::Flow, TopicName::OutgoingChat];
        assert_eq!(topics(&names(&some)), Some(some.to_vec()));
        assert_eq!(topics(""), None, "an older process names none");
        assert_eq!(topics("stream:flow,stream:later"), None);
    }
}
