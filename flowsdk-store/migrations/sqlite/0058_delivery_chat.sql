-- A chat that is deleted takes what webhooks were told of it along.
CREATE INDEX webhook_delivery_by_key ON webhook_delivery (key);
