-- Searches of the list of contacts that the people of a router keep under a name.
CREATE TABLE contact_filter (
    id TEXT PRIMARY KEY,
    router_id TEXT NOT NULL REFERENCES router (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    q TEXT,
    origin TEXT,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
) STRICT;
CREATE INDEX contact_filter_by_router ON contact_filter (router_id, created_at, id);
CREATE INDEX contact_filter_newest ON contact_filter (created_at, id);
