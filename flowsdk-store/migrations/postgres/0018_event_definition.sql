-- The properties of the tracked events of a name. Events do not refer to their definition: they are tracked without one, too.
CREATE TABLE event_definition (
    id TEXT COLLATE "C" PRIMARY KEY,
    router_id TEXT COLLATE "C" NOT NULL REFERENCES router (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    description TEXT,
    properties JSONB NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    UNIQUE (router_id, name)
);
CREATE INDEX event_definition_by_router ON event_definition (router_id, created_at, id);
CREATE INDEX event_definition_newest ON event_definition (created_at, id);
-- Events are counted by name, and the last of each is found, in the index alone.
CREATE INDEX flow_event_by_name ON flow_event (router_id, name, created_at);
