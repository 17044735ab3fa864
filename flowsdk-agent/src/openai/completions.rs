//! Chat completions, which keep nothing: the whole conversation goes with every request. Many servers speak them, none of
//! them quite like another.

use std::collections::HashSet;

use flowsdk_core::event::TokenUsage;
use serde_json::{Value, json};

use super::error::of_failed_response;
use super::lenient::{count, text_of};
use crate::model::{Answer, Cut, Item, ModelError, ModelRequest, ToolCall, ToolDefinition};

/// Returns the body of a request.
pub(super) fn body(request: &ModelRequest<'_>) -> Value {
    let mut messages = vec![json!({ "role": "system", "content": request.instructions })];
    messages.extend(messages_of(request.items));
    let tool = |tool: &ToolDefinition| {
        json!({ "type": "function", "function": {
            "name": tool.name, "description": tool.description, "parameters": tool.parameters } })
    };
    let mut body = json!({ "model": request.model, "messages": messages });
    if !request.tools.is_empty() {
        body["tools"] = request.tools.iter().map(tool).collect();
    }
    if let Some(limit) = request.max_output_tokens {
        body["max_tokens"] = limit.into();
    }
    body
}

/// Returns the messages of a conversation. Texts and calls of one answer are one message of the assistant.
fn messages_of(items: &[Item]) -> Vec<Value> {
    let mut messages: Vec<Value> = Vec::with_capacity(items.len());
    for run in items.chunk_by(|one, other| is_of_model(one) && is_of_model(other)) {
        messages.push(match run {
            [Item::User { text, images }] if images.is_empty() => json!({ "role": "user", "content": text }),
            [Item::User { text, images }] => {
                let mut content = vec![json!({ "type": "text", "text": text })];
                content.extend(
                    images.iter().map(|url| json!({ "type": "image_url", "image_url": { "url": url } })),
                );
                json!({ "role": "user", "content": content })
            }
            [Item::ToolResult { call_id, output }] => {
                json!({ "role": "tool", "tool_call_id": call_id, "content": output })
            }
            of_model => assistant(of_model),
        });
    }
    messages
}

fn is_of_model(item: &Item) -> bool {
    matches!(item, Item::Assistant { .. } | Item::ToolCall(_))
}

fn assistant(items: &[Item]) -> Value {
    let (mut texts, mut calls) = (Vec::new(), Vec::new());
    for item in items {
        match item {
            Item::Assistant { text } => texts.push(text.as_str()),
            Item::ToolCall(call) => calls.push(json!({ "id": call.id, "type": "function",
                "function": { "name": call.name, "arguments": call.arguments } })),
            _ => {}
        }
    }
    let content = if texts.is_empty() { Value::Null } else { texts.join("\n").into() };
    let mut message = json!({ "role": "assistant", "content": content });
    if !calls.is_empty() {
        message["tool_calls"] = calls.into();
    }
    message
}

/// Reads an answer to a request whose conversation had `before` items. Calls without an id, or with one that was there
/// before in the answer, get one.
///
/// # Errors
/// [`ModelError`]: the answer is an error, or none.
pub(super) fn read(answer: &Value, before: usize) -> Result<Answer, ModelError> {
    if answer["error"].is_object() {
        return Err(of_failed_response(&answer["error"]));
    }
    let choice = &answer["choices"][0];
    let message = &choice["message"];
    if !message.is_object() {
        return Err(ModelError::Unreadable { reason: "an answer without a message".to_owned() });
    }
    let mut items: Vec<Item> = text(message).map(|text| Item::Assistant { text }).into_iter().collect();
    let mut ids = HashSet::new();
    let mut made = (0..).map(|number| format!("call_{before}_{number}"));
    for call in calls(message) {
        let given = call["id"].as_str().filter(|id| !id.is_empty()).map(str::to_owned);
        let mut candidates = given.into_iter().chain(&mut made);
        let Some(id) = candidates.find(|id| ids.insert(id.clone())) else { break };
        let function = &call["function"];
        let name = function["name"].as_str().unwrap_or_default().to_owned();
        items.push(Item::ToolCall(ToolCall { id, name, arguments: text_of(&function["arguments"]) }));
    }
    Ok(Answer {
        // It is no conversation to go on from.
        response_id: None,
        items,
        cut: match choice["finish_reason"].as_str() {
            Some("length") => Some(Cut::TooLong),
            Some("content_filter") => Some(Cut::Filtered),
            _ => None,
        },
        usage: usage(&answer["usage"]),
        other: Vec::new(),
    })
}

/// Returns the text of a message: its content, which may be parts, or its refusal.
fn text(message: &Value) -> Option<String> {
    let content = match &message["content"] {
        Value::Array(parts) => {
            parts.iter().filter_map(|part| part["text"].as_str()).collect::<Vec<_>>().join("\n")
        }
        content => content.as_str().unwrap_or_default().to_owned(),
    };
    let text = if content.is_empty() { message["refusal"].as_str()?.to_owned() } else { content };
    (!text.is_empty()).then_some(text)
}

fn calls(message: &Value) -> impl Iterator<Item = &Value> {
    message["tool_calls"].as_array().into_iter().flatten()
}

fn usage(usage: &Value) -> TokenUsage {
    TokenUsage {
        input_tokens: count(&usage["prompt_tokens"]),
        cached_input_tokens: count(&usage["prompt_tokens_details"]["cached_tokens"]),
        output_tokens: count(&usage["completion_tokens"]),
        reasoning_tokens: count(&usage["completion_tokens_details"]["reasoning_tokens"]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(id: &str) -> ToolCall {
        ToolCall { id: id.to_owned(), name: "look".to_owned(), arguments: "{}".to_owned() }
    }

    #[test]
    fn one_answer_is_one_message() {
        let items = [
            Item::user("hi"),
            Item::Assistant { text: "wait".to_owned() },
            Item::ToolCall(call("c1")),
            Item::ToolCall(call("c2")),
            Item::result("c1", "one"),
            Item::result("c2", "two"),
            Item::User { text: "see".to_owned(), images: vec!["data:image/png;base64,AA".to_owned()] },
        ];
        let request = ModelRequest {
            model: "local",
            instructions: "Be kind.",
            items: &items,
            known: Some(crate::model::Known { response_id: "ignored", items: 3 }),
            tools: &[],
            max_output_tokens: Some(7),
        };
        let body = body(&request);
        let roles: Vec<&str> = body["messages"]
            .as_array()
            .expect("messages")
            .iter()
            .filter_map(|one| one["role"].as_str())
            .collect();
        assert_eq!(roles, ["system", "user", "assistant", "tool", "tool", "user"]);
        let assistant = &body["messages"][2];
        assert_eq!(
            (&assistant["content"], assistant["tool_calls"].as_array().map(Vec::len)),
            (&"wait".into(), Some(2))
        );
        assert_eq!(body["messages"][5]["content"][1]["image_url"]["url"], "data:image/png;base64,AA");
        assert_eq!((&body["max_tokens"], body.get("tools")), (&json!(7), None));
    }

    #[test]
    fn servers_deviate() {
        let message = |message: Value| {
            read(&json!({ "choices": [{ "message": message, "finish_reason": "tool_calls" }] }), 4)
                .expect("an answer")
        };
        let function = |arguments: Value| json!({ "name": "look", "arguments": arguments });
        // No ids, the same id twice, arguments as an object, no content, no usage.
        let answer = message(json!({ "content": null, "tool_calls": [
            { "function": function(json!({ "a": 1 })) },
            { "id": "x", "function": function(json!("{\"a\":2}")) },
            { "id": "x", "function": function(json!("")) },
            { "id": "", "function": { "name": 7 } },
        ] }));
        let calls: Vec<_> =
            answer.tool_calls().map(|call| (&*call.id, &*call.name, &*call.arguments)).collect();
        assert_eq!(
            calls,
            [
                ("call_4_0", "look", "{\"a\":1}"),
                ("x", "look", "{\"a\":2}"),
                ("call_4_1", "look", "{}"),
                ("call_4_2", "", "{}")
            ]
        );
        assert_eq!((answer.text(), answer.usage), (String::new(), TokenUsage::default()));
        let parts = json!([{ "type": "text", "text": "a" }, { "type": "text", "text": "b" }]);
        assert_eq!(message(json!({ "content": parts })).text(), "a\nb");
        assert_eq!(message(json!({ "content": null, "refusal": "no" })).text(), "no");
        assert_eq!(message(json!({ "content": "", "tool_calls": null })).items, []);
    }

    #[test]
    fn an_answer_may_be_cut_or_none() {
        let cut = |reason: &str| {
            read(&json!({ "choices": [{ "message": { "content": "a" }, "finish_reason": reason }] }), 0)
                .expect("an answer")
                .cut
        };
        assert_eq!(
            (cut("length"), cut("content_filter"), cut("stop")),
            (Some(Cut::TooLong), Some(Cut::Filtered), None)
        );
        for none in
            [json!(null), json!({}), json!({ "choices": [] }), json!({ "choices": [{ "message": "a" }] })]
        {
            assert!(matches!(read(&none, 0), Err(ModelError::Unreadable { .. })), "{none}");
        }
        let error = read(&json!({ "error": { "code": "rate_limit_exceeded" } }), 0).expect_err("an error");
        assert!(error.is_passing());
        let usage = json!({ "prompt_tokens": 5, "completion_tokens": 2, "prompt_tokens_details": { "cached_tokens": 4 } });
        let answer = read(&json!({ "choices": [{ "message": {} }], "usage": usage }), 0).expect("an answer");
        assert_eq!((answer.usage.input_tokens, answer.usage.cached_input_tokens), (5, 4));
    }
}
