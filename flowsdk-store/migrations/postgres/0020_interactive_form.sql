-- Forms of a router. Their definitions are large, and stand in a table of their own.
CREATE TABLE interactive_form (
    id TEXT COLLATE "C" PRIMARY KEY,
    router_id TEXT COLLATE "C" NOT NULL REFERENCES router (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    description TEXT,
    status TEXT NOT NULL,
    revision BIGINT NOT NULL,
    -- The provider's.
    provider_form_id TEXT,
    channel_number_id TEXT COLLATE "C" REFERENCES channel_number (id) ON DELETE SET NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    UNIQUE (router_id, name)
);
CREATE INDEX interactive_form_by_router ON interactive_form (router_id, created_at, id);
CREATE INDEX interactive_form_newest ON interactive_form (created_at, id);
CREATE INDEX interactive_form_by_number ON interactive_form (channel_number_id) WHERE channel_number_id IS NOT NULL;

CREATE TABLE interactive_form_definition (
    form_id TEXT COLLATE "C" PRIMARY KEY REFERENCES interactive_form (id) ON DELETE CASCADE,
    definition JSONB NOT NULL
);
