//! Pins the wire form of every stream payload: each file of `tests/golden/<topic>/` parses into its
//! topic's type and comes back as the same JSON.

use std::path::{Path, PathBuf};

use flowsdk_core::event::{AgentEvent, FlowEvent, HelpdeskEvent};
use flowsdk_core::stream::topic::{self, Topic, TopicName};
use serde_json::Value;

/// The golden files of a topic, by name.
fn files(topic: TopicName) -> Vec<PathBuf> {
    let name = topic.name().trim_start_matches("stream:");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    let mut files: Vec<_> = std::fs::read_dir(&folder)
        .unwrap_or_else(|e| panic!("{}: {e}", folder.display()))
        .map(|entry| entry.expect("a folder entry").path())
        .collect();
    files.sort();
    files
}

fn events<T: Topic>() -> Vec<T::Event> {
    files(T::NAME)
        .iter()
        .map(|file| {
            let text = std::fs::read_to_string(file).expect("a readable file");
            let json: Value = serde_json::from_str(&text).expect("JSON");
            let event: T::Event =
                serde_json::from_str(&text).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
            let back = serde_json::to_value(&event).expect("events serialise");
            assert_eq!(back, json, "{}", file.display());
            event
        })
        .collect()
}

fn check(topic: TopicName) -> usize {
    match topic {
        TopicName::Incoming => events::<topic::Incoming>().len(),
        TopicName::Flow => events::<topic::Flow>().len(),
        TopicName::Agent => events::<topic::Agent>().len(),
        TopicName::Helpdesk => events::<topic::Helpdesk>().len(),
        TopicName::Summary => events::<topic::Summary>().len(),
        TopicName::Status => events::<topic::Status>().len(),
        TopicName::OutgoingPhone => events::<topic::OutgoingPhone>().len(),
        TopicName::OutgoingChat => events::<topic::OutgoingChat>().len(),
        TopicName::OutgoingSocial => events::<topic::OutgoingSocial>().len(),
        TopicName::SocialComments => events::<topic::SocialComments>().len(),
        TopicName::SocialActivations => events::<topic::SocialActivations>().len(),
        TopicName::ReadReceipts => events::<topic::ReadReceipts>().len(),
        TopicName::ProviderNews => events::<topic::ProviderNews>().len(),
        TopicName::AgentTurns => events::<topic::AgentTurns>().len(),
        TopicName::LlmUsage => events::<topic::LlmUsage>().len(),
        TopicName::Webhooks => events::<topic::Webhooks>().len(),
    }
}

#[test]
fn every_topic_has_golden_files_that_come_back_unchanged() {
    for topic in TopicName::ALL {
        assert!(check(topic) > 0, "{} has no golden file", topic.name());
    }
}

#[test]
fn every_folder_is_a_topic() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    for entry in std::fs::read_dir(root).expect("the golden folder") {
        let name = entry.expect("a folder entry").file_name();
        let stream = format!("stream:{}", name.to_string_lossy());
        assert!(TopicName::parse(&stream).is_some(), "{stream} is no topic");
    }
}

/// Counts the golden events of each variant; a new variant does not compile until it is named here.
macro_rules! every_variant {
    ($topic:ty, $($variant:pat),+ $(,)?) => {
        for (name, seen) in [$((
            stringify!($variant),
            events::<$topic>().iter().any(|event| matches!(event, $variant)),
        )),+] {
            assert!(seen, "no golden file for {name}");
        }
        for event in events::<$topic>() {
            match event {
                $($variant => {})+
            }
        }
    };
}

#[test]
fn every_variant_has_a_golden_file() {
    every_variant!(
        topic::Flow,
        FlowEvent::Message(_),
        FlowEvent::ExternalJump(_),
        FlowEvent::AgentSessionEnded(_),
        FlowEvent::HumanSessionEnded(_),
        FlowEvent::InputTimeout(_),
        FlowEvent::EffectDone(_),
        FlowEvent::Resume(_),
    );
    every_variant!(
        topic::Agent,
        AgentEvent::Turn(_),
        AgentEvent::ManualHandoff(_),
        AgentEvent::Inactivity(_),
        AgentEvent::SessionLost(_),
    );
    every_variant!(
        topic::Helpdesk,
        HelpdeskEvent::Handoff(_),
        HelpdeskEvent::Message(_),
        HelpdeskEvent::MessageStatus(_),
        HelpdeskEvent::AiTicket(_),
    );
}

#[test]
fn events_of_one_session_have_one_key() {
    let session = "wa-1063-5511987654321";
    assert!(events::<topic::Flow>().iter().all(|event| topic::Flow::key(event) == session));
    assert!(events::<topic::Agent>().iter().all(|event| topic::Agent::key(event) == session));
    assert!(events::<topic::Helpdesk>().iter().all(|event| topic::Helpdesk::key(event) == session));
}
