//! The Responses API, which keeps conversations.

use std::collections::HashSet;

use flowsdk_core::event::TokenUsage;
use serde_json::{Value, json};

use super::error::of_failed_response;
use super::lenient::{count, text_of};
use crate::model::{Answer, Cut, Item, ModelError, ModelRequest, ToolCall};

/// Returns the body of a request whose answer is streamed.
pub(super) fn body(request: &ModelRequest<'_>) -> Value {
    let input: Vec<Value> = request.new_items().iter().map(input_item).collect();
    let tool = |tool: &crate::model::ToolDefinition| {
        // Without `strict: false` the provider wants every parameter to be required.
        json!({ "type": "function", "name": tool.name, "description": tool.description,
            "parameters": tool.parameters, "strict": false })
    };
    let mut body = json!({
        "model": request.model,
        "instructions": request.instructions,
        "input": input,
        "stream": true,
    });
    if !request.tools.is_empty() {
        body["tools"] = request.tools.iter().map(tool).collect();
    }
    if let Some(known) = request.known {
        body["previous_response_id"] = known.response_id.into();
    }
    if let Some(limit) = request.max_output_tokens {
        body["max_output_tokens"] = limit.into();
    }
    body
}

fn input_item(item: &Item) -> Value {
    match item {
        Item::User { text, images } => {
            let mut content = vec![json!({ "type": "input_text", "text": text })];
            content.extend(images.iter().map(|url| json!({ "type": "input_image", "image_url": url })));
            json!({ "type": "message", "role": "user", "content": content })
        }
        Item::Assistant { text } => json!({ "type": "message", "role": "assistant",
            "content": [{ "type": "output_text", "text": text }] }),
        Item::ToolCall(call) => json!({ "type": "function_call", "call_id": call.id, "name": call.name,
            "arguments": call.arguments }),
        Item::ToolResult { call_id, output } => {
            json!({ "type": "function_call_output", "call_id": call_id, "output": output })
        }
    }
}

/// Reads an event of a stream. Returns the answer, if the event ends it.
pub(super) fn read_event(event: &Value) -> Option<Result<Answer, ModelError>> {
    match event["type"].as_str()? {
        "response.completed" => Some(read(&event["response"])),
        "response.incomplete" => Some(
            read(&event["response"])
                .map(|answer| Answer { cut: answer.cut.or(Some(Cut::TooLong)), ..answer }),
        ),
        "response.failed" => Some(Err(of_failed_response(&event["response"]["error"]))),
        // Its fields stand in the event itself, or below `error`.
        "error" => {
            let error = if event["error"].is_object() { &event["error"] } else { event };
            Some(Err(of_failed_response(error)))
        }
        _ => None,
    }
}

/// Reads a whole response.
///
/// # Errors
/// [`ModelError`]: the response failed, or is none.
pub(super) fn read(response: &Value) -> Result<Answer, ModelError> {
    if let Some("failed" | "cancelled") = response["status"].as_str() {
        return Err(of_failed_response(&response["error"]));
    }
    let Some(output) = response["output"].as_array() else {
        return Err(ModelError::Unreadable { reason: "a response without output".to_owned() });
    };
    let mut answer = Answer {
        response_id: response["id"].as_str().map(str::to_owned),
        cut: cut(&response["incomplete_details"]["reason"]),
        usage: usage(&response["usage"]),
        ..Answer::default()
    };
    let mut ids = HashSet::new();
    for item in output {
        match item["type"].as_str() {
            Some("message") => answer.items.extend(texts(item).map(|text| Item::Assistant { text })),
            // The provider takes one result for each id, so a second call of the same id is none.
            Some("function_call") => match call(item).filter(|call| ids.insert(call.id.clone())) {
                Some(call) => answer.items.push(Item::ToolCall(call)),
                None => answer.other.push(item.clone()),
            },
            _ => answer.other.push(item.clone()),
        }
    }
    Ok(answer)
}

fn texts(message: &Value) -> impl Iterator<Item = String> {
    let parts = message["content"].as_array().into_iter().flatten();
    let text = |part: &Value| part["text"].as_str().or_else(|| part["refusal"].as_str()).map(str::to_owned);
    parts.filter_map(text).filter(|text| !text.is_empty())
}

fn call(item: &Value) -> Option<ToolCall> {
    let id = item["call_id"].as_str().filter(|id| !id.is_empty())?;
    let name = item["name"].as_str().unwrap_or_default();
    Some(ToolCall { id: id.to_owned(), name: name.to_owned(), arguments: text_of(&item["arguments"]) })
}

fn cut(reason: &Value) -> Option<Cut> {
    match reason.as_str()? {
        "content_filter" => Some(Cut::Filtered),
        _ => Some(Cut::TooLong),
    }
}

fn usage(usage: &Value) -> TokenUsage {
    TokenUsage {
        input_tokens: count(&usage["input_tokens"]),
        cached_input_tokens: count(&usage["input_tokens_details"]["cached_tokens"]),
        output_tokens: count(&usage["output_tokens"]),
        reasoning_tokens: count(&usage["output_tokens_details"]["reasoning_tokens"]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Known, ToolDefinition};

    fn request<'a>(items: &'a [Item], tools: &'a [ToolDefinition]) -> ModelRequest<'a> {
        ModelRequest {
            model: "gpt",
            instructions: "Be kind.",
            items,
            known: None,
            tools,
            max_output_tokens: None,
        }
    }

    #[test]
    fn a_request_goes_on_from_what_the_provider_has() {
        let call = ToolCall { id: "c1".to_owned(), name: "look".to_owned(), arguments: "{}".to_owned() };
        let items = [Item::user("hi"), Item::ToolCall(call), Item::result("c1", "found")];
        let tools = [ToolDefinition {
            name: "look".to_owned(),
            description: "Looks.".to_owned(),
            parameters: json!({ "type": "object" }),
        }];
        let whole = body(&request(&items, &tools));
        assert_eq!(whole["input"].as_array().map(Vec::len), Some(3));
        assert_eq!(whole["input"][0]["content"][0]["text"], "hi");
        assert_eq!(whole["input"][1]["type"], "function_call");
        assert_eq!((&whole["tools"][0]["strict"], &whole["stream"]), (&json!(false), &json!(true)));
        assert_eq!(whole.get("previous_response_id"), None);
        let known = Some(Known { response_id: "resp_1", items: 2 });
        let rest = body(&ModelRequest { known, max_output_tokens: Some(9), ..request(&items, &[]) });
        assert_eq!(
            rest["input"],
            json!([{ "type": "function_call_output", "call_id": "c1", "output": "found" }])
        );
        assert_eq!(
            (&rest["previous_response_id"], &rest["instructions"]),
            (&"resp_1".into(), &"Be kind.".into())
        );
        assert_eq!((&rest["max_output_tokens"], rest.get("tools")), (&json!(9), None));
    }

    #[test]
    fn images_stand_beside_the_text() {
        let items = [Item::User {
            text: "what is it?".to_owned(),
            images: vec!["https://a.example/i.png".to_owned()],
        }];
        let body = body(&request(&items, &[]));
        assert_eq!(
            body["input"][0]["content"][1],
            json!({ "type": "input_image", "image_url": "https://a.example/i.png" })
        );
    }

    #[test]
    fn a_response_has_texts_calls_and_what_is_unknown() {
        let answer = read(&json!({
            "id": "resp_1", "status": "incomplete", "incomplete_details": { "reason": "max_output_tokens" },
            "output": [
                { "type": "reasoning", "id": "rs_1" },
                { "type": "message", "content": [{ "type": "output_text", "text": "a" }, { "type": "refusal", "refusal": "no" }] },
                { "type": "function_call", "call_id": "c1", "name": "look", "arguments": "{\"a\":" },
                { "type": "function_call", "call_id": "c1", "name": "look", "arguments": "{}" },
                { "type": "function_call", "name": "look" },
                { "type": "vendor_thing", "x": 1 },
            ],
            "usage": { "input_tokens": 3, "output_tokens": 2, "output_tokens_details": { "reasoning_tokens": 1 } },
        }));
        let answer = answer.expect("an answer");
        assert_eq!((answer.response_id.as_deref(), answer.cut), (Some("resp_1"), Some(Cut::TooLong)));
        assert_eq!(answer.text(), "a\nno");
        let calls: Vec<_> = answer.tool_calls().map(|call| (&*call.id, &*call.arguments)).collect();
        assert_eq!(calls, [("c1", "{\"a\":")]);
        assert_eq!(answer.other.len(), 4);
        assert_eq!((answer.usage.input_tokens, answer.usage.reasoning_tokens), (3, 1));
    }

    #[test]
    fn the_end_of_a_stream_says_how_it_ended() {
        let end = |kind: &str, response: Value| read_event(&json!({ "type": kind, "response": response }));
        let failed = json!({ "error": { "code": "server_is_overloaded" }, "output": [] });
        let failed = end("response.failed", failed).expect("the end").expect_err("failed");
        assert!(failed.is_passing(), "{failed}");
        let cut = end("response.incomplete", json!({ "output": [] })).expect("the end").expect("an answer");
        assert_eq!(cut.cut, Some(Cut::TooLong));
        assert!(end("response.completed", json!({ "output": [] })).expect("the end").is_ok());
        assert!(end("response.in_progress", json!({ "output": [] })).is_none());
    }

    #[test]
    fn a_response_that_failed_is_an_error() {
        let failed = |error: Value| read(&json!({ "status": "failed", "error": error, "output": [] }));
        let busy = failed(json!({ "code": "server_error" })).expect_err("failed");
        assert!(busy.is_passing(), "{busy}");
        let odd = failed(json!({ "code": "invalid_prompt", "message": "no" })).expect_err("failed");
        assert_eq!(odd, ModelError::Refused { reason: "invalid_prompt: no".to_owned() });
        for none in [json!(null), json!([]), json!({ "id": "x" }), json!({ "output": {} })] {
            assert!(matches!(read(&none), Err(ModelError::Unreadable { .. })), "{none}");
        }
    }
}
