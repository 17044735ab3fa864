//! The provider.

use async_trait::async_trait;
use flowsdk_core::event::TokenUsage;
use serde_json::Value;

use super::script::{Fault, Rule, Script};
use crate::model::{
    Answer, Item, ModelError, ModelProvider, ModelRequest, Speech, ToolCall, Transcribed, Transcriber,
};

/// A model that answers by rules. It keeps nothing: the same conversation has the same answer.
#[derive(Debug, Clone, Default)]
pub struct Scripted {
    script: Script,
}

impl Scripted {
    /// Creates a model that answers by these rules.
    pub fn new(script: Script) -> Self {
        Self { script }
    }
}

#[async_trait]
impl ModelProvider for Scripted {
    async fn answer(&self, request: ModelRequest<'_>) -> Result<Answer, ModelError> {
        let scene = Scene::of(&request);
        let mut rules = self.script.rules.iter();
        let found = rules.find_map(|rule| Some((rule, scene.words_of(rule)?)));
        let items = match found {
            Some((Rule { fault: Some(fault), .. }, _)) => return Err(error_of(*fault)),
            Some((rule, words)) => items_of(rule, &words, request.items.len()),
            None => Vec::new(),
        };
        let usage = usage_of(&request, &items);
        Ok(Answer { items, usage, ..Answer::default() })
    }
}

#[async_trait]
impl Transcriber for Scripted {
    async fn transcribe(&self, _: Speech) -> Result<Transcribed, ModelError> {
        let refused = || ModelError::Refused { reason: "the script hears nothing".to_owned() };
        let text = self.script.hears.clone().ok_or_else(refused)?;
        Ok(Transcribed { text, used: None })
    }
}

fn error_of(fault: Fault) -> ModelError {
    let reason = "the script says so".to_owned();
    match fault {
        Fault::Unavailable => ModelError::unavailable(reason),
        Fault::Account => ModelError::Account { reason },
        Fault::Refused => ModelError::Refused { reason },
    }
}

/// What rules look at.
struct Scene<'a> {
    instructions: &'a str,
    /// The last input of the conversation.
    input: &'a str,
    /// The calls of the last answer with their results, if the conversation ends with results.
    results: Vec<(&'a ToolCall, &'a str)>,
}

impl<'a> Scene<'a> {
    fn of(request: &ModelRequest<'a>) -> Self {
        let input = request.items.iter().rev().find_map(|item| match item {
            Item::User { text, .. } => Some(text.as_str()),
            _ => None,
        });
        let call_of = |id: &str| {
            request.items.iter().rev().find_map(|item| match item {
                Item::ToolCall(call) if call.id == id => Some(call),
                _ => None,
            })
        };
        let last = request.items.iter().rev().map_while(|item| match item {
            Item::ToolResult { call_id, output } => Some((call_id.as_str(), output.as_str())),
            _ => None,
        });
        let mut results: Vec<_> = last.filter_map(|(id, output)| Some((call_of(id)?, output))).collect();
        results.reverse();
        Self { instructions: request.instructions, input: input.unwrap_or_default(), results }
    }

    /// Returns what the placeholders of a rule stand for, by name; `None` when the rule does not hold.
    fn words_of(&self, rule: &Rule) -> Option<Vec<(String, String)>> {
        let when = &rule.when;
        if let Some(pattern) = &when.instructions {
            pattern.find(self.instructions)?;
        }
        let mut words = Vec::new();
        match &when.after {
            Some(tool) => {
                let (_, output) = self.results.iter().find(|(call, _)| call.name == *tool)?;
                if let Some(pattern) = &when.result {
                    let groups = pattern.find(output)?.into_iter().enumerate();
                    words.extend(groups.map(|(number, group)| (format!("result.{number}"), group)));
                }
                words.push(("result".to_owned(), (*output).to_owned()));
            }
            None if !self.results.is_empty() => return None,
            None => {}
        }
        if let Some(pattern) = &when.input {
            let groups = pattern.find(self.input)?.into_iter().enumerate();
            words.extend(groups.map(|(number, group)| (number.to_string(), group)));
        }
        Some(words)
    }
}

fn items_of(rule: &Rule, words: &[(String, String)], before: usize) -> Vec<Item> {
    let text = (!rule.text.is_empty()).then(|| Item::Assistant { text: fill(&rule.text, words) });
    let calls = rule.calls.iter().enumerate().map(|(number, call)| {
        let arguments = call.arguments.iter().map(|(key, value)| (key.clone(), filled(value, words)));
        let arguments = Value::Object(arguments.collect()).to_string();
        Item::ToolCall(ToolCall { id: format!("call_{before}_{number}"), name: call.tool.clone(), arguments })
    });
    text.into_iter().chain(calls).collect()
}

/// Fills the placeholders of all texts in a value.
fn filled(value: &Value, words: &[(String, String)]) -> Value {
    match value {
        Value::String(text) => fill(text, words).into(),
        Value::Array(items) => items.iter().map(|item| filled(item, words)).collect(),
        Value::Object(fields) => fields
            .iter()
            .map(|(key, value)| (key.clone(), filled(value, words)))
            .collect::<serde_json::Map<_, _>>()
            .into(),
        other => other.clone(),
    }
}

/// Fills placeholders in one pass: what stands for one is not looked at again.
fn fill(text: &str, words: &[(String, String)]) -> String {
    let (mut filled, mut rest) = (String::with_capacity(text.len()), text);
    while let Some((before, after)) = rest.split_once("{{") {
        filled.push_str(before);
        let word = after.split_once("}}").and_then(|(name, after)| {
            let (_, word) = words.iter().find(|(known, _)| known == name.trim())?;
            Some((word, after))
        });
        match word {
            Some((word, after)) => {
                filled.push_str(word);
                rest = after;
            }
            None => {
                filled.push_str("{{");
                rest = after;
            }
        }
    }
    filled.push_str(rest);
    filled
}

/// Returns numbers as a provider would count, about four bytes a token, so that budgets and reports have something to count.
fn usage_of(request: &ModelRequest<'_>, items: &[Item]) -> TokenUsage {
    let read: usize = request.items.iter().map(length).sum();
    let tokens = |bytes: usize| u64::try_from(bytes.div_ceil(4)).unwrap_or(u64::MAX);
    TokenUsage {
        input_tokens: tokens(request.instructions.len() + read),
        output_tokens: tokens(items.iter().map(length).sum()),
        ..TokenUsage::default()
    }
}

fn length(item: &Item) -> usize {
    match item {
        Item::User { text, .. } | Item::Assistant { text } => text.len(),
        Item::ToolCall(call) => call.name.len() + call.arguments.len(),
        Item::ToolResult { output, .. } => output.len(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCRIPT: &str = r#"{ "rules": [
        { "when": { "input": "boom" }, "fault": "unavailable" },
        { "when": { "instructions": "sales", "input": "price of (\\w+)" }, "text": "hm",
          "calls": [{ "tool": "ragSearch", "arguments": { "query": "{{1}}", "n": 5, "tags": ["{{0}}", "{{9}}"] } }] },
        { "when": { "after": "ragSearch", "result": "not found" }, "calls": [{ "tool": "transferToHuman" }] },
        { "when": { "after": "ragSearch" }, "calls": [{ "tool": "sendTextMessage", "arguments": { "text": "It is {{ result }}." } }] },
        { "when": { "input": "" }, "calls": [{ "tool": "sendTextMessage", "arguments": { "text": "Sorry?" } }] }
    ] }"#;

    async fn answer(instructions: &str, items: &[Item]) -> Result<Answer, ModelError> {
        let scripted = Scripted::new(Script::parse(SCRIPT).expect("a script"));
        let request = ModelRequest {
            model: "script",
            instructions,
            items,
            known: None,
            tools: &[],
            max_output_tokens: None,
        };
        scripted.answer(request).await
    }

    fn calls(answer: &Answer) -> Vec<(&str, &str)> {
        answer.tool_calls().map(|call| (&*call.name, &*call.arguments)).collect()
    }

    #[tokio::test]
    async fn the_first_rule_that_holds_answers() {
        let mut items = vec![Item::user("What is the PRICE of tea?")];
        let first = answer("You are sales.", &items).await.expect("an answer");
        assert_eq!(first.text(), "hm");
        let query = r#"{"n":5,"query":"tea","tags":["PRICE of tea","{{9}}"]}"#;
        assert_eq!(calls(&first), [("ragSearch", query)]);
        let id = first.tool_calls().next().expect("a call").id.clone();
        items.extend(first.items);
        items.push(Item::result(&id, "3 {{1}}"));
        let second = answer("You are sales.", &items).await.expect("an answer");
        assert_eq!(
            calls(&second),
            [("sendTextMessage", r#"{"text":"It is 3 {{1}}."}"#)],
            "results are not filled in"
        );
        items.extend(second.items.clone());
        items.push(Item::result(&second.tool_calls().next().expect("a call").id, "sent"));
        let third = answer("You are sales.", &items).await.expect("an answer");
        assert_eq!(third.items, [], "no rule is for what follows");
        assert!(third.usage.input_tokens > 0);
        // Another agent has no such rule.
        assert_eq!(
            calls(&answer("Care", &items[..1]).await.expect("an answer"))[0].1,
            r#"{"text":"Sorry?"}"#
        );
    }

    #[tokio::test]
    async fn results_are_told_apart() {
        let call = ToolCall { id: "c".to_owned(), name: "ragSearch".to_owned(), arguments: "{}".to_owned() };
        let items = [Item::user("x"), Item::ToolCall(call), Item::result("c", "Not Found")];
        assert_eq!(calls(&answer("", &items).await.expect("an answer")), [("transferToHuman", "{}")]);
    }

    #[tokio::test]
    async fn a_part_of_a_result_is_passed_on() {
        let script = r#"{ "rules": [{ "when": { "after": "ragSearch", "result": "price: (\\d+)" },
            "calls": [{ "tool": "sendTextMessage", "arguments": { "text": "{{result.1}} of {{result.0}}" } }] }] }"#;
        let call = ToolCall { id: "c".to_owned(), name: "ragSearch".to_owned(), arguments: "{}".to_owned() };
        let items = [Item::user("x"), Item::ToolCall(call), Item::result("c", "tea, price: 12")];
        let scripted = Scripted::new(Script::parse(script).expect("a script"));
        let request = ModelRequest {
            model: "script",
            instructions: "",
            items: &items,
            known: None,
            tools: &[],
            max_output_tokens: None,
        };
        let answer = scripted.answer(request).await.expect("an answer");
        assert_eq!(calls(&answer), [("sendTextMessage", r#"{"text":"12 of price: 12"}"#)]);
    }

    #[tokio::test]
    async fn a_script_can_fail() {
        let failed = answer("", &[Item::user("boom")]).await.expect_err("failed");
        assert!(failed.is_passing());
        for odd in ["", "{}", r#"{"rules":[{"when":{"input":"("}}]}"#, r#"{"rules":[{"wen":{}}]}"#] {
            assert!(Script::parse(odd).is_err(), "{odd}");
        }
    }
}
