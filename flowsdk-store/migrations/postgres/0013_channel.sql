-- The channels of every kind, by the id that incoming events name: turns find their router here. Each kind keeps
-- its own table for the rest, and writes both in one transaction.
CREATE TABLE channel (
    id TEXT COLLATE "C" PRIMARY KEY,
    router_id TEXT COLLATE "C" NOT NULL REFERENCES router (id) ON DELETE CASCADE,
    kind TEXT NOT NULL,
    is_test BIGINT NOT NULL,
    -- NULL begins with the router's.
    initial_flow_id TEXT COLLATE "C" REFERENCES flow (id) ON DELETE SET NULL
);
CREATE INDEX channel_by_router ON channel (router_id);
INSERT INTO channel (id, router_id, kind, is_test, initial_flow_id)
    SELECT 'wc-' || id, router_id, 'webchat', is_test_channel, initial_flow_id FROM webchat_channel;
INSERT INTO channel (id, router_id, kind, is_test, initial_flow_id)
    SELECT phone_number_id, router_id, 'phone', 0, NULL FROM channel_number;
