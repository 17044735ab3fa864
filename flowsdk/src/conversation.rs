//! A conversation with a flow in memory.

use std::sync::Arc;
use std::time::Duration;

use flowsdk_core::flow::CompiledFlow;
use flowsdk_core::flow::simulator::{Does, Script, Simulator, StepReport};
use flowsdk_core::message::{ContentMessage, Reply as Tapped};
use serde_json::{Map, Value};

/// One contact's conversation with a flow. Nothing is stored and no server is asked.
#[derive(Debug)]
pub struct Conversation {
    simulator: Simulator,
    last: StepReport,
}

/// The flow's reply to one thing that happened.
#[derive(Debug, Clone, PartialEq)]
pub struct Reply {
    report: StepReport,
}

impl Conversation {
    pub(crate) fn new(flow: &Arc<CompiledFlow>, surroundings: &Script) -> Self {
        Self { simulator: Simulator::new(flow, &[], surroundings), last: StepReport::default() }
    }

    /// The contact writes a text. The first one begins the flow; after an end, so does the next.
    pub fn say(&mut self, text: impl Into<String>) -> Reply {
        self.play(&Does::Say(text.into()))
    }

    /// The contact taps a button or chooses a row of the last reply, by its title or its id. A text that is neither is
    /// written as it is.
    pub fn tap(&mut self, title_or_id: &str) -> Reply {
        let tapped = self
            .last
            .contents
            .iter()
            .flat_map(ContentMessage::options)
            .find(|option| option.title == title_or_id || option.id == title_or_id);
        match tapped {
            Some(Tapped { id, title }) => self.play(&Does::Tap { id, title }),
            None => self.say(title_or_id),
        }
    }

    /// The contact writes nothing for this long, so that a time limit of the flow's question can pass.
    pub fn wait(&mut self, time: Duration) -> Reply {
        self.play(&Does::Wait(u64::try_from(time.as_millis()).unwrap_or(u64::MAX)))
    }

    /// Whether the flow has ended. The contact's next message begins it again.
    pub fn has_ended(&self) -> bool {
        self.last.end == "ended"
    }

    /// The variables of the session, as they are now.
    pub fn variables(&self) -> &Map<String, Value> {
        &self.last.variables
    }

    fn play(&mut self, does: &Does) -> Reply {
        self.last = self.simulator.play(does);
        Reply { report: self.last.clone() }
    }
}

impl Reply {
    /// The messages, in order.
    pub fn messages(&self) -> &[ContentMessage] {
        &self.report.contents
    }

    /// The text of each message: its body, or the caption of a file.
    pub fn texts(&self) -> Vec<&str> {
        self.report.contents.iter().filter_map(ContentMessage::body).collect()
    }

    /// The error that froze the session, for example a request to a server that is not in the surroundings.
    pub fn error(&self) -> Option<&str> {
        self.report.error.as_deref()
    }

    /// The owner of the conversation after the reply: `waiting` (the flow waits for the contact), `ended`, `agent`,
    /// `human`, or the code of the error that froze it.
    pub fn end(&self) -> &str {
        &self.report.end
    }
}
