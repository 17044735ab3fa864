-- Turns of AI agents are listed newest first: those of a session, a chat or an agent, those that failed, those that run.
DROP INDEX agent_turn_by_chat;
CREATE INDEX agent_turn_by_chat ON agent_turn (chat_id, began_at, id);
CREATE INDEX agent_turn_of_session ON agent_turn (session_id, began_at, id);
CREATE INDEX agent_turn_by_agent ON agent_turn (agent_id, began_at, id);
CREATE INDEX agent_turn_failed ON agent_turn (began_at, id) WHERE error IS NOT NULL;
CREATE INDEX agent_turn_failed_of_router ON agent_turn (router_id, began_at, id) WHERE error IS NOT NULL;
CREATE INDEX agent_turn_unfinished ON agent_turn (began_at, id) WHERE ended_at IS NULL;

-- What models cost in a router: millionths of a unit of its currency for a million tokens.
CREATE TABLE model_price (
    id TEXT PRIMARY KEY,
    router_id TEXT NOT NULL REFERENCES router (id) ON DELETE CASCADE,
    model TEXT NOT NULL,
    input_per_million INTEGER NOT NULL,
    cached_input_per_million INTEGER,
    output_per_million INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX model_price_of_model ON model_price (router_id, model);
CREATE INDEX model_price_newest ON model_price (created_at, id);
CREATE INDEX model_price_by_router ON model_price (router_id, created_at, id);
