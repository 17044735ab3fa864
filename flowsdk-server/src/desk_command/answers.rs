//! The answers to commands, as lines.

use serde_json::{Value, json};

use super::line::Line;
use super::names::Names;
use super::words::{said, text};

/// Returns what is printed of the answer to a command over the socket. `ticket` is the one that it was about.
pub(super) fn shown(command: &str, ticket: Option<&str>, answer: &Value, names: &mut Names) -> Line {
    if answer["ok"] != true {
        let code = answer["code"].as_str().unwrap_or("unknown");
        return Line::refused(command, code, text(answer, "message"));
    }
    let number = ticket.or_else(|| answer["ticket"]["id"].as_str()).map(|id| names.of(id));
    let mut json = answer.clone();
    json["answer"] = command.into();
    if let Some(number) = number {
        json["number"] = number.into();
    }
    let number = number.unwrap_or_default();
    let words = match command {
        "reply" => format!("#{number} sent"),
        "pickup" => format!("#{number} picked up"),
        "accept" => format!("#{number} is yours"),
        "decline" => format!("#{number} is left to the next agent"),
        "close" => format!("#{number} closed"),
        "transfer" => format!("#{number} transferred: it goes on as {}", text(&answer["ticket"], "id")),
        "status" => format!("you are {}", text(answer, "status")),
        _ => format!("{command}: done"),
    };
    Line::new(words, json)
}

/// Returns what is printed of a list of tickets.
pub(super) fn tickets(command: &str, mut items: Vec<Value>, names: &mut Names) -> Line {
    let mut lines = Vec::new();
    // The oldest has waited longest.
    items.reverse();
    for ticket in &mut items {
        let number = names.of(text(ticket, "id"));
        ticket["number"] = number.into();
        let since = ticket["assignedAt"].as_str().unwrap_or_else(|| text(ticket, "createdAt"));
        let summary = text(ticket, "summary");
        let line = format!(
            "#{number} {} since {since} queue {} {summary}",
            text(ticket, "status"),
            text(ticket, "queueId")
        );
        lines.push(line.trim_end().to_owned());
    }
    if lines.is_empty() {
        lines.push(if command == "waiting" { "no ticket waits" } else { "you have no tickets" }.to_owned());
    }
    Line::new(lines.join("\n"), json!({ "answer": command, "ok": true, "items": items }))
}

/// Returns what is printed of the last messages of a ticket's chat.
pub(super) fn messages(ticket: &str, items: &[Value], names: &mut Names) -> Line {
    let number = names.of(ticket);
    let lines: Vec<String> = items.iter().map(message).collect();
    let words = if lines.is_empty() { format!("#{number} has no messages") } else { lines.join("\n") };
    let json = json!({ "answer": "read", "ok": true, "number": number, "ticketId": ticket, "items": items });
    Line::new(words, json)
}

fn message(message: &Value) -> String {
    let sender = &message["sender"];
    let who = sender["name"].as_str().or_else(|| sender["kind"].as_str()).unwrap_or("contact");
    format!("{} {who}: {}", text(message, "createdAt"), said(text(message, "type"), &message["content"]))
}

/// Returns what is printed of the queues and agents to whom a ticket can be transferred.
pub(super) fn targets(ticket: &str, mut found: Value, names: &mut Names) -> Line {
    let all = |of: &str| found[of].as_array().cloned().unwrap_or_default();
    let (queues, agents) = (all("queues"), all("agents"));
    let queue = |one: &Value| {
        format!("queue {} {} ({} waiting)", text(one, "queueId"), text(one, "name"), one["waiting"])
    };
    let agent = |one: &Value| {
        let (user, presence) = (text(one, "userId"), text(one, "presence"));
        format!("user {user} {presence} {} ({} open)", text(one, "name"), one["assigned"])
    };
    let lines: Vec<String> = queues.iter().map(queue).chain(agents.iter().map(agent)).collect();
    let number = names.of(ticket);
    let words = if lines.is_empty() { format!("#{number} can go to nobody") } else { lines.join("\n") };
    found["answer"] = "targets".into();
    found["ok"] = true.into();
    found["number"] = number.into();
    Line::new(words, found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known() -> Names {
        let mut names = Names::default();
        names.of("cone");
        names
    }

    #[test]
    fn answers_as_lines() {
        let ticket = |id: &str| json!({ "ok": true, "ticket": { "id": id } });
        for (command, of, answer, expected) in [
            ("reply", Some("cone"), json!({ "ok": true, "messageId": "m" }), "#1 sent"),
            ("pickup", None, ticket("ctwo"), "#2 picked up"),
            ("accept", None, ticket("ctwo"), "#2 is yours"),
            ("decline", None, ticket("ctwo"), "#2 is left to the next agent"),
            ("close", Some("cone"), ticket("cone"), "#1 closed"),
            ("transfer", Some("cone"), ticket("cnext"), "#1 transferred: it goes on as cnext"),
            ("status", None, json!({ "ok": true, "status": "away" }), "you are away"),
            (
                "close",
                Some("cone"),
                json!({ "ok": false, "code": "ticket_closed", "message": "It is closed" }),
                "close: It is closed (ticket_closed)",
            ),
            ("close", Some("cone"), Value::Null, "close:  (unknown)"),
        ] {
            assert_eq!(shown(command, of, &answer, &mut known()).into_text(false), expected, "{command}");
        }
        let sent =
            shown("reply", Some("cone"), &json!({ "ok": true, "seq": 4 }), &mut known()).into_text(true);
        let sent: Value = serde_json::from_str(&sent).expect("JSON");
        assert_eq!(sent, json!({ "answer": "reply", "ok": true, "number": 1, "seq": 4 }));
    }

    #[test]
    fn lists_as_lines() {
        let waits = json!({ "id": "cone", "status": "waiting", "queueId": "q", "createdAt": "T1", "assignedAt": null });
        let had = json!({ "id": "ctwo", "status": "assigned", "queueId": "q", "createdAt": "T1",
            "assignedAt": "T2", "summary": "Invoice" });
        let list = tickets("list", vec![had, waits], &mut Names::default()).into_text(false);
        assert_eq!(list, "#1 waiting since T1 queue q\n#2 assigned since T2 queue q Invoice");
        let empty = |command: &str| tickets(command, Vec::new(), &mut Names::default()).into_text(false);
        assert_eq!([empty("list"), empty("waiting")], ["you have no tickets", "no ticket waits"]);
    }

    #[test]
    fn messages_as_lines() {
        let said = [
            json!({ "createdAt": "T1", "type": "text", "content": { "text": { "body": "hi" } }, "sender": null }),
            json!({ "createdAt": "T2", "type": "text", "content": { "text": { "body": "one moment" } },
                "sender": { "kind": "flow", "name": null } }),
            json!({ "createdAt": "T3", "type": "image", "content": { "image": {} },
                "sender": { "kind": "human", "name": "Ana" } }),
        ];
        let lines = messages("cone", &said, &mut known()).into_text(false);
        assert_eq!(lines, "T1 contact: hi\nT2 flow: one moment\nT3 Ana: [image]");
        assert_eq!(messages("cone", &[], &mut known()).into_text(false), "#1 has no messages");
    }

    #[test]
    fn whom_a_ticket_can_go_to() {
        let found = json!({
            "queues": [{ "queueId": "cq", "name": "Sales", "waiting": 2 }],
            "agents": [{ "userId": "cana", "presence": "online", "name": "Ana", "assigned": 1 }],
        });
        let lines = |found: Value| targets("cone", found, &mut known()).into_text(false);
        assert_eq!(lines(found), "queue cq Sales (2 waiting)\nuser cana online Ana (1 open)");
        assert_eq!(lines(json!({ "queues": [], "agents": [] })), "#1 can go to nobody");
    }
}
