-- Queues, in which tickets wait. `last_user_id` is who was given the last ticket by turns.
CREATE TABLE queue (
    id TEXT COLLATE "C" PRIMARY KEY,
    router_id TEXT COLLATE "C" NOT NULL REFERENCES router (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    distribution_strategy TEXT NOT NULL,
    max_concurrent_tickets_per_agent BIGINT NOT NULL,
    abandon_after_minutes BIGINT,
    is_active BIGINT NOT NULL,
    last_user_id TEXT COLLATE "C",
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    UNIQUE (router_id, name)
);
CREATE INDEX queue_by_router ON queue (router_id, created_at, id);
CREATE INDEX queue_newest ON queue (created_at, id);

ALTER TABLE agent ADD COLUMN updated_at BIGINT NOT NULL DEFAULT 0;
UPDATE agent SET updated_at = created_at;
CREATE INDEX agent_by_router ON agent (router_id, created_at, id);
CREATE INDEX agent_newest ON agent (created_at, id);

CREATE TABLE queue_agent (
    queue_id TEXT COLLATE "C" NOT NULL REFERENCES queue (id) ON DELETE CASCADE,
    agent_id TEXT COLLATE "C" NOT NULL REFERENCES agent (id) ON DELETE CASCADE,
    PRIMARY KEY (queue_id, agent_id)
);
CREATE INDEX queue_agent_by_agent ON queue_agent (agent_id, queue_id);

-- Who is at the desk. A row that has run out says nothing.
CREATE TABLE desk_presence (
    user_id TEXT COLLATE "C" PRIMARY KEY REFERENCES user_account (id) ON DELETE CASCADE,
    status TEXT NOT NULL,
    until BIGINT NOT NULL
);

-- Which queue a handoff goes to.
CREATE TABLE queue_distribution_rule (
    id TEXT COLLATE "C" PRIMARY KEY,
    router_id TEXT COLLATE "C" NOT NULL REFERENCES router (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    priority BIGINT NOT NULL,
    conditions JSONB NOT NULL,
    target_queue_id TEXT COLLATE "C" NOT NULL REFERENCES queue (id) ON DELETE CASCADE,
    flow_id TEXT COLLATE "C" REFERENCES flow (id) ON DELETE CASCADE,
    is_active BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);
CREATE INDEX queue_distribution_rule_by_router ON queue_distribution_rule (router_id, created_at, id);
CREATE INDEX queue_distribution_rule_newest ON queue_distribution_rule (created_at, id);
CREATE INDEX queue_distribution_rule_by_queue ON queue_distribution_rule (target_queue_id);
CREATE INDEX queue_distribution_rule_by_flow ON queue_distribution_rule (flow_id);

-- A stretch of attendance. Closed ones outlive their queue.
CREATE TABLE ticket (
    id TEXT COLLATE "C" PRIMARY KEY,
    kind TEXT NOT NULL,
    router_id TEXT COLLATE "C" NOT NULL REFERENCES router (id) ON DELETE CASCADE,
    chat_id TEXT COLLATE "C" NOT NULL REFERENCES chat (id) ON DELETE CASCADE,
    contact_id TEXT COLLATE "C" NOT NULL REFERENCES contact (id) ON DELETE CASCADE,
    session_id TEXT COLLATE "C",
    previous_ticket_id TEXT COLLATE "C" REFERENCES ticket (id) ON DELETE SET NULL,
    queue_id TEXT COLLATE "C" NOT NULL,
    status TEXT NOT NULL,
    assigned_user_id TEXT COLLATE "C",
    assigned_at BIGINT,
    opened_by_kind TEXT NOT NULL,
    open_reason TEXT NOT NULL,
    opened_by_user_id TEXT COLLATE "C",
    closed_at BIGINT,
    closed_by_user_id TEXT COLLATE "C",
    close_kind TEXT,
    close_reason TEXT,
    summary TEXT,
    epoch BIGINT,
    contact_wrote_at BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);
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
    session_id TEXT COLLATE "C" PRIMARY KEY,
    router_id TEXT COLLATE "C" NOT NULL REFERENCES router (id) ON DELETE CASCADE,
    event JSONB NOT NULL,
    attempts BIGINT NOT NULL,
    due_at BIGINT NOT NULL,
    created_at BIGINT NOT NULL
);
CREATE INDEX stuck_handoff_due ON stuck_handoff (due_at);
CREATE INDEX stuck_handoff_by_router ON stuck_handoff (router_id, created_at, session_id);
CREATE INDEX stuck_handoff_newest ON stuck_handoff (created_at, session_id);

-- News for desks: numbered for each user without gaps, in the order of the commits.
CREATE TABLE desk_seq (user_id TEXT COLLATE "C" PRIMARY KEY, last BIGINT NOT NULL);
CREATE TABLE desk_news (
    user_id TEXT COLLATE "C" NOT NULL,
    seq BIGINT NOT NULL,
    event TEXT NOT NULL,
    payload JSONB NOT NULL,
    key TEXT COLLATE "C" UNIQUE,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (user_id, seq)
);
CREATE INDEX desk_news_oldest ON desk_news (created_at);
