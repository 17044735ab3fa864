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

-- Calls of models that are not counted yet. A turn writes them with its answers.
CREATE TABLE model_call (
    turn_id TEXT NOT NULL,
    position INTEGER NOT NULL,
    router_id TEXT NOT NULL REFERENCES router (id) ON DELETE CASCADE,
    agent_id TEXT NOT NULL,
    model TEXT NOT NULL,
    day TEXT NOT NULL,
    input_tokens INTEGER NOT NULL,
    cached_input_tokens INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL,
    PRIMARY KEY (turn_id, position)
) STRICT;
CREATE INDEX model_call_by_router ON model_call (router_id);

-- What agents used of models on a day, in UTC. Costs are millionths of a unit of the currency of the prices.
CREATE TABLE model_usage (
    router_id TEXT NOT NULL REFERENCES router (id) ON DELETE CASCADE,
    day TEXT NOT NULL,
    agent_id TEXT NOT NULL,
    model TEXT NOT NULL,
    calls INTEGER NOT NULL,
    input_tokens INTEGER NOT NULL,
    cached_input_tokens INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL,
    cost INTEGER NOT NULL,
    unpriced_tokens INTEGER NOT NULL,
    PRIMARY KEY (router_id, day, agent_id, model)
) STRICT;
CREATE INDEX model_usage_by_day ON model_usage (day);

-- What routers have spent in a month, as 2026-11: the costs of model_usage.
CREATE TABLE router_spending (
    router_id TEXT NOT NULL REFERENCES router (id) ON DELETE CASCADE,
    month TEXT NOT NULL,
    cost INTEGER NOT NULL,
    PRIMARY KEY (router_id, month)
) STRICT;
CREATE INDEX router_spending_by_month ON router_spending (month);

-- What the models of a router may cost in a month, and the month of which it was warned last.
CREATE TABLE ai_budget (
    id TEXT PRIMARY KEY,
    router_id TEXT NOT NULL REFERENCES router (id) ON DELETE CASCADE,
    monthly_amount INTEGER NOT NULL,
    is_active INTEGER NOT NULL,
    warned_of TEXT,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX ai_budget_of_router ON ai_budget (router_id);
CREATE INDEX ai_budget_newest ON ai_budget (created_at, id);
