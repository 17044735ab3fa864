-- Events for AI agents that no turn has taken yet. One that was taken is known by its key for a while.
CREATE TABLE agent_inbox (
    id TEXT PRIMARY KEY,
    session_id TEXT NOT NULL,
    key TEXT NOT NULL,
    event TEXT NOT NULL,
    urgency TEXT NOT NULL,
    came_at INTEGER NOT NULL,
    taken_at INTEGER
) STRICT;
CREATE UNIQUE INDEX agent_inbox_key ON agent_inbox (key);
CREATE INDEX agent_inbox_waiting ON agent_inbox (id) WHERE taken_at IS NULL;
CREATE INDEX agent_inbox_by_session ON agent_inbox (session_id, id) WHERE taken_at IS NULL;
CREATE INDEX agent_inbox_taken ON agent_inbox (taken_at) WHERE taken_at IS NOT NULL;

-- The turns of AI agents: what the model was told, what it answered, and what came of each call.
CREATE TABLE agent_turn (
    id TEXT PRIMARY KEY,
    router_id TEXT NOT NULL REFERENCES router (id) ON DELETE CASCADE,
    session_id TEXT NOT NULL,
    chat_id TEXT NOT NULL REFERENCES chat (id) ON DELETE CASCADE,
    agent_id TEXT NOT NULL,
    epoch INTEGER NOT NULL,
    activation INTEGER NOT NULL,
    number INTEGER NOT NULL,
    step INTEGER NOT NULL,
    is_running INTEGER NOT NULL,
    items TEXT NOT NULL,
    answered INTEGER NOT NULL,
    course TEXT NOT NULL,
    began_call TEXT,
    answers TEXT NOT NULL,
    end_reason TEXT,
    error TEXT,
    began_at INTEGER NOT NULL,
    ended_at INTEGER
) STRICT;
-- A session has one turn at a time.
CREATE UNIQUE INDEX agent_turn_running ON agent_turn (session_id) WHERE is_running = 1;
CREATE INDEX agent_turn_by_session ON agent_turn (session_id, epoch, activation, number);
CREATE INDEX agent_turn_by_router ON agent_turn (router_id, began_at, id);
CREATE INDEX agent_turn_newest ON agent_turn (began_at, id);
CREATE INDEX agent_turn_by_chat ON agent_turn (chat_id);
