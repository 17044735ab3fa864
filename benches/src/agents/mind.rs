//! A model that takes its time, and counts whom it answers at once.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use flowsdk_agent::model::{Answer, Item, ModelError, ModelProvider, ModelRequest, ToolCall};
use flowsdk_core::event::TokenUsage;
use serde_json::json;

/// The tool that it calls first.
pub(super) const TOOL: &str = "price";

/// Answers an input of `<session> <number>` by a call of the tool, by a message `<number> is 12`, and by nothing more.
#[derive(Debug)]
pub(super) struct Mind {
    answer_time: Duration,
    seen: Mutex<Seen>,
}

/// What it was asked.
#[derive(Debug, Default)]
struct Seen {
    /// How many requests of each session are under way.
    under_way: HashMap<String, usize>,
    answers: usize,
    overlaps: usize,
}

impl Mind {
    pub(super) fn new(answer_time: Duration) -> Self {
        Self { answer_time, seen: Mutex::default() }
    }

    /// Returns how many answers it gave, and how often it was asked for a session while it answered for it.
    pub(super) fn counts(&self) -> (usize, usize) {
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        (seen.answers, seen.overlaps)
    }

    fn note(&self, change: impl FnOnce(&mut Seen)) {
        change(&mut self.seen.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

#[async_trait]
impl ModelProvider for Mind {
    async fn answer(&self, request: ModelRequest<'_>) -> Result<Answer, ModelError> {
        let unreadable = || ModelError::Refused { reason: "an input that nobody wrote".to_owned() };
        let input = request.items.iter().rposition(|item| matches!(item, Item::User { .. }));
        let input = input.ok_or_else(unreadable)?;
        let Item::User { text, .. } = &request.items[input] else { return Err(unreadable()) };
        let (session, number) = text.split_once(' ').ok_or_else(unreadable)?;
        self.note(|seen| {
            let under_way = seen.under_way.entry(session.to_owned()).or_default();
            seen.overlaps += usize::from(*under_way > 0);
            *under_way += 1;
        });
        tokio::time::sleep(self.answer_time).await;
        self.note(|seen| {
            seen.answers += 1;
            if let Some(under_way) = seen.under_way.get_mut(session) {
                *under_way -= 1;
            }
        });
        let calls = request.items[input..].iter().filter(|item| matches!(item, Item::ToolCall(_))).count();
        let call = |name: &str, arguments: serde_json::Value| {
            let id = format!("{name}-{number}");
            vec![Item::ToolCall(ToolCall { id, name: name.to_owned(), arguments: arguments.to_string() })]
        };
        let items = match calls {
            0 => call(TOOL, json!({ "product": number })),
            1 => call("sendTextMessage", json!({ "text": format!("{number} is 12") })),
            _ => Vec::new(),
        };
        let usage = TokenUsage { input_tokens: 1_000, output_tokens: 20, ..TokenUsage::default() };
        Ok(Answer { items, usage, ..Answer::default() })
    }
}
