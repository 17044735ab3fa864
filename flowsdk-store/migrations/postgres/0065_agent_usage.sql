-- Turns of AI agents are listed newest first: those of a session, a chat or an agent, those that failed, those that run.
DROP INDEX agent_turn_by_chat;
CREATE INDEX agent_turn_by_chat ON agent_turn (chat_id, began_at, id);
CREATE INDEX agent_turn_of_session ON agent_turn (session_id, began_at, id);
CREATE INDEX agent_turn_by_agent ON agent_turn (agent_id, began_at, id);
CREATE INDEX agent_turn_failed ON agent_turn (began_at, id) WHERE error IS NOT NULL;
CREATE INDEX agent_turn_failed_of_router ON agent_turn (router_id, began_at, id) WHERE error IS NOT NULL;
CREATE INDEX agent_turn_unfinished ON agent_turn (began_at, id) WHERE ended_at IS NULL;
