-- History: one entry for each revision of a tenant, written with it, never changed, and removed only by age.

CREATE TABLE history (
  tenant_id  text NOT NULL REFERENCES tenants (id) ON DELETE CASCADE ON UPDATE CASCADE,
  revision   bigint NOT NULL,
  -- Not the beginning of the transaction: writers wait for one another, and times are to rise with revisions.
  at         timestamptz(3) NOT NULL DEFAULT clock_timestamp(),
  key_id     text NOT NULL,
  key_name   text NOT NULL,
  request_id text NOT NULL,
  entity     text NOT NULL,
  entity_id  text NOT NULL,
  action     text NOT NULL,
  reverts    bigint,
  -- JSON as text, like all JSON here.
  before     text,
  after      text,
  PRIMARY KEY (tenant_id, revision)
);
CREATE INDEX history_tenant_id_entity_entity_id_revision_idx ON history (tenant_id, entity, entity_id, revision);
CREATE INDEX history_tenant_id_at_idx ON history (tenant_id, at);

-- No UPDATE: an entry is as it was written.
GRANT SELECT, INSERT, DELETE ON history TO toolcrib_service;

ALTER TABLE history ENABLE ROW LEVEL SECURITY;
ALTER TABLE history FORCE ROW LEVEL SECURITY;
CREATE POLICY read_own ON history FOR SELECT TO toolcrib_service USING (tenant_id = current_setting('toolcrib.tenant_id', true));
CREATE POLICY add_own ON history FOR INSERT TO toolcrib_service WITH CHECK (tenant_id = current_setting('toolcrib.tenant_id', true));
-- The shortest time that a tenant can choose to keep its history is one day.
CREATE POLICY remove_old ON history FOR DELETE TO toolcrib_service
  USING (tenant_id = current_setting('toolcrib.tenant_id', true) AND at < now() - interval '1 day');
