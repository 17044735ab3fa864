-- No foreign keys: a record outlives what it is about. `id_drift` is how far (ms) the time in the id is from
-- `created_at`, 0 when that is next to nothing: it says how far a range of times reaches in the order of ids.
CREATE TABLE audit_log (
    id TEXT COLLATE "C" PRIMARY KEY,
    action TEXT COLLATE "C" NOT NULL,
    entity_type TEXT COLLATE "C",
    entity_id TEXT COLLATE "C",
    actor_id TEXT COLLATE "C",
    router_id TEXT COLLATE "C",
    status TEXT COLLATE "C" NOT NULL,
    changes JSONB,
    metadata JSONB,
    created_at BIGINT NOT NULL,
    id_drift BIGINT NOT NULL DEFAULT 0
);
CREATE INDEX audit_log_by_actor ON audit_log (actor_id, id);
CREATE INDEX audit_log_by_entity_type ON audit_log (entity_type, id);
CREATE INDEX audit_log_by_action ON audit_log (action, id);
CREATE INDEX audit_log_by_status ON audit_log (status, id);
-- Who is confined to some routers sees the newest of each; most records are of none.
CREATE INDEX audit_log_by_router ON audit_log (router_id, id) WHERE router_id IS NOT NULL;
CREATE INDEX audit_log_by_router_and_actor ON audit_log (router_id, actor_id, id) WHERE router_id IS NOT NULL;
CREATE INDEX audit_log_by_router_and_entity_type ON audit_log (router_id, entity_type, id) WHERE router_id IS NOT NULL;
CREATE INDEX audit_log_by_router_and_action ON audit_log (router_id, action, id) WHERE router_id IS NOT NULL;
CREATE INDEX audit_log_by_router_and_status ON audit_log (router_id, status, id) WHERE router_id IS NOT NULL;
CREATE INDEX audit_log_oldest ON audit_log (created_at);
CREATE INDEX audit_log_drift ON audit_log (id_drift) WHERE id_drift > 0;
