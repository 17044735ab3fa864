//! Tests of interpolation: every token, the rules, hostile texts.

use std::collections::BTreeMap;

use proptest::prelude::*;
use secrecy::SecretString;
use serde_json::{Map, Value, json};

use super::*;
use crate::contact::Contact;
use crate::flow::engine::stage::{NOW, contact, session};
use crate::id::{BlockId, FlowId};
use crate::message::IncomingContent;
use crate::session::{Position, Session, Stop, Waiting};

struct Fixed;

impl Names for Fixed {
    fn flow(&self, flow: &FlowId) -> String {
        format!("Flow {flow}")
    }
    fn block(&self, _: &FlowId, block: &BlockId) -> String {
        format!("Block {block}")
    }
}

/// Everything that a token can read, owned.
struct World {
    session: Session,
    contact: Contact,
    input: Option<IncomingContent>,
    router: BTreeMap<String, SecretString>,
    flow: BTreeMap<String, SecretString>,
    flow_id: FlowId,
    block_id: BlockId,
}

fn id<T: std::str::FromStr>(text: &str) -> T
where
    T::Err: std::fmt::Debug,
{
    text.parse().expect("is an id")
}

fn stop(block: &str) -> Stop {
    Stop {
        flow_id: id("flow1"),
        block_id: id(block),
    }
}

impl World {
    fn new() -> Self {
        let mut session = session();
        session.variables = object(json!({
            "name": "Bia", "count": 3, "ok": true, "nothing": null, "ratio": 1.5,
            "order": { "items": [{ "sku": "A1" }, { "sku": "B2" }], "total": 10 },
            "list": [1, "two"], "lastInput": "before", "contact": "bare",
            "ticket": { "id": "t1", "exit": { "key": "solved", "survey": { "score": 5 } } },
            "handoffDeflect": { "reason": "closed", "detail": "after hours" },
        }));
        session.history = vec![stop("first"), stop("second")];
        session.redirects = vec![stop("jumped")];
        session.position = Some(Position {
            flow_id: id("flow1"),
            version_id: id("v1"),
            block_id: Some(id("second")),
            waiting: Some(Waiting {
                retries: 0,
                deadline: NOW,
            }),
        });
        let mut contact = contact();
        contact.phone_number = "5511999".into();
        contact.variables = object(json!({
            "city": "Recife", "address": { "zip": "50000", "lines": ["a", "b"] },
            "name": "shadowed", "phoneNumber": "shadowed", "whatsapp": { "name": "x" }, "variables": "inner",
        }));
        Self {
            session,
            contact,
            input: Some(content(json!({ "type": "text", "text": { "body": "hello" } }))),
            router: BTreeMap::from([("brand".to_owned(), "ACME".into())]),
            flow: BTreeMap::from([("promo".to_owned(), "X1".into())]),
            flow_id: id("flow1"),
            block_id: id("second"),
        }
    }

    fn hearing(mut self, input: Value) -> Self {
        self.input = Some(content(input));
        self
    }

    fn render(&self, text: &str) -> String {
        Template::parse(text).render(&self.view())
    }

    fn view(&self) -> View<'_> {
        View {
            here: Here {
                flow_id: &self.flow_id,
                flow_name: "Main",
                block_id: Some(&self.block_id),
            },
            session: &self.session,
            contact: &self.contact,
            input: self.input.as_ref(),
            router_variables: &self.router,
            flow_variables: Some(&self.flow),
            now: NOW,
            names: &Fixed,
        }
    }
}

fn object(value: Value) -> Map<String, Value> {
    value.as_object().expect("an object").clone()
}

fn content(value: Value) -> IncomingContent {
    serde_json::from_value(value).expect("parses")
}

#[test]
fn every_token_of_the_table_has_its_value() {
    let world = World::new();
    let state = r#"[{"flow":{"id":"flow1","name":"Flow flow1"},"block":{"id":"first","name":"Block first"}},{"flow":{"id":"flow1","name":"Flow flow1"},"block":{"id":"second","name":"Block second"}}]"#
        .to_owned();
    let state: Value = serde_json::from_str(&state).expect("JSON");
    let state = state.to_string();
    for (token, expected) in [
        ("router.brand", "ACME"),
        ("router.absent", ""),
        ("flow.promo", "X1"),
        ("flow.absent", ""),
        ("contact.name", "Ana"),
        ("contact.phoneNumber", "5511999"),
        ("contact.whatsapp.name", "Ana"),
        ("contact.whatsapp.phoneNumber", "5511999"),
        ("contact.whatsapp", r#"{"name":"Ana","phoneNumber":"5511999"}"#),
        ("contact.whatsapp.other", ""),
        ("contact.city", "Recife"),
        ("contact.address.zip", "50000"),
        ("contact.address.lines.1", "b"),
        ("contact.address.lines", r#"["a","b"]"#),
        ("contact.absent", ""),
        ("contact.variables.city", "Recife"),
        ("contact.variables.address.zip", "50000"),
        ("contact.variables.name", "shadowed"),
        ("contact.variables.phoneNumber", "shadowed"),
        ("contact.variables.whatsapp.name", "x"),
        ("contact.variables.variables", "inner"),
        ("input", "hello"),
        ("input.type", "text"),
        ("input.content", "hello"),
        ("inputMessage", "hello"),
        ("lastInput", "hello"),
        ("input.media.id", ""),
        ("input.media.mimeType", ""),
        ("input.interactive.type", ""),
        ("input.interactive.id", ""),
        ("input.interactive.title", ""),
        ("input.other", ""),
        ("system.now", "2026-11-19T10:57:00.050Z"),
        ("system.other", ""),
        ("session.flowId", "flow1"),
        ("session.routerId", "router1"),
        ("session.blockId", "second"),
        ("session.currentBlockId", "second"),
        ("session.chatId", "chat1"),
        ("session.contactId", "contact1"),
        ("session.mode", "flow"),
        ("session.source", "webchat"),
        ("session.contactIdentity", "wc-chan-visitor"),
        ("session.currentFlow.id", "flow1"),
        ("session.currentFlow.name", "Main"),
        ("session.currentBlock.id", "second"),
        ("session.currentBlock.name", "Block second"),
        ("session.previousBlock.id", "first"),
        ("session.previousBlock.name", "Block first"),
        ("session.sessionHistory", state.as_str()),
        ("session.sessionHistory.0.block.id", "first"),
        ("session.variables.order.total", "10"),
        ("session.variables.list", r#"[1,"two"]"#),
        ("session.expiryTimeout", "1800000"),
        ("session.startedAt", "1795085820050"),
        ("session.lastInteractionAt", "1795085820050"),
        ("session.redirectHistory.0.blockId", "jumped"),
        ("session.*", ""),
        ("session.absent.path", ""),
        ("name", "Bia"),
        ("count", "3"),
        ("ok", "true"),
        ("ratio", "1.5"),
        ("nothing", ""),
        ("absent", ""),
        ("absent.path.0", ""),
        ("order.items.1.sku", "B2"),
        ("order.items.9.sku", ""),
        ("order.items.-1", ""),
        ("order.total.deeper", ""),
        ("list", r#"[1,"two"]"#),
        ("list.0", "1"),
        ("contact", "bare"),
        (
            "ticket",
            r#"{"exit":{"key":"solved","survey":{"score":5}},"id":"t1"}"#,
        ),
        ("ticket.id", "t1"),
        ("ticket.exit.key", "solved"),
        ("ticket.exit.survey", r#"{"score":5}"#),
        ("handoffDeflect.reason", "closed"),
        ("handoffDeflect.detail", "after hours"),
        ("", ""),
        (".", ""),
        ("..", ""),
        ("router.", ""),
        ("contact.", ""),
    ] {
        let rendered = world.render(&format!("<{{{{{token}}}}}>"));
        assert_eq!(rendered, format!("<{expected}>"), "{{{{{token}}}}}");
        let spaced = world.render(&format!("<{{{{ \t{token}\n}}}}>"));
        assert_eq!(spaced, format!("<{expected}>"), "{{{{ {token} }}}} with spaces");
    }
}

#[test]
fn input_tokens_follow_the_type_of_the_message() {
    let media = json!({ "id": "m1", "mime_type": "image/png", "caption": "look", "sha256": "ff" });
    let button = json!({ "type": "interactive",
        "interactive": { "type": "button_reply", "button_reply": { "id": "yes", "title": "Sim" } } });
    let row = json!({ "type": "interactive",
        "interactive": { "type": "list_reply", "list_reply": { "id": "r1", "title": "Row" } } });
    for (input, token, expected) in [
        (json!({ "type": "image", "image": media }), "input.type", "image"),
        (json!({ "type": "image", "image": media }), "input.media.id", "m1"),
        (
            json!({ "type": "image", "image": media }),
            "input.media.mimeType",
            "image/png",
        ),
        (
            json!({ "type": "image", "image": media }),
            "input.media.sha256",
            "ff",
        ),
        (json!({ "type": "image", "image": media }), "input", "look"),
        (json!({ "type": "audio", "audio": media }), "input.type", "audio"),
        (json!({ "type": "video", "video": media }), "input.type", "video"),
        (
            json!({ "type": "document", "document": media }),
            "input.type",
            "document",
        ),
        (
            json!({ "type": "sticker", "sticker": media }),
            "input.media.id",
            "m1",
        ),
        (
            json!({ "type": "location", "location": {} }),
            "input.type",
            "location",
        ),
        (
            json!({ "type": "reaction", "reaction": {} }),
            "input.type",
            "reaction",
        ),
        (
            json!({ "type": "contacts", "contacts": [] }),
            "input.type",
            "contacts",
        ),
        (
            json!({ "type": "button", "button": { "text": "Ok" } }),
            "input.type",
            "button",
        ),
        (
            json!({ "type": "button", "button": { "text": "Ok" } }),
            "input",
            "Ok",
        ),
        (button.clone(), "input.type", "interactive"),
        (button.clone(), "input.interactive.type", "button_reply"),
        (button.clone(), "input.interactive.id", "yes"),
        (button.clone(), "input.interactive.title", "Sim"),
        (button, "input", "Sim"),
        (row.clone(), "input.interactive.type", "list_reply"),
        (row, "input.interactive.id", "r1"),
    ] {
        let world = World::new().hearing(input.clone());
        assert_eq!(
            world.render(&format!("{{{{{token}}}}}")),
            expected,
            "{token} of {input}"
        );
    }
    let mut silent = World::new();
    silent.input = None;
    assert_eq!(
        silent.render("{{input}}{{input.type}}{{inputMessage}}|{{lastInput}}"),
        "|before"
    );
}

#[test]
fn the_first_stop_has_no_previous_block() {
    let mut world = World::new();
    world.session.history = vec![stop("second")];
    assert_eq!(world.render("{{session.previousBlock.id}}"), "");
    // On the way to the next block the stop just left is the previous one.
    world.session.position.as_mut().expect("set").waiting = None;
    assert_eq!(world.render("{{session.previousBlock.id}}"), "second");
}

#[test]
fn braces_that_make_no_token_stay_text() {
    let world = World::new();
    for (text, expected) in [
        ("", ""),
        ("plain", "plain"),
        ("{name}", "{name}"),
        ("{{name", "{{name"),
        ("name}}", "name}}"),
        ("}}name{{", "}}name{{"),
        ("{{a}b}}", "{{a}b}}"),
        ("{{a{b}}", "{{a{b}}"),
        ("{{{name}}}", "{Bia}"),
        ("{{{{name}}}}", ""),
        ("{{x{{name}}y}}", ""),
        ("{{{absent}}{name}}", ""),
        ("{{{{absent}}name}}", ""),
        ("{{a}} {{name}} {{", " Bia {{"),
        ("É {{ name }} ç", "É Bia ç"),
        ("{}", "{}"),
        ("{{}}", ""),
    ] {
        assert_eq!(world.render(text), expected, "{text}");
    }
}

#[test]
fn a_value_is_never_interpolated_again() {
    let mut world = World::new().hearing(json!({ "type": "text", "text": { "body": "{{router.brand}}" } }));
    world.session.variables.insert("half".into(), json!("{{router"));
    assert_eq!(world.render("{{input}}"), "{{router.brand}}");
    assert_eq!(world.render("{{half}}.brand}}"), "{{router.brand}}");
}

#[test]
fn missing_maps_are_empty_maps() {
    let world = World::new();
    let view = View {
        flow_variables: None,
        ..world.view()
    };
    assert_eq!(Template::parse("<{{flow.promo}}>").render(&view), "<>");
}

#[test]
fn static_variables_are_noticed() {
    for (text, uses) in [
        ("{{router.a}}", true),
        ("{{ flow.a }}", true),
        ("{{contact.a}}", false),
        ("router.a", false),
    ] {
        assert_eq!(Template::parse(text).uses_static_variables(), uses, "{text}");
    }
}

#[test]
fn a_rendered_text_is_cut_at_its_limit() {
    let mut world = World::new();
    world
        .session
        .variables
        .insert("x".into(), json!("é".repeat(MAX_RENDERED / 2)));
    assert_eq!(world.render("a{{x}}{{x}}{{x}}").len(), MAX_RENDERED - 1);
    let list = ValueTemplate::parse(&json!(["{{x}}", { "y": "{{x}}" }]));
    assert!(size_of(&list.render(&world.view())) <= MAX_RENDERED + 1);
}

#[test]
fn values_keep_their_shape() {
    let world = World::new();
    let value =
        json!({ "n": 1, "t": true, "z": null, "s": "{{name}}!", "l": ["{{count}}", 2], "{{name}}": "k" });
    assert_eq!(
        ValueTemplate::parse(&value).render(&world.view()),
        json!({ "n": 1, "t": true, "z": null, "s": "Bia!", "l": ["3", 2], "{{name}}": "k" })
    );
}

#[test]
fn hostile_texts_are_parsed_in_linear_time() {
    let world = World::new();
    for text in [
        "{".repeat(400_000),
        "}".repeat(400_000),
        "{{".repeat(100_000) + &"}}".repeat(100_000),
        "{{a}}".repeat(100_000),
        "{{{a}}".repeat(60_000),
        "{ {{a}} ".repeat(60_000) + &"} }".repeat(60_000),
        format!("{{{{{}}}}}", "a.".repeat(100_000)),
    ] {
        world.render(&text);
    }
}

/// Whether a well-formed token stands in `text`.
fn has_token(text: &str) -> bool {
    let pattern = regex::Regex::new(r"\{\{[^{}]*\}\}").expect("is an expression");
    pattern.is_match(text)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 2_000, ..ProptestConfig::default() })]

    #[test]
    fn no_literal_token_survives(
        text in "([{}]{1,3}|[{}]{2}|name|absent|router[.]brand|input|session[.]x|ticket|[a-z .é]{0,4}){0,24}",
        value in "[^{}]{0,6}",
    ) {
        let mut world = World::new().hearing(json!({ "type": "text", "text": { "body": value.clone() } }));
        world.session.variables = object(json!({ "name": value }));
        let rendered = world.render(&text);
        prop_assert!(!has_token(&rendered), "{text:?} became {rendered:?}");
    }

    #[test]
    fn any_text_and_any_value_render(text in "\\PC{0,200}", value in "\\PC{0,50}") {
        let mut world = World::new().hearing(json!({ "type": "text", "text": { "body": value.clone() } }));
        world.session.variables = object(json!({ "name": value }));
        world.render(&text);
        world.render(&format!("{{{{{text}}}}}"));
    }

    #[test]
    fn what_has_no_double_braces_is_unchanged(text in "[^{}]{0,40}([{}][^{}]{1,5}){0,5}") {
        prop_assert_eq!(World::new().render(&text), text);
    }
}
