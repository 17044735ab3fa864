//! The desk socket in the document of the sockets.

use flowsdk_core::id::TicketId;
use flowsdk_helpdesk::desk::{CloseTicket, Replied, TransferTicket};
use flowsdk_helpdesk::monitoring::MonitoringSnapshot;
use flowsdk_helpdesk::news::{
    DeskEventKind, NoteNews, SentimentNews, ServiceLevelNews, StatusNews, TicketMessageStatus,
    TicketMessages, TicketNews, TicketTransferred,
};
use flowsdk_helpdesk::viewer::TicketViewers;
use utoipa::ToSchema;
use utoipa::openapi::{RefOr, Schema};

use super::SOCKET_PATH;
use super::command::{Monitor, Nothing, Offered, PickUp, Reply, Status, Typing, Viewing};
use super::payload::{DeskCommand, Handshake, Numbering, PresenceAnswer, Taken, TicketAnswer, Waiting};
use crate::api::asyncapi::{Received, Schemas, Sent, Socket};

const DESCRIPTION: &str = "\
What agents are told, and what they do. Commands do what the routes do, with the same rights.\n\n\
News are numbered for each user from 1 without gaps, and kept for 24 hours. A desk that connects with `since` is sent all \
that it has missed. Those of `helpdesk:waiting`, `helpdesk:sync-required`, `ticket:viewing` and `monitoring:snapshot` are no news, and bear the last number.";
const REFUSALS: &str = "\
It is not carried out. `code` is one of the routes' errors, or `invalid_payload`, `event_unknown`, `nothing_waiting` \
(`agent:pickup`), `rate_limited`, `closed`, `not_authenticated` or `internal_error`";
const NOT_LET_IN: &str = "\
The desk is not let in: `token_missing`, `token_invalid`, `session_ended`, `permission_denied`, `user_only` or `unavailable`";

/// Describes the socket.
pub(crate) fn describe(schemas: &mut Schemas) -> Socket {
    let handshake = schemas.of::<Handshake>();
    let title = ("The desk of an agent", DESCRIPTION);
    let mut desk = Socket::new(("desk", SOCKET_PATH), title, (handshake, REFUSALS), schemas);
    desk.may_refuse_to_connect(NOT_LET_IN, schemas);
    for command in DeskCommand::ALL {
        desk.receives(command.name(), received(command, schemas));
    }
    for event in DeskEventKind::ALL {
        desk.sends(event.name(), sent(event, schemas));
    }
    desk
}

fn received(command: DeskCommand, schemas: &mut Schemas) -> Received {
    let ticket = answer::<TicketAnswer>;
    let (summary, payload, answer) = match command {
        DeskCommand::Status => {
            ("Sets whether the agent is there", schemas.of::<Status>(), answer::<PresenceAnswer>(schemas))
        }
        DeskCommand::Heartbeat => (
            "Says that the agent is still there, and asks for the presence that holds",
            schemas.of::<Nothing>(),
            answer::<PresenceAnswer>(schemas),
        ),
        DeskCommand::PickUp => {
            ("Takes the ticket that has waited for longest", schemas.of::<PickUp>(), ticket(schemas))
        }
        DeskCommand::Accept => {
            ("Takes a ticket that is offered to the agent", schemas.of::<Offered>(), ticket(schemas))
        }
        DeskCommand::Decline => (
            "Leaves a ticket that is offered to the agent to the next one",
            schemas.of::<Offered>(),
            ticket(schemas),
        ),
        DeskCommand::Reply => {
            ("Writes to the contact of a ticket", schemas.of::<Reply>(), answer::<Replied>(schemas))
        }
        DeskCommand::Transfer => (
            "Lets a ticket go on with a user or in a queue",
            schemas.with_field::<TransferTicket, TicketId>("AgentTransfer", "ticketId"),
            ticket(schemas),
        ),
        DeskCommand::Close => (
            "Closes a ticket",
            schemas.with_field::<CloseTicket, TicketId>("AgentClose", "ticketId"),
            ticket(schemas),
        ),
        DeskCommand::Viewing => (
            "Looks at a ticket, and is told who else does with `ticket:viewing`",
            schemas.of::<Viewing>(),
            schemas.of::<Taken>(),
        ),
        DeskCommand::Typing => (
            "Says that an answer is being written, for six seconds; the others who look at the ticket are told, and a visitor of the web chat",
            schemas.of::<Typing>(),
            schemas.of::<Taken>(),
        ),
        DeskCommand::Refresh => {
            ("Asks for a `helpdesk:waiting`", schemas.of::<Nothing>(), schemas.of::<Taken>())
        }
        DeskCommand::MonitoringJoin => (
            "Asks for the figures, now and every two seconds; needs `reports:read`",
            schemas.of::<Monitor>(),
            schemas.of::<Taken>(),
        ),
        DeskCommand::MonitoringLeave => {
            ("Asks for no more figures", schemas.of::<Nothing>(), schemas.of::<Taken>())
        }
    };
    Received { summary, payload, answer: Some(answer) }
}

fn answer<T: ToSchema>(schemas: &mut Schemas) -> RefOr<Schema> {
    schemas.both::<Taken, T>()
}

fn sent(event: DeskEventKind, schemas: &mut Schemas) -> Sent {
    let (summary, payload) = match event {
        DeskEventKind::Assigned => ("A ticket is the agent's now", numbered::<TicketNews>(schemas)),
        DeskEventKind::Offered => (
            "A ticket is offered to the agent until `offerEndsAt`: `agent:accept` or `agent:decline`",
            numbered::<TicketNews>(schemas),
        ),
        DeskEventKind::OfferEnded => (
            "A ticket is offered to the agent no longer: they declined it, did not answer, or it was given to another one",
            numbered::<TicketNews>(schemas),
        ),
        DeskEventKind::Message => {
            ("The contact of a ticket of theirs wrote", numbered::<TicketMessages>(schemas))
        }
        DeskEventKind::MessageStatus => (
            "A message that people sent in a ticket of theirs came further, or failed",
            numbered::<TicketMessageStatus>(schemas),
        ),
        DeskEventKind::Note => (
            "Somebody else has written a note on a ticket of theirs, or mentioned them in one",
            numbered::<NoteNews>(schemas),
        ),
        DeskEventKind::ServiceLevel => (
            "A ticket of the agent is not answered or resolved in the time of its service level, or soon will not be",
            numbered::<ServiceLevelNews>(schemas),
        ),
        DeskEventKind::Sentiment => (
            "How the contact of a ticket of theirs feels, as the AI agent that handed it over judged",
            numbered::<SentimentNews>(schemas),
        ),
        DeskEventKind::Transferred => {
            ("A ticket of theirs goes on elsewhere", numbered::<TicketTransferred>(schemas))
        }
        DeskEventKind::Closed => ("A ticket of theirs ended", numbered::<TicketNews>(schemas)),
        DeskEventKind::WindowExpired => (
            "A ticket of theirs ended, because its contact can no longer be answered",
            numbered::<TicketNews>(schemas),
        ),
        DeskEventKind::Status => {
            ("Somebody else has said whether the agent takes tickets", numbered::<StatusNews>(schemas))
        }
        DeskEventKind::Viewing => (
            "Who else looks at the ticket of the desk, when that has changed",
            numbered::<TicketViewers>(schemas),
        ),
        DeskEventKind::Waiting => (
            "How many tickets wait in the agent's queues: at the start, and when a count has changed",
            numbered::<Waiting>(schemas),
        ),
        DeskEventKind::SyncRequired => (
            "What was missed is gone, or the agent works in other queues than before: tickets have to be loaded anew. `seq` is the last number",
            schemas.of::<Numbering>(),
        ),
        DeskEventKind::Snapshot => {
            ("The figures, to whoever has joined", numbered::<MonitoringSnapshot>(schemas))
        }
    };
    Sent { summary, payload, is_acknowledged: false }
}

fn numbered<T: ToSchema>(schemas: &mut Schemas) -> RefOr<Schema> {
    schemas.both::<Numbering, T>()
}
