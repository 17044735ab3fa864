-- AI agents of routers, what they are told, what they must not do, and to whom they hand conversations.
CREATE TABLE ai_agent (
    id TEXT COLLATE "C" PRIMARY KEY,
    router_id TEXT COLLATE "C" NOT NULL REFERENCES router (id) ON DELETE CASCADE,
    agent_type TEXT NOT NULL,
    task TEXT,
    name TEXT NOT NULL,
    description TEXT NOT NULL,
    model TEXT NOT NULL,
    llm_credential_id TEXT COLLATE "C" REFERENCES llm_credential (id) ON DELETE SET NULL,
    fallback_model TEXT,
    fallback_llm_credential_id TEXT COLLATE "C" REFERENCES llm_credential (id) ON DELETE SET NULL,
    enabled_internal_tools JSONB NOT NULL,
    native_tool_descriptions JSONB NOT NULL,
    contact_variable_keys JSONB,
    rag_tags JSONB NOT NULL,
    has_vision BIGINT NOT NULL,
    max_output_tokens BIGINT,
    is_active BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);
CREATE INDEX ai_agent_by_router ON ai_agent (router_id, created_at, id);
CREATE INDEX ai_agent_newest ON ai_agent (created_at, id);
CREATE INDEX ai_agent_by_credential ON ai_agent (llm_credential_id) WHERE llm_credential_id IS NOT NULL;
CREATE INDEX ai_agent_by_fallback_credential ON ai_agent (fallback_llm_credential_id)
    WHERE fallback_llm_credential_id IS NOT NULL;

CREATE TABLE system_prompt (
    id TEXT COLLATE "C" PRIMARY KEY,
    router_id TEXT COLLATE "C" NOT NULL REFERENCES router (id) ON DELETE CASCADE,
    agent_id TEXT COLLATE "C" NOT NULL REFERENCES ai_agent (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    text TEXT NOT NULL,
    place BIGINT NOT NULL,
    is_active BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);
CREATE INDEX system_prompt_by_router ON system_prompt (router_id, created_at, id);
CREATE INDEX system_prompt_newest ON system_prompt (created_at, id);
CREATE INDEX system_prompt_by_agent ON system_prompt (agent_id, created_at, id);

CREATE TABLE guardrail (
    id TEXT COLLATE "C" PRIMARY KEY,
    router_id TEXT COLLATE "C" NOT NULL REFERENCES router (id) ON DELETE CASCADE,
    agent_id TEXT COLLATE "C" REFERENCES ai_agent (id) ON DELETE CASCADE,
    text TEXT NOT NULL,
    is_active BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);
CREATE INDEX guardrail_by_router ON guardrail (router_id, created_at, id);
CREATE INDEX guardrail_newest ON guardrail (created_at, id);
CREATE INDEX guardrail_by_agent ON guardrail (agent_id, created_at, id);

CREATE TABLE ai_agent_route (
    id TEXT COLLATE "C" PRIMARY KEY,
    router_id TEXT COLLATE "C" NOT NULL REFERENCES router (id) ON DELETE CASCADE,
    from_agent_id TEXT COLLATE "C" NOT NULL REFERENCES ai_agent (id) ON DELETE CASCADE,
    to_agent_id TEXT COLLATE "C" NOT NULL REFERENCES ai_agent (id) ON DELETE CASCADE,
    description TEXT NOT NULL,
    is_active BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    UNIQUE (from_agent_id, to_agent_id)
);
CREATE INDEX ai_agent_route_by_router ON ai_agent_route (router_id, created_at, id);
CREATE INDEX ai_agent_route_newest ON ai_agent_route (created_at, id);
CREATE INDEX ai_agent_route_to ON ai_agent_route (to_agent_id);
