//! What the server tells, as lines.

use serde_json::Value;

use super::line::Line;
use super::names::Names;
use super::words::{duration, said, text, tickets};

/// Returns what is printed of an event of the desk socket.
pub(super) fn shown(event: &str, payload: &Value, names: &mut Names) -> Line {
    let number = ticket_of(payload).map(|id| names.of(id));
    let mut json = payload.clone();
    if !json.is_object() {
        json = serde_json::json!({ "payload": payload });
    }
    json["event"] = event.into();
    if let Some(number) = number {
        json["number"] = number.into();
    }
    Line::new(in_words(event, payload, number.unwrap_or_default()), json)
}

fn ticket_of(payload: &Value) -> Option<&str> {
    let named = [&payload["ticket"]["id"], &payload["ticketId"], &payload["note"]["ticketId"]];
    named.into_iter().find_map(Value::as_str)
}

fn in_words(event: &str, payload: &Value, number: usize) -> String {
    let ticket = &payload["ticket"];
    match event {
        "ticket:assigned" => match text(ticket, "summary") {
            "" => format!("#{number} is yours"),
            summary => format!("#{number} is yours: {summary}"),
        },
        "ticket:offered" => {
            format!("#{number} is offered to you: `accept {number}` or `decline {number}`")
        }
        "ticket:offer-ended" => format!("#{number} is offered to you no longer"),
        "ticket:service-level" => service_level(payload, number),
        "ticket:message" => messages(payload, number),
        "ticket:message-status" => match text(&payload["error"], "title") {
            "" => format!("#{number} your message is {}", text(payload, "status")),
            why => format!("#{number} your message is {}: {why}", text(payload, "status")),
        },
        "ticket:note" => format!("#{number} note: {}", text(&payload["note"], "text")),
        "ticket:sentiment" => {
            let sentiment = &payload["sentiment"];
            format!(
                "#{number} the contact is {} ({} of 10)",
                text(sentiment, "sentiment"),
                sentiment["score"]
            )
        }
        "ticket:transferred" => {
            format!("#{number} is no longer yours: it goes on as {}", text(payload, "nextTicketId"))
        }
        "ticket:closed" => match text(ticket, "closeReason") {
            "" => format!("#{number} is closed: {}", text(ticket, "closeKind")),
            reason => format!("#{number} is closed: {} ({reason})", text(ticket, "closeKind")),
        },
        "ticket:window_expired" => format!("#{number} is closed: its contact can no longer be answered"),
        "ticket:viewing" => viewing(payload, number),
        "agent:status" => format!("somebody else said that you are {}", text(payload, "status")),
        "helpdesk:waiting" => waiting(payload),
        "helpdesk:sync-required" => "here are your tickets, loaded anew".to_owned(),
        other => format!("{other} {payload}"),
    }
}

fn service_level(payload: &Value, number: usize) -> String {
    let (target, clock) = match text(payload, "target") {
        "resolution" => ("be resolved", "resolution"),
        _ => ("get a first answer", "firstResponse"),
    };
    let due = text(&payload["ticket"]["service"][clock], "dueAt");
    match text(payload, "status") {
        "warned" => format!("#{number} is to {target} by {due}"),
        _ => format!("#{number} is late: it was to {target} by {due}"),
    }
}

fn messages(payload: &Value, number: usize) -> String {
    let messages = payload["messages"].as_array().map(Vec::as_slice).unwrap_or_default();
    let lines = messages.iter().map(|message| {
        let said = said(text(message, "type"), message);
        format!("#{number} contact: {said}")
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn viewing(payload: &Value, number: usize) -> String {
    let viewers = payload["viewers"].as_array().map(Vec::as_slice).unwrap_or_default();
    let viewer = |one: &Value| match one["isTyping"].as_bool() {
        Some(true) => format!("{} types", text(one, "name")),
        _ => format!("{} looks", text(one, "name")),
    };
    match viewers.iter().map(viewer).collect::<Vec<_>>().join(", ") {
        nobody if nobody.is_empty() => format!("#{number} nobody else looks at it"),
        others => format!("#{number} {others}"),
    }
}

fn waiting(payload: &Value) -> String {
    let queues = payload["byQueue"].as_array().map(Vec::as_slice).unwrap_or_default();
    let total = payload["total"].as_i64().unwrap_or_default();
    let oldest = queues.iter().filter_map(|queue| queue["oldestWaitMs"].as_i64()).max().unwrap_or_default();
    match total {
        _ if queues.is_empty() => "you work in no queue".to_owned(),
        0 => "no ticket waits".to_owned(),
        1 => format!("1 ticket waits, for {}", duration(oldest)),
        _ => format!("{} wait, the oldest for {}", tickets(total), duration(oldest)),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn news_as_lines() {
        let closed = json!({ "ticket": { "id": "cone", "closeKind": "resolved", "closeReason": "solved" } });
        let abandoned = json!({ "ticket": { "id": "cone", "closeKind": "system", "closeReason": null } });
        let wrote = json!({ "ticketId": "cone", "messages": [
            { "type": "text", "text": { "body": "hi" } },
            { "type": "image", "image": {} },
        ] });
        let queue = |wait: i64| json!({ "queueId": "q", "waiting": 1, "oldestWaitMs": wait });
        let status = |status: &str| json!({ "ticketId": "cone", "messageId": "m", "status": status });
        let level = |target: &str, status: &str| {
            let service =
                json!({ "firstResponse": { "dueAt": "10:00" }, "resolution": { "dueAt": "18:00" } });
            json!({ "ticket": { "id": "cone", "service": service }, "target": target, "status": status })
        };
        let mut failed = status("failed");
        failed["error"] = json!({ "code": 131_026, "title": "Undeliverable" });
        for (event, payload, expected) in [
            ("ticket:message-status", status("read"), "#1 your message is read"),
            ("ticket:note", json!({ "note": { "ticketId": "cone", "text": "Paid." } }), "#1 note: Paid."),
            (
                "ticket:service-level",
                level("first_response", "warned"),
                "#1 is to get a first answer by 10:00",
            ),
            (
                "ticket:service-level",
                level("resolution", "breached"),
                "#1 is late: it was to be resolved by 18:00",
            ),
            ("ticket:message-status", failed, "#1 your message is failed: Undeliverable"),
            ("ticket:viewing", json!({ "ticketId": "cone", "viewers": [] }), "#1 nobody else looks at it"),
            (
                "ticket:viewing",
                json!({ "ticketId": "cone", "viewers": [
                    { "name": "Ana", "isTyping": true }, { "name": "Bia", "isTyping": false },
                ] }),
                "#1 Ana types, Bia looks",
            ),
            ("agent:status", json!({ "status": "offline" }), "somebody else said that you are offline"),
            ("ticket:assigned", json!({ "ticket": { "id": "cone", "summary": null } }), "#1 is yours"),
            (
                "ticket:assigned",
                json!({ "ticket": { "id": "ctwo", "summary": "Invoice" } }),
                "#2 is yours: Invoice",
            ),
            (
                "ticket:offered",
                json!({ "ticket": { "id": "cone" } }),
                "#1 is offered to you: `accept 1` or `decline 1`",
            ),
            ("ticket:offer-ended", json!({ "ticket": { "id": "cone" } }), "#1 is offered to you no longer"),
            ("ticket:message", wrote, "#1 contact: hi\n#1 contact: [image]"),
            (
                "ticket:transferred",
                json!({ "ticket": { "id": "cone" }, "nextTicketId": "cnext" }),
                "#1 is no longer yours: it goes on as cnext",
            ),
            ("ticket:closed", closed, "#1 is closed: resolved (solved)"),
            ("ticket:closed", abandoned, "#1 is closed: system"),
            (
                "ticket:window_expired",
                json!({ "ticket": { "id": "cone" } }),
                "#1 is closed: its contact can no longer be answered",
            ),
            ("helpdesk:waiting", json!({ "total": 0, "byQueue": [] }), "you work in no queue"),
            ("helpdesk:waiting", json!({ "total": 0, "byQueue": [queue(0)] }), "no ticket waits"),
            ("helpdesk:waiting", json!({ "total": 1, "byQueue": [queue(1_000)] }), "1 ticket waits, for 1 s"),
            (
                "helpdesk:waiting",
                json!({ "total": 2, "byQueue": [queue(1_000), queue(61_000)] }),
                "2 tickets wait, the oldest for 1 min",
            ),
            ("helpdesk:sync-required", json!({}), "here are your tickets, loaded anew"),
            ("later:version", json!({ "a": 1 }), r#"later:version {"a":1}"#),
        ] {
            let mut names = Names::default();
            names.of("cone");
            let line = shown(event, &payload, &mut names);
            assert_eq!(line.into_text(false), expected, "{event} {payload}");
        }
    }

    #[test]
    fn news_for_programs_have_everything_and_the_number() {
        let payload = json!({ "seq": 4, "ticketId": "cone", "messages": [] });
        let line = shown("ticket:message", &payload, &mut Names::default()).into_text(true);
        let line: Value = serde_json::from_str(&line).expect("JSON");
        let expected =
            json!({ "event": "ticket:message", "number": 1, "seq": 4, "ticketId": "cone", "messages": [] });
        assert_eq!(line, expected);
        let odd = shown("x", &json!("text"), &mut Names::default()).into_text(true);
        assert_eq!(
            serde_json::from_str::<Value>(&odd).expect("JSON"),
            json!({ "event": "x", "payload": "text" })
        );
    }
}
