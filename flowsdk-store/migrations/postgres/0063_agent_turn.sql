-- Events for AI agents that no turn has taken yet. One that was taken is known by its key for a while.
CREATE TABLE agent_inbox (
    id TEXT COLLATE "C" PRIMARY KEY,
    session_id TEXT COLLATE "C" NOT NULL,
    key TEXT COLLATE "C" NOT NULL,
    event JSONB NOT NULL,
    urgency TEXT NOT NULL,
    came_at BIGINT NOT NULL,
    taken_at BIGINT
);
CREATE UNIQUE INDEX agent_inbox_key ON agent_inbox (key);
CREATE INDEX agent_inbox_waiting ON agent_inbox (id) WHERE taken_at IS NULL;
CREATE INDEX agent_inbox_by_session ON agent_inbox (session_id, id) WHERE taken_at IS NULL;
CREATE INDEX agent_inbox_taken ON agent_inbox (taken_at) WHERE taken_at IS NOT NULL;

-- The turns of AI agents: what the model was told, what it answered, and what came of each call.
CREATE TABLE agent_turn (
    id TEXT COLLATE "C" PRIMARY KEY,
    router_id TEXT COLLATE "C" NOT NULL REFERENCES router (id) ON DELETE CASCADE,
    session_id TEXT COLLATE "C" NOT NULL,
    chat_id TEXT COLLATE "C" NOT NULL REFERENCES chat (id) ON DELETE CASCADE,
    agent_id TEXT COLLATE "C" NOT NULL,
    epoch BIGINT NOT NULL,
    activation BIGINT NOT NULL,
    number BIGINT NOT NULL,
    step BIGINT NOT NULL,
    is_running BIGINT NOT NULL,
    items JSONB NOT NULL,
    answered BIGINT NOT NULL,
    course JSONB NOT NULL,
    began_call TEXT,
    answers JSONB NOT NULL,
    end_reason TEXT,
    error TEXT,
    began_at BIGINT NOT NULL,
    ended_at BIGINT
);
-- A session has one turn at a time.
CREATE UNIQUE INDEX agent_turn_running ON agent_turn (session_id) WHERE is_running = 1;
CREATE INDEX agent_turn_by_session ON agent_turn (session_id, epoch, activation, number);
CREATE INDEX agent_turn_by_router ON agent_turn (router_id, began_at, id);
CREATE INDEX agent_turn_newest ON agent_turn (began_at, id);
CREATE INDEX agent_turn_by_chat ON agent_turn (chat_id);
