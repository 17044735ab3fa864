-- The tool that answers what a form asks while it is open.
ALTER TABLE interactive_form ADD COLUMN flow_id TEXT REFERENCES flow (id) ON DELETE SET NULL;
CREATE INDEX interactive_form_by_flow ON interactive_form (flow_id) WHERE flow_id IS NOT NULL;
