-- Models are asked for more than turns: for summaries, sentiments, transcriptions and vectors. What no agent was asked has an
-- empty agent_id. Processes of the version before note turns only, so that is what a note is by default. A note that belongs
-- to no turn has an id of its own as turn_id.
ALTER TABLE model_call ADD COLUMN work TEXT NOT NULL DEFAULT 'turn';

-- The work is part of the key. No key of a table can be changed in place.
CREATE TABLE model_usage_of_work (
    router_id TEXT NOT NULL REFERENCES router (id) ON DELETE CASCADE,
    day TEXT NOT NULL,
    work TEXT NOT NULL,
    agent_id TEXT NOT NULL,
    model TEXT NOT NULL,
    calls INTEGER NOT NULL,
    input_tokens INTEGER NOT NULL,
    cached_input_tokens INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL,
    cost INTEGER NOT NULL,
    unpriced_tokens INTEGER NOT NULL,
    PRIMARY KEY (router_id, day, work, agent_id, model)
) STRICT;
INSERT INTO model_usage_of_work SELECT router_id, day, 'turn', agent_id, model, calls, input_tokens, cached_input_tokens,
    output_tokens, cost, unpriced_tokens FROM model_usage;
DROP TABLE model_usage;
ALTER TABLE model_usage_of_work RENAME TO model_usage;
CREATE INDEX model_usage_by_day ON model_usage (day);
