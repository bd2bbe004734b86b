-- One look tells every replica which of the keys that it knows are still there: their names, and nothing else of them.

GRANT SELECT (tenant_id, key_id) ON api_keys TO toolcrib_platform;
CREATE POLICY watch_names ON api_keys FOR SELECT TO toolcrib_platform USING (true);
