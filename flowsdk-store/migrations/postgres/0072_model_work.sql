-- Models are asked for more than turns: for summaries, sentiments, transcriptions and vectors. What no agent was asked has an
-- empty agent_id. Processes of the version before note turns only, so that is what a note is by default. A note that belongs
-- to no turn has an id of its own as turn_id.
ALTER TABLE model_call ADD COLUMN work TEXT COLLATE "C" NOT NULL DEFAULT 'turn';

-- The work is part of the key.
ALTER TABLE model_usage ADD COLUMN work TEXT COLLATE "C" NOT NULL DEFAULT 'turn';
ALTER TABLE model_usage ALTER COLUMN work DROP DEFAULT;
ALTER TABLE model_usage DROP CONSTRAINT model_usage_pkey;
ALTER TABLE model_usage ADD PRIMARY KEY (router_id, day, work, agent_id, model);
