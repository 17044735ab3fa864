-- Groups of agents.
CREATE TABLE agent_group (
    id TEXT COLLATE "C" PRIMARY KEY,
    router_id TEXT COLLATE "C" NOT NULL REFERENCES router (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    can_active_dispatch BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    UNIQUE (router_id, name)
);
CREATE INDEX agent_group_by_router ON agent_group (router_id, created_at, id);
CREATE INDEX agent_group_newest ON agent_group (created_at, id);

ALTER TABLE agent ADD COLUMN group_id TEXT COLLATE "C" REFERENCES agent_group (id) ON DELETE SET NULL;
CREATE INDEX agent_by_group ON agent (group_id);
