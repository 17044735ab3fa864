-- AI agents of routers, what they are told, what they must not do, and to whom they hand conversations.
CREATE TABLE ai_agent (
    id TEXT PRIMARY KEY,
    router_id TEXT NOT NULL REFERENCES router (id) ON DELETE CASCADE,
    agent_type TEXT NOT NULL,
    task TEXT,
    name TEXT NOT NULL,
    description TEXT NOT NULL,
    model TEXT NOT NULL,
    llm_credential_id TEXT REFERENCES llm_credential (id) ON DELETE SET NULL,
    fallback_model TEXT,
    fallback_llm_credential_id TEXT REFERENCES llm_credential (id) ON DELETE SET NULL,
    enabled_internal_tools TEXT NOT NULL,
    native_tool_descriptions TEXT NOT NULL,
    contact_variable_keys TEXT,
    rag_tags TEXT NOT NULL,
    has_vision INTEGER NOT NULL,
    max_output_tokens INTEGER,
    is_active INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
) STRICT;
CREATE INDEX ai_agent_by_router ON ai_agent (router_id, created_at, id);
CREATE INDEX ai_agent_newest ON ai_agent (created_at, id);
CREATE INDEX ai_agent_by_credential ON ai_agent (llm_credential_id) WHERE llm_credential_id IS NOT NULL;
CREATE INDEX ai_agent_by_fallback_credential ON ai_agent (fallback_llm_credential_id)
    WHERE fallback_llm_credential_id IS NOT NULL;

CREATE TABLE system_prompt (
    id TEXT PRIMARY KEY,
    router_id TEXT NOT NULL REFERENCES router (id) ON DELETE CASCADE,
    agent_id TEXT NOT NULL REFERENCES ai_agent (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    text TEXT NOT NULL,
    place INTEGER NOT NULL,
    is_active INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
) STRICT;
CREATE INDEX system_prompt_by_router ON system_prompt (router_id, created_at, id);
CREATE INDEX system_prompt_newest ON system_prompt (created_at, id);
CREATE INDEX system_prompt_by_agent ON system_prompt (agent_id, created_at, id);

CREATE TABLE guardrail (
    id TEXT PRIMARY KEY,
    router_id TEXT NOT NULL REFERENCES router (id) ON DELETE CASCADE,
    agent_id TEXT REFERENCES ai_agent (id) ON DELETE CASCADE,
    text TEXT NOT NULL,
    is_active INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
) STRICT;
CREATE INDEX guardrail_by_router ON guardrail (router_id, created_at, id);
CREATE INDEX guardrail_newest ON guardrail (created_at, id);
CREATE INDEX guardrail_by_agent ON guardrail (agent_id, created_at, id);

CREATE TABLE ai_agent_route (
    id TEXT PRIMARY KEY,
    router_id TEXT NOT NULL REFERENCES router (id) ON DELETE CASCADE,
    from_agent_id TEXT NOT NULL REFERENCES ai_agent (id) ON DELETE CASCADE,
    to_agent_id TEXT NOT NULL REFERENCES ai_agent (id) ON DELETE CASCADE,
    description TEXT NOT NULL,
    is_active INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    UNIQUE (from_agent_id, to_agent_id)
) STRICT;
CREATE INDEX ai_agent_route_by_router ON ai_agent_route (router_id, created_at, id);
CREATE INDEX ai_agent_route_newest ON ai_agent_route (created_at, id);
CREATE INDEX ai_agent_route_to ON ai_agent_route (to_agent_id);
