//! The provider that says again what was said.

use std::sync::{Mutex, PoisonError};

use async_trait::async_trait;

use super::{Asked, Exchange, Recording};
use crate::model::{Answer, ModelError, ModelProvider, ModelRequest};

/// Answers as a recording does. Each exchange is had once; equal requests are answered in their order.
#[derive(Debug)]
pub struct Replay {
    left: Mutex<Left>,
}

#[derive(Debug)]
struct Left {
    exchanges: Vec<Exchange>,
    missed: Vec<Asked>,
}

impl Replay {
    /// Creates a provider that says this again.
    pub fn new(recording: Recording) -> Self {
        Self { left: Mutex::new(Left { exchanges: recording.exchanges, missed: Vec::new() }) }
    }

    /// Returns the requests since the last look that were not recorded.
    pub fn take_missed(&self) -> Vec<Asked> {
        std::mem::take(&mut self.left.lock().unwrap_or_else(PoisonError::into_inner).missed)
    }
}

#[async_trait]
impl ModelProvider for Replay {
    async fn answer(&self, request: ModelRequest<'_>) -> Result<Answer, ModelError> {
        let asked = Asked::of(&request);
        let mut left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        let found = left.exchanges.iter().position(|exchange| exchange.asked == asked);
        match found {
            Some(at) => Ok(left.exchanges.remove(at).answer),
            None => {
                left.missed.push(asked);
                Err(ModelError::Refused { reason: "this request was not recorded".to_owned() })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::Recorder;
    use super::*;
    use crate::model::Item;
    use crate::scripted::{Script, Scripted};

    fn request(items: &[Item]) -> ModelRequest<'_> {
        ModelRequest {
            model: "m",
            instructions: "Sell tea.",
            items,
            known: None,
            tools: &[],
            max_output_tokens: None,
        }
    }

    #[tokio::test]
    async fn what_was_recorded_is_said_again_and_nothing_else() {
        let script = r#"{ "rules": [
            { "when": { "input": "boom" }, "fault": "unavailable" },
            { "when": { "input": "(.+)" }, "text": "{{1}}?" }] }"#;
        let scripted = Scripted::new(Script::parse(script).expect("a script"));
        let recorder = Recorder::new(Arc::new(scripted));
        let (tea, boom) = ([Item::user("tea")], [Item::user("boom")]);
        let answer = recorder.answer(request(&tea)).await.expect("an answer");
        recorder.answer(request(&boom)).await.expect_err("it fails");
        let text = serde_json::to_string(&recorder.recording()).expect("JSON");
        let replay = Replay::new(serde_json::from_str(&text).expect("a recording"));
        assert_eq!(replay.answer(request(&tea)).await, Ok(answer));
        for items in [&tea, &boom] {
            let error = replay.answer(request(items)).await.expect_err("it was had, or never recorded");
            assert!(!error.is_passing(), "{error}");
        }
        let missed: Vec<String> =
            replay.take_missed().iter().map(|asked| asked.last_input().to_owned()).collect();
        assert_eq!(missed, ["tea", "boom"]);
        assert_eq!(replay.take_missed(), []);
    }
}
