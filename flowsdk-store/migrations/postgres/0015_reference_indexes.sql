-- A deletion and a merge look for the rows that refer to a row: without these they would read whole tables.
CREATE INDEX flow_event_by_contact ON flow_event (contact_id);
CREATE INDEX flow_version_by_router ON flow_version (router_id);
CREATE INDEX contact_opt_in_by_chat ON contact_opt_in (chat_id) WHERE chat_id IS NOT NULL;
CREATE INDEX channel_by_initial_flow ON channel (initial_flow_id) WHERE initial_flow_id IS NOT NULL;
CREATE INDEX webchat_channel_by_initial_flow ON webchat_channel (initial_flow_id) WHERE initial_flow_id IS NOT NULL;
