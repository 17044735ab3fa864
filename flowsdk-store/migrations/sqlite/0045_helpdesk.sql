-- Queues, in which tickets wait. `last_user_id` is who was given the last ticket by turns.
CREATE TABLE queue (
    id TEXT PRIMARY KEY,
    router_id TEXT NOT NULL REFERENCES router (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    distribution_strategy TEXT NOT NULL,
    max_concurrent_tickets_per_agent INTEGER NOT NULL,
    abandon_after_minutes INTEGER,
    is_active INTEGER NOT NULL,
    last_user_id TEXT,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    UNIQUE (router_id, name)
) STRICT;
CREATE INDEX queue_by_router ON queue (router_id, created_at, id);
CREATE INDEX queue_newest ON queue (created_at, id);

ALTER TABLE agent ADD COLUMN updated_at INTEGER NOT NULL DEFAULT 0;
UPDATE agent SET updated_at = created_at;
CREATE INDEX agent_by_router ON agent (router_id, created_at, id);
CREATE INDEX agent_newest ON agent (created_at, id);

CREATE TABLE queue_agent (
    queue_id TEXT NOT NULL REFERENCES queue (id) ON DELETE CASCADE,
    agent_id TEXT NOT NULL REFERENCES agent (id) ON DELETE CASCADE,
    PRIMARY KEY (queue_id, agent_id)
) STRICT;
CREATE INDEX queue_agent_by_agent ON queue_agent (agent_id, queue_id);

-- Who is at the desk. A row that has run out says nothing.
CREATE TABLE desk_presence (
    user_id TEXT PRIMARY KEY REFERENCES user_account (id) ON DELETE CASCADE,
    status TEXT NOT NULL,
    until INTEGER NOT NULL
) STRICT;

-- Which queue a handoff goes to.
CREATE TABLE queue_distribution_rule (
    id TEXT PRIMARY KEY,
    router_id TEXT NOT NULL REFERENCES router (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    priority INTEGER NOT NULL,
    conditions TEXT NOT NULL,
    target_queue_id TEXT NOT NULL REFERENCES queue (id) ON DELETE CASCADE,
    flow_id TEXT REFERENCES flow (id) ON DELETE CASCADE,
    is_active INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
) STRICT;
CREATE INDEX queue_distribution_rule_by_router ON queue_distribution_rule (router_id, created_at, id);
CREATE INDEX queue_distribution_rule_newest ON queue_distribution_rule (created_at, id);
CREATE INDEX queue_distribution_rule_by_queue ON queue_distribution_rule (target_queue_id);
CREATE INDEX queue_distribution_rule_by_flow ON queue_distribution_rule (flow_id);

-- A stretch of attendance. Closed ones outlive their queue.
CREATE TABLE ticket (
    id TEXT PRIMARY KEY,
    kind TEXT NOT NULL,
    router_id TEXT NOT NULL REFERENCES router (id) ON DELETE CASCADE,
    chat_id TEXT NOT NULL REFERENCES chat (id) ON DELETE CASCADE,
    contact_id TEXT NOT NULL REFERENCES contact (id) ON DELETE CASCADE,
    session_id TEXT,
    previous_ticket_id TEXT REFERENCES ticket (id) ON DELETE SET NULL,
    queue_id TEXT NOT NULL,
    status TEXT NOT NULL,
    assigned_user_id TEXT,
    assigned_at INTEGER,
    opened_by_kind TEXT NOT NULL,
    open_reason TEXT NOT NULL,
    opened_by_user_id TEXT,
    closed_at INTEGER,
    closed_by_user_id TEXT,
    close_kind TEXT,
    close_reason TEXT,
    summary TEXT,
    epoch INTEGER,
    contact_wrote_at INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
) STRICT;
CREATE INDEX ticket_by_router ON ticket (router_id, created_at, id);
CREATE INDEX ticket_newest ON ticket (created_at, id);
CREATE INDEX ticket_by_status ON ticket (status, created_at, id);
CREATE INDEX ticket_by_router_status ON ticket (router_id, status, created_at, id);
CREATE INDEX ticket_by_queue ON ticket (queue_id, created_at, id);
CREATE INDEX ticket_by_queue_status ON ticket (queue_id, status, created_at, id);
CREATE INDEX ticket_by_user ON ticket (assigned_user_id, created_at, id);
CREATE INDEX ticket_by_user_status ON ticket (assigned_user_id, status, created_at, id);
CREATE INDEX ticket_by_chat ON ticket (chat_id, created_at, id);
CREATE INDEX ticket_by_contact ON ticket (contact_id);
CREATE INDEX ticket_by_previous ON ticket (previous_ticket_id);
CREATE INDEX ticket_waiting ON ticket (queue_id, contact_wrote_at) WHERE status = 'waiting';
CREATE INDEX ticket_of_agent ON ticket (router_id, assigned_user_id) WHERE status = 'assigned';
CREATE INDEX ticket_of_session ON ticket (session_id, epoch);
CREATE INDEX ticket_open_of_session ON ticket (session_id) WHERE status <> 'closed';
-- A conversation is with people once at a time, and a handoff makes one ticket however often it comes.
CREATE UNIQUE INDEX ticket_open_of_chat ON ticket (chat_id) WHERE status <> 'closed' AND kind = 'human';
CREATE UNIQUE INDEX ticket_of_handoff ON ticket (session_id, epoch) WHERE open_reason = 'human_handoff';

-- Handoffs that no queue has taken yet.
CREATE TABLE stuck_handoff (
    session_id TEXT PRIMARY KEY,
    router_id TEXT NOT NULL REFERENCES router (id) ON DELETE CASCADE,
    event TEXT NOT NULL,
    attempts INTEGER NOT NULL,
    due_at INTEGER NOT NULL,
    created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX stuck_handoff_due ON stuck_handoff (due_at);
CREATE INDEX stuck_handoff_by_router ON stuck_handoff (router_id, created_at, session_id);
CREATE INDEX stuck_handoff_newest ON stuck_handoff (created_at, session_id);

-- News for desks: numbered for each user without gaps, in the order of the commits.
CREATE TABLE desk_seq (user_id TEXT PRIMARY KEY, last INTEGER NOT NULL) STRICT;
CREATE TABLE desk_news (
    user_id TEXT NOT NULL,
    seq INTEGER NOT NULL,
    event TEXT NOT NULL,
    payload TEXT NOT NULL,
    key TEXT UNIQUE,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (user_id, seq)
) STRICT;
CREATE INDEX desk_news_oldest ON desk_news (created_at);
