-- What is enforced of a guardrail, beside its text for models.
ALTER TABLE guardrail ADD COLUMN rules JSONB;
