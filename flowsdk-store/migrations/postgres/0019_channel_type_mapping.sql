-- The names that people and outside systems have for the channels of a router.
CREATE TABLE channel_type_mapping (
    id TEXT COLLATE "C" PRIMARY KEY,
    router_id TEXT COLLATE "C" NOT NULL REFERENCES router (id) ON DELETE CASCADE,
    channel_type TEXT NOT NULL,
    label TEXT NOT NULL,
    external_type TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    UNIQUE (router_id, channel_type)
);
CREATE INDEX channel_type_mapping_by_router ON channel_type_mapping (router_id, created_at, id);
CREATE INDEX channel_type_mapping_newest ON channel_type_mapping (created_at, id);
