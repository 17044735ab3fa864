//! Wakes the readers of streams in the database after a commit that put entries into them.

use flowsdk_core::stream::topic::TopicName;
use tokio::sync::watch;

/// The streams and their commits: a commit wakes the readers of its streams only. A reader that is told while it does
/// not wait learns of it when it waits again.
#[derive(Debug)]
pub(super) struct Published(Vec<(TopicName, watch::Sender<()>)>);

impl Published {
    pub(super) fn new() -> Self {
        Self(TopicName::ALL.into_iter().map(|topic| (topic, watch::Sender::new(()))).collect())
    }

    fn of(&self, topic: TopicName) -> &watch::Sender<()> {
        let at = self.0.iter().position(|(known, _)| *known == topic).unwrap_or_default();
        &self.0[at].1
    }

    /// Returns what a reader of a stream is told by, from now on.
    pub(super) fn follow(&self, topic: TopicName) -> watch::Receiver<()> {
        self.of(topic).subscribe()
    }

    /// Wakes the readers of `topics`.
    pub(super) fn tell(&self, topics: &[TopicName]) {
        topics.iter().for_each(|topic| self.of(*topic).send_replace(()));
    }

    /// Wakes every reader.
    pub(super) fn tell_all(&self) {
        self.0.iter().for_each(|(_, commits)| commits.send_replace(()));
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

    #[test]
    fn a_commit_tells_the_readers_of_its_streams() {
        let published = Published::new();
        let (flow, mut status) = (published.follow(TopicName::Flow), published.follow(TopicName::Status));
        published.tell(&[TopicName::Flow]);
        assert!(flow.has_changed().expect("there"), "its reader is told");
        assert!(!status.has_changed().expect("there"), "another is not");
        published.tell_all();
        assert!(status.has_changed().expect("there"));
        status.mark_unchanged();
        assert!(!status.has_changed().expect("there"), "once");
    }

    #[test]
    fn streams_are_named_to_other_processes() {
        let some = [TopicName::Flow, TopicName::OutgoingChat];
        assert_eq!(topics(&names(&some)), Some(some.to_vec()));
        assert_eq!(topics(""), None, "an older process names none");
        assert_eq!(topics("stream:flow,stream:later"), None);
    }
}
