//! Tickets as a table.

use std::borrow::Cow;

use axum::body::Bytes;
use csv::{Terminator, WriterBuilder};
use flowsdk_core::fault::BoxError;
use flowsdk_core::id::{QueueId, TicketId, UserId};
use flowsdk_core::session::SessionId;
use flowsdk_core::time::Timestamp;
use flowsdk_helpdesk::report::TicketRow;
use flowsdk_helpdesk::tag::TagId;
use flowsdk_helpdesk::ticket::{CloseKind, ServiceClock};

/// A column: its name, and its cell of a ticket.
struct Column(&'static str, fn(&TicketRow) -> Cow<'_, str>);

/// The fields of a ticket in their order, then what is known beside them.
const COLUMNS: [Column; 40] = [
    Column("id", |row| row.ticket.id.as_str().into()),
    Column("kind", |row| row.ticket.kind.name().into()),
    Column("routerId", |row| row.ticket.router_id.as_str().into()),
    Column("chatId", |row| row.ticket.chat_id.as_str().into()),
    Column("contactId", |row| row.ticket.contact_id.as_str().into()),
    Column("sessionId", |row| text(row.ticket.session_id.as_ref().map(SessionId::as_str))),
    Column("previousTicketId", |row| text(row.ticket.previous_ticket_id.as_ref().map(TicketId::as_str))),
    Column("queueId", |row| text(row.ticket.queue_id.as_ref().map(QueueId::as_str))),
    Column("status", |row| row.ticket.status.name().into()),
    Column("assignedUserId", |row| user(row.ticket.assigned_user_id.as_ref())),
    Column("assignedAt", |row| time(row.ticket.assigned_at)),
    Column("openedByKind", |row| row.ticket.opened_by_kind.name().into()),
    Column("openReason", |row| row.ticket.open_reason.name().into()),
    Column("openedByUserId", |row| user(row.ticket.opened_by_user_id.as_ref())),
    Column("closedAt", |row| time(row.ticket.closed_at)),
    Column("closedByUserId", |row| user(row.ticket.closed_by_user_id.as_ref())),
    Column("closeKind", |row| text(row.ticket.close_kind.map(CloseKind::name))),
    Column("closeReason", |row| text(row.ticket.close_reason.as_deref())),
    Column("summary", |row| text(row.ticket.summary.as_deref())),
    Column("tagIds", |row| joined(row.ticket.tag_ids.iter().map(TagId::as_str))),
    Column("firstRepliedAt", |row| time(row.ticket.first_replied_at)),
    Column("contactWroteAt", |row| time(Some(row.ticket.contact_wrote_at))),
    Column("createdAt", |row| time(Some(row.ticket.created_at))),
    Column("updatedAt", |row| time(Some(row.ticket.updated_at))),
    Column("queueName", |row| text(row.queue_name.as_deref())),
    Column("assignedUserName", |row| text(row.assigned_user_name.as_deref())),
    Column("contactName", |row| text(row.contact_name.as_deref())),
    Column("waitingMs", |row| number(row.waiting_ms())),
    Column("firstResponseMs", |row| number(row.first_response_ms())),
    Column("serviceMs", |row| number(row.service_ms())),
    Column("firstResponseDueAt", |row| due(row.ticket.service_clocks.first_response)),
    Column("firstResponseLevel", |row| level(row.ticket.service_clocks.first_response)),
    Column("resolutionDueAt", |row| due(row.ticket.service_clocks.resolution)),
    Column("resolutionLevel", |row| level(row.ticket.service_clocks.resolution)),
    Column("surveyStatus", |row| text(row.ticket.survey.as_ref().map(|asked| asked.status.name()))),
    Column("surveyScore", |row| {
        number(row.ticket.survey.as_ref().and_then(|asked| asked.score).map(i64::from))
    }),
    Column("surveyComment", |row| {
        text(row.ticket.survey.as_ref().and_then(|asked| asked.comment.as_deref()))
    }),
    Column("sentiment", |row| {
        text(row.ticket.sentiment_result.as_ref().map(|result| result.item.sentiment.name()))
    }),
    Column("sentimentScore", |row| {
        row.ticket
            .sentiment_result
            .as_ref()
            .map(|result| result.item.score.to_string().into())
            .unwrap_or_default()
    }),
    Column("tags", |row| joined(row.tags.iter().map(String::as_str))),
];

fn text(text: Option<&str>) -> Cow<'_, str> {
    text.unwrap_or_default().into()
}

fn user(user: Option<&UserId>) -> Cow<'_, str> {
    text(user.map(UserId::as_str))
}

fn time(moment: Option<Timestamp>) -> Cow<'static, str> {
    moment.map(Timestamp::to_iso).unwrap_or_default().into()
}

fn due(clock: Option<ServiceClock>) -> Cow<'static, str> {
    time(clock.map(|clock| clock.due_at))
}

fn level(clock: Option<ServiceClock>) -> Cow<'static, str> {
    clock.map(|clock| clock.status.name()).unwrap_or_default().into()
}

fn number(number: Option<i64>) -> Cow<'static, str> {
    number.map(|number| number.to_string()).unwrap_or_default().into()
}

fn joined<'a>(texts: impl Iterator<Item = &'a str>) -> Cow<'static, str> {
    texts.collect::<Vec<_>>().join("; ").into()
}

/// Returns the row of names.
///
/// # Errors
/// It cannot be written.
pub(super) fn head() -> Result<Bytes, BoxError> {
    written([COLUMNS.map(|Column(name, _)| Cow::Borrowed(name))].into_iter())
}

/// Returns a row for each ticket.
///
/// # Errors
/// They cannot be written.
pub(super) fn rows(tickets: &[TicketRow]) -> Result<Bytes, BoxError> {
    written(tickets.iter().map(|ticket| COLUMNS.map(|Column(_, cell)| guarded(cell(ticket)))))
}

/// Returns a cell that no program takes for a formula.
fn guarded(cell: Cow<'_, str>) -> Cow<'_, str> {
    if cell.starts_with(['=', '+', '-', '@', '\t', '\r']) { format!("'{cell}").into() } else { cell }
}

fn written<'a, const N: usize>(rows: impl Iterator<Item = [Cow<'a, str>; N]>) -> Result<Bytes, BoxError> {
    let mut table = WriterBuilder::new().terminator(Terminator::CRLF).from_writer(Vec::new());
    for row in rows {
        table.write_record(row.iter().map(|cell| cell.as_bytes()))?;
    }
    Ok(table.into_inner().map_err(|error| error.into_error())?.into())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use flowsdk_helpdesk::ticket::{ServiceClocks, Ticket, TicketStatus, TicketView};
    use serde_json::json;

    use super::*;

    fn row() -> TicketRow {
        let moment = |millis| Timestamp::from_millis(millis);
        let id = |text: &str| text.parse().expect("an id");
        let of = ("chat1".parse().expect("an id"), "contact1".parse().expect("an id"));
        let opened = Ticket::opened(
            "t1".parse().expect("an id"),
            "r1".parse().expect("an id"),
            of,
            "q1".parse().expect("an id"),
            moment(0),
        );
        let survey = json!({ "survey": { "question": "?" }, "status": "answered", "askedAt": 0, "score": 4,
            "comment": "=1" });
        let ticket = Ticket {
            survey: serde_json::from_value(survey).expect("a survey"),
            status: TicketStatus::Closed,
            assigned_user_id: Some("ana".parse().expect("an id")),
            assigned_at: Some(moment(1_000)),
            closed_at: Some(moment(3_500)),
            close_kind: Some(CloseKind::Resolved),
            close_reason: Some("=1+1, \"é\"\nfim".to_owned()),
            tag_ids: vec![id("a"), id("b")],
            service_clocks: ServiceClocks {
                first_response: Some(ServiceClock::new(moment(800), moment(1_000))),
                resolution: None,
            },
            updated_at: moment(3_500),
            ..opened
        };
        TicketRow {
            ticket,
            queue_name: Some("Vendas".to_owned()),
            assigned_user_name: None,
            contact_name: Some("+55 11".to_owned()),
            tags: vec!["Reembolso".to_owned(), "Atraso".to_owned()],
        }
    }

    #[test]
    fn the_first_columns_are_the_fields_of_a_ticket() {
        let view = serde_json::to_value(TicketView::from(row().ticket)).expect("JSON");
        let mut fields: BTreeSet<&str> =
            view.as_object().expect("fields").keys().map(String::as_str).collect();
        // A report has no use for what a moment's offer says and has no tickets of AI agents. Clocks, survey and sentiment
        // have columns of their own.
        let left_out = [
            "offeredUserId",
            "offerEndsAt",
            "service",
            "survey",
            "agentId",
            "handoffAskedAt",
            "sentimentResult",
            "sentimentHistory",
        ];
        fields.retain(|field| !left_out.contains(field));
        let columns = COLUMNS.map(|Column(name, _)| name);
        assert_eq!(columns[..fields.len()].iter().copied().collect::<BTreeSet<_>>(), fields);
        assert_eq!(columns.iter().collect::<BTreeSet<_>>().len(), columns.len());
    }

    #[test]
    fn what_a_cell_says_is_read_back() {
        let bytes = [head().expect("a head"), rows(&[row()]).expect("rows")].concat();
        let mut table = csv::Reader::from_reader(&*bytes);
        let names: Vec<String> = table.headers().expect("a head").iter().map(str::to_owned).collect();
        let records: Vec<_> = table.records().map(|record| record.expect("a row")).collect();
        let cell = |name: &str| {
            let at = names.iter().position(|known| known == name).expect("a column");
            &records[0][at]
        };
        assert_eq!(records.len(), 1);
        for (name, expected) in [
            ("id", "t1"),
            ("kind", "human"),
            ("sessionId", ""),
            ("assignedAt", "1970-01-01T00:00:01.000Z"),
            ("closeReason", "'=1+1, \"é\"\nfim"),
            ("tagIds", "a; b"),
            ("queueName", "Vendas"),
            ("assignedUserName", ""),
            ("contactName", "'+55 11"),
            ("waitingMs", "1000"),
            ("firstResponseMs", ""),
            ("serviceMs", "2500"),
            ("firstResponseDueAt", "1970-01-01T00:00:01.000Z"),
            ("firstResponseLevel", "running"),
            ("resolutionDueAt", ""),
            ("resolutionLevel", ""),
            ("surveyStatus", "answered"),
            ("surveyScore", "4"),
            ("surveyComment", "'=1"),
            ("tags", "Reembolso; Atraso"),
        ] {
            assert_eq!(cell(name), expected, "{name}");
        }
    }

    #[test]
    fn no_cell_is_a_formula() {
        for (cell, expected) in [
            ("", ""),
            ("a=1", "a=1"),
            ("=1", "'=1"),
            ("+1", "'+1"),
            ("-1", "'-1"),
            ("@a", "'@a"),
            ("\ta", "'\ta"),
            ("\ra", "'\ra"),
            (" =1", " =1"),
            ("'=1", "'=1"),
        ] {
            assert_eq!(guarded(cell.into()), expected, "{cell:?}");
        }
    }
}
