-- Searches of the list of contacts that the people of a router keep under a name.
CREATE TABLE contact_filter (
    id TEXT COLLATE "C" PRIMARY KEY,
    router_id TEXT COLLATE "C" NOT NULL REFERENCES router (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    q TEXT,
    origin TEXT,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);
CREATE INDEX contact_filter_by_router ON contact_filter (router_id, created_at, id);
CREATE INDEX contact_filter_newest ON contact_filter (created_at, id);
