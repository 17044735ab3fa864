//! What interactive forms ask their endpoint, and what they are answered (WhatsApp Flows, "Implementing Endpoints for
//! Flows", data API 3.0).

use flowsdk_core::flow::definition::{Parameter, ParameterKind};
use serde::Deserialize;
use serde_json::{Map, Value, json};

/// The screen that ends a form.
const SUCCESS: &str = "SUCCESS";

/// What a form asks.
#[derive(Debug, Clone, PartialEq)]
pub enum FormQuestion {
    /// The provider checks that the endpoint is there.
    Ping,
    /// The app of a contact could not show what it was answered.
    ErrorNotice(Value),
    /// A contact opened the form, sent a screen, or went back to one.
    Screen(ScreenQuestion),
}

/// A question about a screen.
#[derive(Debug, Clone, PartialEq)]
pub struct ScreenQuestion {
    /// `INIT`, `BACK` or `data_exchange`.
    pub action: String,
    /// The screen that asks; `None` where none is shown yet.
    pub screen: Option<String>,
    /// What the contact filled in, and what the form adds.
    pub data: Map<String, Value>,
    /// Our id of the message that opened the form.
    pub flow_token: String,
}

impl FormQuestion {
    /// Reads a question; `None` of anything else.
    pub fn read(clear: &[u8]) -> Option<Self> {
        #[derive(Deserialize)]
        struct Wire {
            action: Option<String>,
            screen: Option<String>,
            data: Option<Value>,
            flow_token: Option<String>,
        }
        let Wire { action, screen, data, flow_token } = serde_json::from_slice(clear).ok()?;
        let action = action?;
        if action.eq_ignore_ascii_case("ping") {
            return Some(Self::Ping);
        }
        let data = match data {
            None | Some(Value::Null) => Map::new(),
            Some(Value::Object(data)) => data,
            Some(_) => return None,
        };
        if data.contains_key("error") {
            return Some(Self::ErrorNotice(Value::Object(data)));
        }
        if !["init", "back", "data_exchange"].iter().any(|known| action.eq_ignore_ascii_case(known)) {
            return None;
        }
        let screen = screen.filter(|screen| !screen.is_empty());
        Some(Self::Screen(ScreenQuestion {
            action,
            screen,
            data,
            flow_token: flow_token.unwrap_or_default(),
        }))
    }
}

impl ScreenQuestion {
    /// Returns the arguments of a tool: what of the question its parameters name. `action`, `screen`, `data` and
    /// `flowToken` are the question; every other name is a field of `data`.
    pub fn arguments(&self, parameters: &[Parameter]) -> Map<String, Value> {
        let value = |parameter: &Parameter| match (parameter.name.as_str(), parameter.kind) {
            ("action", ParameterKind::String) => Some(self.action.as_str().into()),
            ("screen", ParameterKind::String) => self.screen.as_deref().map(Value::from),
            ("flowToken", ParameterKind::String) => Some(self.flow_token.as_str().into()),
            ("data", ParameterKind::Object) => Some(Value::Object(self.data.clone())),
            (name, _) => self.data.get(name).cloned(),
        };
        parameters.iter().filter_map(|one| Some((one.name.clone(), value(one)?))).collect()
    }
}

/// What a form is answered.
#[derive(Debug, Clone, PartialEq)]
pub enum FormAnswer {
    /// The endpoint is there.
    Active,
    /// The error is noted.
    Acknowledged,
    /// The next screen, or the same one again.
    Screen {
        /// Its id.
        screen: String,
        /// What it is filled with.
        data: Map<String, Value>,
    },
    /// The form ends, and its answers come as a message of the contact.
    Finished {
        /// The token of the form.
        flow_token: String,
        /// The answers.
        params: Map<String, Value>,
    },
    /// The form counts no more: the contact is told `message`.
    Expired {
        /// The words for the contact.
        message: String,
    },
}

impl FormAnswer {
    /// Returns the answer to a question from what a tool gives back: `screen`, and its `data`. Without a `screen` the same
    /// one is shown again; `SUCCESS` ends the form with `data` as its answers. Everything else that it gives back is
    /// added to `data`. `None`, if there is no screen to show, or it is no text.
    pub fn of(question: &ScreenQuestion, mut returns: Map<String, Value>) -> Option<Self> {
        let screen = match returns.remove("screen") {
            Some(Value::String(screen)) if !screen.is_empty() => screen,
            None | Some(Value::Null | Value::String(_)) => question.screen.clone()?,
            // A screen that has no such name would be a form that does not move on.
            Some(_) => return None,
        };
        let mut data = match returns.remove("data") {
            Some(Value::Object(data)) => data,
            _ => Map::new(),
        };
        data.extend(returns);
        Some(if screen == SUCCESS {
            Self::Finished { flow_token: question.flow_token.clone(), params: data }
        } else {
            Self::Screen { screen, data }
        })
    }

    /// Returns the answer as the provider reads it.
    pub fn to_json(&self) -> Value {
        match self {
            Self::Active => json!({ "data": { "status": "active" } }),
            Self::Acknowledged => json!({ "data": { "acknowledged": true } }),
            Self::Screen { screen, data } => json!({ "screen": screen, "data": data }),
            Self::Finished { flow_token, params } => {
                let mut params = params.clone();
                params.insert("flow_token".to_owned(), flow_token.as_str().into());
                json!({ "screen": SUCCESS, "data": { "extension_message_response": { "params": params } } })
            }
            Self::Expired { message } => json!({ "error_msg": message }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(question: Value) -> Option<FormQuestion> {
        FormQuestion::read(question.to_string().as_bytes())
    }

    fn fields(value: Value) -> Map<String, Value> {
        value.as_object().expect("an object").clone()
    }

    #[test]
    fn questions_are_read() {
        let screen = |action: &str, screen: Option<&str>, data: Value, token: &str| {
            Some(FormQuestion::Screen(ScreenQuestion {
                action: action.to_owned(),
                screen: screen.map(str::to_owned),
                data: fields(data),
                flow_token: token.to_owned(),
            }))
        };
        let failed = json!({ "error": "x", "error_message": "y" });
        for (question, expected) in [
            (json!({ "version": "3.0", "action": "ping" }), Some(FormQuestion::Ping)),
            (json!({ "action": "INIT", "flow_token": "t" }), screen("INIT", None, json!({}), "t")),
            (
                json!({ "action": "data_exchange", "screen": "A", "data": { "size": 2 }, "flow_token": "t" }),
                screen("data_exchange", Some("A"), json!({ "size": 2 }), "t"),
            ),
            (json!({ "action": "BACK", "screen": "", "data": null }), screen("BACK", None, json!({}), "")),
            (
                json!({ "action": "data_exchange", "data": failed }),
                Some(FormQuestion::ErrorNotice(failed.clone())),
            ),
            (json!({ "action": "navigate" }), None),
            (json!({ "action": "INIT", "data": [1] }), None),
            (json!({ "screen": "A" }), None),
            (json!([]), None),
        ] {
            assert_eq!(read(question.clone()), expected, "{question}");
        }
        assert_eq!(FormQuestion::read(b"no JSON"), None);
    }

    #[test]
    fn tools_get_what_their_parameters_name() {
        let question = ScreenQuestion {
            action: "INIT".to_owned(),
            screen: None,
            data: fields(json!({ "size": 2, "colour": "red" })),
            flow_token: "t".to_owned(),
        };
        let parameter = |name: &str, kind: ParameterKind| Parameter {
            name: name.to_owned(),
            kind,
            description: None,
            required: false,
        };
        let parameters = [
            parameter("action", ParameterKind::String),
            parameter("screen", ParameterKind::String),
            parameter("data", ParameterKind::Object),
            parameter("flowToken", ParameterKind::String),
            parameter("size", ParameterKind::Integer),
            parameter("shape", ParameterKind::String),
        ];
        assert_eq!(
            Value::Object(question.arguments(&parameters)),
            json!({ "action": "INIT", "data": { "size": 2, "colour": "red" }, "flowToken": "t", "size": 2 })
        );
        assert_eq!(question.arguments(&[]), Map::new());
    }

    #[test]
    fn what_a_tool_gives_back_is_the_answer() {
        let question = |screen: Option<&str>| ScreenQuestion {
            action: "data_exchange".to_owned(),
            screen: screen.map(str::to_owned),
            data: Map::new(),
            flow_token: "t".to_owned(),
        };
        for (shown, returns, answer) in [
            (
                Some("A"),
                json!({ "screen": "B", "data": { "x": 1 } }),
                Some(json!({ "screen": "B", "data": { "x": 1 } })),
            ),
            (
                Some("A"),
                json!({ "error_message": "?" }),
                Some(json!({ "screen": "A", "data": { "error_message": "?" } })),
            ),
            (Some("A"), json!({ "screen": "", "data": "odd" }), Some(json!({ "screen": "A", "data": {} }))),
            (None, json!({ "data": {} }), None),
            (Some("A"), json!({ "screen": 7 }), None),
            (
                Some("A"),
                json!({ "screen": "SUCCESS", "size": 2, "data": { "flow_token": "forged" } }),
                Some(json!({ "screen": "SUCCESS", "data": { "extension_message_response": {
                    "params": { "flow_token": "t", "size": 2 } } } })),
            ),
        ] {
            let made =
                FormAnswer::of(&question(shown), fields(returns.clone())).map(|answer| answer.to_json());
            assert_eq!(made, answer, "{returns}");
        }
        assert_eq!(FormAnswer::Active.to_json(), json!({ "data": { "status": "active" } }));
    }
}
