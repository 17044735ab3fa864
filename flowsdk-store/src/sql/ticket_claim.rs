//! The statements of tickets that are claimed: for agents who have room, and for sweeps.

use constcat::concat;
use flowsdk_helpdesk::ticket::Ticket;

use super::desk_agent::HAS_LOST_ROUTER;
use super::record::Record as _;
use super::statement::{Sql, sql_per};

/// On SQLite nobody else has locked anything. Postgres is asked in words that `ticket_to_claim` alone fits, so it walks that
/// index whatever its statistics say. In plain words it reads every waiting ticket while the statistics know of few of them,
/// and every ticket of the queue after many have waited. A range keeps the order of the index, which an equal sign would not.
pub(super) const CLAIM_WAITING: Sql = sql_per(
    concat!(
        "SELECT ",
        OF_TICKET,
        " FROM json_each($1) AS asked CROSS JOIN ticket ON ticket.id IN (
                SELECT first.id FROM ticket AS first WHERE first.queue_id = asked.value ->> 0 AND first.status = 'waiting'
                AND first.offered_user_id IS NULL ORDER BY first.created_at, first.id
                LIMIT (SELECT MAX(value ->> 1) FROM json_each($1)))
            ORDER BY ticket.queue_id, ticket.created_at, ticket.id"
    ),
    concat!(
        "SELECT ",
        OF_TICKET,
        " FROM jsonb_array_elements($1) AS asked (value) CROSS JOIN LATERAL (",
        Ticket::SELECT,
        " WHERE queue_id || '' >= asked.value ->> 0 AND queue_id || '' <= asked.value ->> 0
                AND COALESCE(offered_user_id, status) = 'waiting' ORDER BY queue_id || '', created_at, id
                LIMIT CAST(asked.value ->> 1 AS bigint) FOR UPDATE SKIP LOCKED
            ) AS ticket
            ORDER BY ticket.queue_id, ticket.created_at, ticket.id"
    ),
);

/// The oldest of each queue in which the user has room, as [`CLAIM_WAITING`] finds it, and the oldest of these. `$2` lists
/// routers; NULL is all.
pub(super) const CLAIM_OLDEST_FOR: Sql = sql_per(
    concat!(
        Ticket::SELECT,
        " WHERE id = (SELECT oldest.id FROM agent JOIN queue_agent ON queue_agent.agent_id = agent.id
                JOIN queue ON queue.id = queue_agent.queue_id JOIN ticket AS oldest ON oldest.id = (
                    SELECT first.id FROM ticket AS first WHERE first.queue_id = queue.id AND first.status = 'waiting'
                    AND first.offered_user_id IS NULL
                    ORDER BY first.created_at, first.id LIMIT 1)
            WHERE agent.user_id = $1 AND ($2 IS NULL OR agent.router_id IN (SELECT value FROM json_each($2)))
            AND ($3 IS NULL OR queue.id = $3) AND queue.max_concurrent_tickets_per_agent > ",
        OPEN_BESIDE,
        " ORDER BY oldest.created_at, oldest.id LIMIT 1)"
    ),
    concat!(
        Ticket::SELECT,
        " WHERE id = (SELECT oldest.id FROM agent JOIN queue_agent ON queue_agent.agent_id = agent.id
                JOIN queue ON queue.id = queue_agent.queue_id CROSS JOIN LATERAL (
                    SELECT first.id, first.created_at FROM ticket AS first
                    WHERE first.queue_id || '' >= queue.id AND first.queue_id || '' <= queue.id
                    AND COALESCE(first.offered_user_id, first.status) = 'waiting'
                    ORDER BY first.queue_id || '', first.created_at, first.id
                    LIMIT 1 FOR UPDATE SKIP LOCKED) AS oldest
            WHERE agent.user_id = $1
            AND ($2::jsonb IS NULL OR agent.router_id = ANY(ARRAY(SELECT jsonb_array_elements_text($2))))
            AND ($3::text IS NULL OR queue.id = $3) AND queue.max_concurrent_tickets_per_agent > ",
        OPEN_BESIDE,
        " ORDER BY oldest.created_at, oldest.id LIMIT 1)"
    ),
);
/// What the user `$1` has in the router of a queue, and what is offered to them there.
const OPEN_BESIDE: &str = "(SELECT COUNT(*) FROM ticket AS theirs WHERE theirs.router_id = queue.router_id
                AND theirs.status = 'assigned' AND theirs.assigned_user_id = $1)
                + (SELECT COUNT(*) FROM ticket AS theirs WHERE theirs.router_id = queue.router_id
                AND theirs.status = 'waiting' AND theirs.offered_user_id = $1)";

pub(super) const CLAIM_TO_NOTIFY: Sql = sql_per(
    concat!(
        TO_NOTIFY,
        " AND ((ticket.notified_at IS NULL
                AND ticket.created_at <= $1 - (queue.waiting_notice ->> 'afterSeconds') * 1000)
            OR ticket.notified_at <= $1 - (queue.waiting_notice ->> 'everyMinutes') * 60000)
         ORDER BY ticket.id LIMIT $3"
    ),
    concat!(
        TO_NOTIFY,
        " AND ((ticket.notified_at IS NULL
                AND ticket.created_at <= $1 - CAST(queue.waiting_notice ->> 'afterSeconds' AS bigint) * 1000)
            OR ticket.notified_at <= $1 - CAST(queue.waiting_notice ->> 'everyMinutes' AS bigint) * 60000)
         ORDER BY ticket.id LIMIT $3 FOR UPDATE OF ticket SKIP LOCKED"
    ),
);
const TO_NOTIFY: &str = concat!(
    "SELECT ",
    OF_TICKET,
    " FROM queue CROSS JOIN ticket WHERE queue.waiting_notice IS NOT NULL AND ticket.queue_id = queue.id
        AND ticket.status = 'waiting' AND ticket.session_id IS NOT NULL AND ticket.contact_wrote_at > $2"
);

pub(super) const CLAIM_ABANDONED: Sql =
    sql_per(ABANDONED, concat!(ABANDONED, " FOR UPDATE OF ticket SKIP LOCKED"));
const ABANDONED: &str = concat!(
    "SELECT ",
    OF_TICKET,
    " FROM queue CROSS JOIN ticket WHERE ticket.queue_id = queue.id AND ticket.status = 'waiting'
        AND ticket.contact_wrote_at <= $1 - queue.abandon_after_minutes * 60000
        AND queue.abandon_after_minutes IS NOT NULL ORDER BY ticket.id LIMIT $2"
);

/// Whoever was given a ticket after they had left has the whole time as well.
pub(super) const UNATTENDED: Sql =
    sql_per(concat!(HELD, HAS_LOST_ROUTER.0, ABSENT), concat!(HELD, HAS_LOST_ROUTER.1, ABSENT));
const HELD: &str = concat!(
    "SELECT ",
    OF_TICKET,
    " FROM ticket JOIN queue ON queue.id = ticket.queue_id
        LEFT JOIN agent ON agent.router_id = ticket.router_id AND agent.user_id = ticket.assigned_user_id
        LEFT JOIN desk_presence ON desk_presence.user_id = ticket.assigned_user_id
     WHERE ticket.status = 'assigned' AND ticket.kind = 'human' AND (agent.id IS NULL OR "
);
const ABSENT: &str = " OR (queue.reassign_after_minutes IS NOT NULL
            AND ticket.assigned_at <= $1 - queue.reassign_after_minutes * 60000
            AND (desk_presence.until IS NULL
                OR desk_presence.until <= $1 - queue.reassign_after_minutes * 60000)))
     ORDER BY ticket.created_at, ticket.id LIMIT $2";

pub(super) const CLAIM_UNANSWERED: Sql = sql_per(UNANSWERED, concat!(UNANSWERED, " FOR UPDATE SKIP LOCKED"));
const UNANSWERED: &str =
    concat!(Ticket::SELECT, " WHERE offer_ends_at <= $1 ORDER BY offer_ends_at LIMIT $2");

pub(super) const CLAIM_OVERDUE: Sql = sql_per(OVERDUE, concat!(OVERDUE, " FOR UPDATE SKIP LOCKED"));
const OVERDUE: &str =
    concat!(Ticket::SELECT, " WHERE service_next_at <= $1 ORDER BY service_next_at LIMIT $2");

pub(super) const CLAIM_ENDED_SURVEYS: Sql =
    sql_per(ENDED_SURVEYS, concat!(ENDED_SURVEYS, " FOR UPDATE SKIP LOCKED"));
const ENDED_SURVEYS: &str =
    concat!(Ticket::SELECT, " WHERE survey_ends_at <= $1 ORDER BY survey_ends_at LIMIT $2");

pub(super) const CLAIM_LOST: Sql = sql_per(LOST, concat!(LOST, " FOR UPDATE OF ticket SKIP LOCKED"));
const LOST: &str = concat!(
    "SELECT ",
    OF_TICKET,
    " FROM ticket LEFT JOIN session ON session.id = ticket.session_id
     WHERE ticket.session_id IS NOT NULL AND ticket.status IN ('waiting', 'assigned')
     AND (session.id IS NULL OR session.epoch <> ticket.epoch)
     AND (ticket.kind = 'human' OR COALESCE(session.last_interaction_at, ticket.updated_at) <= $1)
     ORDER BY ticket.id LIMIT $2"
);

/// The columns of a ticket beside those of other tables.
const OF_TICKET: &str = "ticket.id, ticket.kind, ticket.router_id, ticket.chat_id, ticket.contact_id, ticket.session_id,
    ticket.previous_ticket_id, ticket.opened_by_kind, ticket.open_reason, ticket.opened_by_user_id, ticket.epoch,
    ticket.created_at, ticket.queue_id, ticket.agent_id, ticket.status, ticket.assigned_user_id, ticket.assigned_at,
    ticket.offered_user_id, ticket.offer_ends_at, ticket.passed_by, ticket.closed_at,
    ticket.closed_by_user_id, ticket.close_kind, ticket.close_reason, ticket.summary,
    ticket.sentiment_result, ticket.sentiment_history, ticket.tag_ids, ticket.first_replied_at,
    ticket.service_clocks, ticket.service_next_at, ticket.survey, ticket.survey_ends_at,
    ticket.handoff_asked_at, ticket.contact_wrote_at, ticket.updated_at";

super::statement::statements! {
    CLAIM_WAITING, CLAIM_OLDEST_FOR, CLAIM_TO_NOTIFY, CLAIM_ABANDONED, UNATTENDED, CLAIM_UNANSWERED, CLAIM_OVERDUE,
    CLAIM_ENDED_SURVEYS, CLAIM_LOST
}
