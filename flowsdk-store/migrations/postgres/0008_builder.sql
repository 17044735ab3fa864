ALTER TABLE flow ADD COLUMN kind TEXT COLLATE "C" NOT NULL DEFAULT 'flow';
-- The version that the test channel runs. Test versions are numbered 0, -1, -2 ..., published ones 1, 2, 3 ...
ALTER TABLE flow ADD COLUMN test_version_id TEXT COLLATE "C" REFERENCES flow_version (id);
ALTER TABLE flow ADD COLUMN updated_at BIGINT NOT NULL DEFAULT 0;
UPDATE flow SET updated_at = created_at;
CREATE INDEX flow_newest ON flow (created_at, id);

-- Apart from the flow, which every turn reads.
CREATE TABLE flow_draft (
    flow_id TEXT COLLATE "C" PRIMARY KEY REFERENCES flow (id) ON DELETE CASCADE,
    revision BIGINT NOT NULL,
    definition JSONB NOT NULL,
    updated_at BIGINT NOT NULL
);

CREATE INDEX router_by_name ON router (name);
CREATE INDEX router_variable_newest ON router_variable (router_id, created_at, id);
CREATE INDEX flow_variable_newest ON flow_variable (flow_id, created_at, id);

CREATE INDEX webchat_channel_newest ON webchat_channel (created_at, id);
