-- Groups of agents.
CREATE TABLE agent_group (
    id TEXT PRIMARY KEY,
    router_id TEXT NOT NULL REFERENCES router (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    can_active_dispatch INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    UNIQUE (router_id, name)
) STRICT;
CREATE INDEX agent_group_by_router ON agent_group (router_id, created_at, id);
CREATE INDEX agent_group_newest ON agent_group (created_at, id);

ALTER TABLE agent ADD COLUMN group_id TEXT REFERENCES agent_group (id) ON DELETE SET NULL;
CREATE INDEX agent_by_group ON agent (group_id);
