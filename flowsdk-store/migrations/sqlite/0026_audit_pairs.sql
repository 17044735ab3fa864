-- Records of an actor and an action may be few among those of either, and their failures fewer still.
CREATE INDEX audit_log_by_actor_and_action ON audit_log (actor_id, action, id);
CREATE INDEX audit_log_failures_by_actor_and_action ON audit_log (actor_id, action, id) WHERE status = 'failure';
CREATE INDEX audit_log_by_router_actor_and_action ON audit_log (router_id, actor_id, action, id) WHERE router_id IS NOT NULL;
