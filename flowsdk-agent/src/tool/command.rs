//! What a call asks for, checked before anything happens.

use flowsdk_core::event::Sentiment;
use flowsdk_core::message::{
    AsSent, Capabilities, Carousel, CarouselCard, ContentKind, ContentMessage, QuickReplies, QuickReply,
};
use flowsdk_core::text::Language;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::NativeTool;
use super::schema::LONGEST_QUERY;

/// What a call asks for.
#[derive(Debug, Clone, PartialEq)]
pub enum Command {
    /// Writes to the contact. The content fits the channel.
    Send(ContentMessage),
    /// Hands the conversation to another agent.
    TransferToAgent {
        /// Whoever is to get it, as the model wrote the id.
        agent_id: String,
        /// What they are to know.
        handoff_context: String,
        /// What the contact said last.
        last_user_input: String,
        /// Whether it comes back.
        returns: bool,
    },
    /// Ends the part of the agent.
    End {
        /// Why; `agentEndReason` of the flow.
        reason: Option<String>,
        /// What the agent before is to know.
        completion_context: Option<String>,
    },
    /// Hands the conversation to people.
    TransferToHuman {
        /// Why.
        reason: Option<String>,
    },
    /// Gives the contact more time, in minutes: more than 0, at most a week.
    ExtendInactivity(f64),
    /// Sets a variable of the session.
    SetVariable(String, Value),
    /// Removes a variable of the session.
    DeleteVariable(String),
    /// Sets a variable of the contact.
    SetContactVariable(String, Value),
    /// Searches the knowledge of the agent.
    Search(String),
    /// Notes the sentiment of the contact.
    NoteSentiment(SentimentNote),
}

/// How the contact feels, as a model judges it.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SentimentNote {
    /// The category.
    pub sentiment: Sentiment,
    /// How strong it is, from 0 to 10.
    pub score: f64,
    /// The words of the contact that show it.
    pub signals: Vec<String>,
    /// Whether a human should look soon.
    pub escalation_risk: bool,
    /// Anything else.
    #[serde(default)]
    pub note: Option<String>,
}

impl SentimentNote {
    /// Cuts what is longer than anybody reads: it is in the session and in its ticket.
    fn shorten(&mut self) {
        let cut = |text: &mut String, most: usize| {
            if let Some((at, _)) = text.char_indices().nth(most) {
                text.truncate(at);
            }
        };
        self.signals.truncate(MOST_SIGNALS);
        self.signals.iter_mut().for_each(|signal| cut(signal, LONGEST_SIGNAL));
        self.note.iter_mut().for_each(|note| cut(note, LONGEST_NOTE));
    }
}

/// Arguments that cannot be used. The text tells the model what to correct.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Rejection(pub String);

/// Reads the arguments of a call on a channel. Nothing has happened when they are rejected. Fields that the tool does not have
/// are left out of account.
///
/// # Errors
/// [`Rejection`]: the arguments are no JSON, are cut off, lack a field, or are beyond the limits of the channel.
pub fn read(tool: NativeTool, arguments: &str, channel: &Capabilities) -> Result<Command, Rejection> {
    use NativeTool as T;
    Ok(match tool {
        T::SendTextMessage => {
            let SendText { text } = parse(arguments)?;
            send(json!({ "type": "text", "text": { "body": text } }), channel)?
        }
        T::SendButtonMessage => buttons(parse(arguments)?, channel)?,
        T::SendListMessage => {
            let SendList { body, button_text, sections } = parse(arguments)?;
            let action = json!({ "button": button_text, "sections": sections });
            let list = json!({ "type": "list", "body": { "text": body }, "action": action });
            send(json!({ "type": "interactive", "interactive": list }), channel)?
        }
        T::SendImageMessage => file("image", parse(arguments)?, channel)?,
        T::SendAudioMessage => file("audio", parse(arguments)?, channel)?,
        T::SendVideoMessage => file("video", parse(arguments)?, channel)?,
        T::SendDocumentMessage => {
            let document: SendFile = parse(arguments)?;
            if document.filename.as_deref().is_none_or(str::is_empty) {
                return Err(Rejection("filename: a document has a name".to_owned()));
            }
            file("document", document, channel)?
        }
        T::SendCarouselMessage => {
            let SendCarousel { elements } = parse(arguments)?;
            checked(ContentMessage::Carousel { carousel: Carousel { elements } }, channel)?
        }
        T::TransferToAgent => {
            let Transfer { agent_id, handoff_context, last_user_input, return_to_orchestrator } =
                parse(arguments)?;
            Command::TransferToAgent {
                agent_id,
                handoff_context,
                last_user_input,
                returns: return_to_orchestrator,
            }
        }
        T::EndAgentSession => {
            let End { reason, completion_context } = parse(arguments)?;
            Command::End {
                reason: reason_of(reason)?,
                completion_context: completion_context.filter(|text| is_said(text)),
            }
        }
        T::TransferToHuman => {
            let ToHuman { reason } = parse(arguments)?;
            Command::TransferToHuman { reason: reason_of(reason)? }
        }
        T::ExtendInactivityTimeout => {
            let Extend { minutes } = parse(arguments)?;
            if !(minutes > 0.0 && minutes <= MOST_MINUTES) {
                return Err(Rejection(format!("minutes: a number above 0, at most {MOST_MINUTES}")));
            }
            Command::ExtendInactivity(minutes)
        }
        T::SetVariable => {
            let Pair { key, value } = pair(arguments)?;
            Command::SetVariable(key, value)
        }
        T::SetContactVariable => {
            let Pair { key, value } = pair(arguments)?;
            Command::SetContactVariable(key, value)
        }
        T::DeleteVariable => {
            let Key { key } = parse(arguments)?;
            Command::DeleteVariable(name(key)?)
        }
        T::RagSearch => {
            let Query { query } = parse(arguments)?;
            let length = query.chars().count();
            if query.trim().is_empty() || length > LONGEST_QUERY {
                return Err(Rejection(format!("query: 1 to {LONGEST_QUERY} characters, not {length}")));
            }
            Command::Search(query)
        }
        T::UpdateSentiment => {
            let mut note: SentimentNote = parse(arguments)?;
            if !(0.0..=10.0).contains(&note.score) {
                return Err(Rejection("score: a number from 0 to 10".to_owned()));
            }
            note.shorten();
            Command::NoteSentiment(note)
        }
    })
}

/// Most signals of a sentiment that are kept, and most characters of one and of the note.
const MOST_SIGNALS: usize = 10;
const LONGEST_SIGNAL: usize = 200;
const LONGEST_NOTE: usize = 500;

/// Most characters of a reason, which becomes a variable of the session.
const LONGEST_REASON: usize = 500;

fn reason_of(reason: Option<String>) -> Result<Option<String>, Rejection> {
    match reason.filter(|text| is_said(text)) {
        Some(reason) if reason.chars().count() > LONGEST_REASON => {
            Err(Rejection(format!("reason: at most {LONGEST_REASON} characters")))
        }
        reason => Ok(reason),
    }
}

fn is_said(text: &str) -> bool {
    !text.trim().is_empty()
}

/// Most minutes by which a contact is given more time: a week.
const MOST_MINUTES: f64 = 10_080.0;

/// Most characters of a value that is remembered.
const LONGEST_VALUE: usize = 4_096;

/// Most characters of the name of a variable.
const LONGEST_KEY: usize = 100;

fn name(key: String) -> Result<String, Rejection> {
    let key = key.trim().to_owned();
    let is_name = !key.is_empty() && key.chars().count() <= LONGEST_KEY && !key.contains(['{', '}']);
    if is_name {
        Ok(key)
    } else {
        Err(Rejection(format!("key: a name of 1 to {LONGEST_KEY} characters without braces")))
    }
}

fn pair(arguments: &str) -> Result<Pair, Rejection> {
    let Pair { key, value } = parse(arguments)?;
    let fits = match &value {
        Value::String(text) => text.chars().count() <= LONGEST_VALUE,
        Value::Number(_) | Value::Bool(_) => true,
        _ => false,
    };
    if !fits {
        let why = format!("value: a text of at most {LONGEST_VALUE} characters, a number, or true or false");
        return Err(Rejection(why));
    }
    Ok(Pair { key: name(key)?, value })
}

fn buttons(SendButtons { body, buttons }: SendButtons, channel: &Capabilities) -> Result<Command, Rejection> {
    if channel.carry(ContentKind::QuickReplies) {
        let reply = |Button { id, title }| QuickReply { title, payload: id };
        let quick_replies = buttons.into_iter().map(reply).collect();
        let content = ContentMessage::QuickReplies { quick_replies: QuickReplies { body, quick_replies } };
        return checked(content, channel);
    }
    let reply =
        |Button { id, title }: &Button| json!({ "type": "reply", "reply": { "id": id, "title": title } });
    let replies: Vec<Value> = buttons.iter().map(reply).collect();
    let message = json!({ "type": "button", "body": { "text": body }, "action": { "buttons": replies } });
    send(json!({ "type": "interactive", "interactive": message }), channel)
}

fn file(
    kind: &str,
    SendFile { url, caption, filename }: SendFile,
    channel: &Capabilities,
) -> Result<Command, Rejection> {
    let mut media = json!({ "link": url });
    if let Some(caption) = caption.filter(|text| is_said(text)) {
        media["caption"] = caption.into();
    }
    if let Some(filename) = filename {
        media["filename"] = filename.into();
    }
    send(json!({ "type": kind, kind: media }), channel)
}

/// Reads a phone-shaped content.
fn send(content: Value, channel: &Capabilities) -> Result<Command, Rejection> {
    let content = ContentMessage::deserialize(content).map_err(|error| Rejection(error.to_string()))?;
    checked(content, channel)
}

fn checked(content: ContentMessage, channel: &Capabilities) -> Result<Command, Rejection> {
    let flaws = content.flaws(&channel.limits, &AsSent);
    if flaws.is_empty() {
        return Ok(Command::Send(content));
    }
    let flaws = flaws
        .iter()
        .map(|flaw| format!("{}: {}", flaw.pointer, flaw.kind.message().into_language(Language::English)));
    Err(Rejection(flaws.collect::<Vec<_>>().join("; ")))
}

fn parse<T: DeserializeOwned>(arguments: &str) -> Result<T, Rejection> {
    let mut reader = serde_json::Deserializer::from_str(arguments);
    let read = serde_path_to_error::deserialize(&mut reader).map_err(|error| {
        let (place, error) = (error.path().to_string(), error.inner());
        let is_cut = error.is_eof();
        let why = if is_cut {
            "the arguments are cut off: call again with shorter ones".to_owned()
        } else {
            error.to_string()
        };
        if place == "." { Rejection(why) } else { Rejection(format!("{place}: {why}")) }
    })?;
    reader.end().map_err(|error| Rejection(error.to_string()))?;
    Ok(read)
}

#[derive(Deserialize)]
struct SendText {
    text: String,
}

#[derive(Deserialize)]
struct SendButtons {
    body: String,
    buttons: Vec<Button>,
}

#[derive(Deserialize)]
struct Button {
    id: String,
    title: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SendList {
    body: String,
    button_text: String,
    sections: Vec<flowsdk_core::message::ListSection>,
}

#[derive(Deserialize)]
struct SendFile {
    url: String,
    #[serde(default)]
    caption: Option<String>,
    #[serde(default)]
    filename: Option<String>,
}

#[derive(Deserialize)]
struct SendCarousel {
    elements: Vec<CarouselCard>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Transfer {
    agent_id: String,
    handoff_context: String,
    last_user_input: String,
    #[serde(default)]
    return_to_orchestrator: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct End {
    #[serde(default)]
    reason: Option<String>,
    #[serde(default)]
    completion_context: Option<String>,
}

#[derive(Deserialize)]
struct ToHuman {
    #[serde(default)]
    reason: Option<String>,
}

#[derive(Deserialize)]
struct Extend {
    minutes: f64,
}

#[derive(Deserialize)]
struct Pair {
    key: String,
    value: Value,
}

#[derive(Deserialize)]
struct Key {
    key: String,
}

#[derive(Deserialize)]
struct Query {
    query: String,
}

#[cfg(test)]
mod tests {
    use flowsdk_core::session::Channel;
    use proptest::prelude::*;

    use super::*;

    fn call(tool: NativeTool, arguments: Value) -> Result<Command, String> {
        read_on(Channel::Phone, tool, &arguments.to_string())
    }

    fn read_on(channel: Channel, tool: NativeTool, arguments: &str) -> Result<Command, String> {
        read(tool, arguments, channel.capabilities()).map_err(|Rejection(why)| why)
    }

    fn sent(command: Result<Command, String>) -> Value {
        match command.expect("a command") {
            Command::Send(content) => serde_json::to_value(content).expect("JSON"),
            other => panic!("{other:?}"),
        }
    }

    fn buttons(count: usize) -> Value {
        let button = |number| json!({ "id": format!("b{number}"), "title": format!("B{number}") });
        json!({ "body": "Which?", "buttons": (0..count).map(button).collect::<Vec<_>>() })
    }

    fn list(rows: usize) -> Value {
        let row = |number| json!({ "id": format!("r{number}"), "title": format!("R{number}") });
        json!({ "body": "Which?", "buttonText": "Open",
            "sections": [{ "title": "All", "rows": (0..rows).map(row).collect::<Vec<_>>() }] })
    }

    #[test]
    fn messages_are_phone_shaped() {
        let text = sent(call(NativeTool::SendTextMessage, json!({ "text": "oi", "mood": "extra" })));
        assert_eq!(text, json!({ "type": "text", "text": { "body": "oi" } }));
        let asked = sent(call(NativeTool::SendButtonMessage, buttons(3)));
        assert_eq!(asked["interactive"]["action"]["buttons"][2]["reply"]["id"], "b2");
        let chosen = sent(call(NativeTool::SendListMessage, list(10)));
        assert_eq!(chosen["interactive"]["action"]["sections"][0]["rows"][9]["title"], "R9");
        let link = "https://a.example/f";
        let image = sent(call(NativeTool::SendImageMessage, json!({ "url": link, "caption": "" })));
        assert_eq!(image, json!({ "type": "image", "image": { "link": link } }));
        let file = json!({ "url": link, "filename": "a.pdf", "caption": "See" });
        let document = sent(call(NativeTool::SendDocumentMessage, file));
        assert_eq!(document["document"], json!({ "link": link, "filename": "a.pdf", "caption": "See" }));
    }

    #[test]
    fn buttons_are_quick_replies_on_social_channels() {
        let read = |count: usize| {
            read_on(Channel::Social, NativeTool::SendButtonMessage, &buttons(count).to_string())
        };
        assert_eq!(
            sent(read(13))["igQuickReply"]["quickReplies"][12],
            json!({ "title": "B12", "payload": "b12" })
        );
        assert!(read(14).is_err());
        let cards =
            json!({ "elements": [{ "title": "Tea", "buttons": [{ "title": "Buy", "payload": "tea" }] }] });
        let carousel = read_on(Channel::Social, NativeTool::SendCarouselMessage, &cards.to_string());
        assert_eq!(sent(carousel)["igCarousel"]["elements"][0]["title"], "Tea");
    }

    #[test]
    fn what_is_beyond_the_channel_is_told() {
        for (tool, arguments, expected) in [
            (
                NativeTool::SendTextMessage,
                json!({ "text": "x".repeat(4_097) }),
                "4097 characters of at most 4096",
            ),
            (NativeTool::SendTextMessage, json!({ "text": " " }), "may not be empty"),
            (NativeTool::SendTextMessage, json!({}), "missing field `text`"),
            (NativeTool::SendTextMessage, json!({ "text": 7 }), "text: invalid type"),
            (NativeTool::SendButtonMessage, buttons(4), "1 to 3"),
            (NativeTool::SendButtonMessage, buttons(0), "1 to 3"),
            (NativeTool::SendListMessage, list(11), "1 to 10"),
            (NativeTool::SendImageMessage, json!({ "url": "file:///etc/passwd" }), "starts with https://"),
            (NativeTool::SendDocumentMessage, json!({ "url": "https://a.example/f" }), "has a name"),
            (NativeTool::RagSearch, json!({ "query": "x".repeat(501) }), "1 to 500 characters, not 501"),
            (NativeTool::RagSearch, json!({ "query": " " }), "1 to 500"),
            (NativeTool::ExtendInactivityTimeout, json!({ "minutes": 0 }), "above 0"),
            (NativeTool::ExtendInactivityTimeout, json!({ "minutes": "5" }), "minutes: invalid type"),
            (NativeTool::ExtendInactivityTimeout, json!({ "minutes": 1e308 }), "at most 10080"),
            (NativeTool::SetVariable, json!({ "key": "a", "value": {} }), "value: a text"),
            (NativeTool::SetVariable, json!({ "key": "a", "value": null }), "value: a text"),
            (
                NativeTool::SetContactVariable,
                json!({ "key": "a", "value": "x".repeat(4_097) }),
                "value: a text",
            ),
            (NativeTool::SetVariable, json!({ "key": " ", "value": 1 }), "key: a name"),
            (NativeTool::SetContactVariable, json!({ "key": "a{{b}}", "value": 1 }), "key: a name"),
            (NativeTool::DeleteVariable, json!({ "key": "x".repeat(101) }), "key: a name"),
            (NativeTool::TransferToAgent, json!({ "agentId": "a" }), "handoffContext"),
            (
                NativeTool::UpdateSentiment,
                json!({ "sentiment": "bored", "score": 1, "signals": [], "escalationRisk": false }),
                "sentiment: unknown variant `bored`",
            ),
            (
                NativeTool::UpdateSentiment,
                json!({ "sentiment": "angry", "score": 11, "signals": [], "escalationRisk": true }),
                "0 to 10",
            ),
        ] {
            let why = call(tool, arguments.clone()).expect_err("rejected");
            assert!(why.contains(expected), "{tool:?} {arguments}: {why}");
        }
    }

    #[test]
    fn a_sentiment_is_cut_to_what_people_read() {
        let long = "é".repeat(1_000);
        let arguments = json!({ "sentiment": "angry", "score": 1, "signals": vec![&long; 30], "escalationRisk": true,
            "note": long });
        let Ok(Command::NoteSentiment(note)) = call(NativeTool::UpdateSentiment, arguments) else {
            panic!("a note")
        };
        let lengths: Vec<usize> = note.signals.iter().map(|signal| signal.chars().count()).collect();
        assert_eq!(lengths, [LONGEST_SIGNAL; MOST_SIGNALS]);
        assert_eq!(note.note.map(|note| note.chars().count()), Some(LONGEST_NOTE));
    }

    #[test]
    fn arguments_that_are_cut_off_are_told_so() {
        for cut in ["", "{", "{\"text\":", "{\"text\":\"Hel"] {
            let why = read_on(Channel::Phone, NativeTool::SendTextMessage, cut).expect_err("rejected");
            assert!(why.contains("cut off"), "{cut}: {why}");
        }
        let why = read_on(Channel::Phone, NativeTool::SendTextMessage, "{\"text\":\"a\"} and more");
        assert!(why.expect_err("rejected").contains("trailing"));
    }

    #[test]
    fn actions_are_read() {
        let ended =
            call(NativeTool::EndAgentSession, json!({ "reason": "resolved", "completionContext": " " }));
        assert_eq!(ended, Ok(Command::End { reason: Some("resolved".to_owned()), completion_context: None }));
        let human = call(NativeTool::TransferToHuman, json!({}));
        assert_eq!(human, Ok(Command::TransferToHuman { reason: None }));
        let set = call(NativeTool::SetVariable, json!({ "key": " plan ", "value": "gold" }));
        assert_eq!(set, Ok(Command::SetVariable("plan".to_owned(), "gold".into())));
        let transfer = json!({ "agentId": "a1", "handoffContext": "c", "lastUserInput": "l", "returnToOrchestrator": true });
        let Ok(Command::TransferToAgent { agent_id, returns, .. }) =
            call(NativeTool::TransferToAgent, transfer)
        else {
            panic!("a transfer")
        };
        assert_eq!((agent_id.as_str(), returns), ("a1", true));
    }

    proptest! {
        /// Whatever a model writes is a command or a rejection, on every channel.
        #[test]
        fn no_arguments_are_too_odd(tool in 0..NativeTool::ALL.len(), arguments in "\\PC{0,40}|\\{\"(text|body|url|key|query)\":.{0,20}\\}") {
            for channel in Channel::ALL {
                let _ = read(NativeTool::ALL[tool], &arguments, channel.capabilities());
            }
        }
    }
}
