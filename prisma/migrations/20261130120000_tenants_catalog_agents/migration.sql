-- Tenants, their keys, catalog and agents, each row behind row-level security.

-- The service acts as one of these two, never as the role that it logs in with: neither owns a table nor bypasses a policy.
-- Roles belong to the cluster, so another database of it may have made them already, even at this very moment.
DO $$
DECLARE
  wanted text;
BEGIN
  FOREACH wanted IN ARRAY ARRAY['toolcrib_service', 'toolcrib_platform'] LOOP
    BEGIN
      EXECUTE format('CREATE ROLE %I NOLOGIN NOBYPASSRLS', wanted);
      EXECUTE format('GRANT %I TO CURRENT_USER', wanted);
    EXCEPTION WHEN duplicate_object OR unique_violation THEN
      IF NOT pg_has_role(current_user, wanted, 'MEMBER') THEN
        EXECUTE format('GRANT %I TO CURRENT_USER', wanted);
      END IF;
    END;
  END LOOP;
END
$$;

-- JSON is kept as the text that was written: `jsonb` would lose the order of members in a schema, which models read, and
-- the client's own mapping of JSON columns loses members called `__proto__`, which are ordinary names here.
CREATE TABLE tenants (
  id                text PRIMARY KEY,
  name              text NOT NULL,
  incarnation       uuid NOT NULL DEFAULT gen_random_uuid(),
  revision          bigint NOT NULL DEFAULT 0,
  settings          text NOT NULL DEFAULT '{}',
  settings_revision bigint NOT NULL DEFAULT 0,
  deleted_revision  bigint NOT NULL DEFAULT 0,
  created_at        timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP
);

CREATE TABLE api_keys (
  tenant_id  text NOT NULL REFERENCES tenants (id) ON DELETE CASCADE ON UPDATE CASCADE,
  key_id     text NOT NULL,
  name       text NOT NULL,
  hash       bytea NOT NULL,
  scopes     text[] NOT NULL,
  expires_at timestamptz(3),
  created_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  PRIMARY KEY (tenant_id, key_id)
);

CREATE TABLE tools (
  tenant_id   text NOT NULL REFERENCES tenants (id) ON DELETE CASCADE ON UPDATE CASCADE,
  name        text NOT NULL,
  source      text NOT NULL,
  available   boolean NOT NULL DEFAULT true,
  declaration text NOT NULL,
  governance  text NOT NULL DEFAULT '{}',
  revision    bigint NOT NULL,
  PRIMARY KEY (tenant_id, name)
);
CREATE INDEX tools_tenant_id_revision_idx ON tools (tenant_id, revision);

CREATE TABLE loading_categories (
  tenant_id   text NOT NULL REFERENCES tenants (id) ON DELETE CASCADE ON UPDATE CASCADE,
  source      text NOT NULL,
  key         text NOT NULL,
  label       text NOT NULL,
  when_to_use text NOT NULL,
  sort        integer NOT NULL,
  PRIMARY KEY (tenant_id, source, key)
);

CREATE TABLE agents (
  tenant_id  text NOT NULL REFERENCES tenants (id) ON DELETE CASCADE ON UPDATE CASCADE,
  agent_id   text NOT NULL,
  document   text NOT NULL,
  origin     text NOT NULL,
  legacy     text,
  revision   bigint NOT NULL,
  updated_at timestamptz(3) NOT NULL,
  PRIMARY KEY (tenant_id, agent_id)
);
CREATE INDEX agents_tenant_id_revision_idx ON agents (tenant_id, revision);

GRANT SELECT, UPDATE ON tenants TO toolcrib_service;
GRANT SELECT, INSERT, UPDATE, DELETE ON api_keys, tools, loading_categories, agents TO toolcrib_service;
GRANT SELECT, INSERT, DELETE ON tenants TO toolcrib_platform;

-- Forced: the owner is bound as well. No tenant set means no row at all.
ALTER TABLE tenants ENABLE ROW LEVEL SECURITY;
ALTER TABLE tenants FORCE ROW LEVEL SECURITY;
CREATE POLICY own_tenant ON tenants TO toolcrib_service USING (id = current_setting('toolcrib.tenant_id', true));
CREATE POLICY every_tenant ON tenants TO toolcrib_platform USING (true) WITH CHECK (true);

DO $$
DECLARE
  tenant_table text;
BEGIN
  FOREACH tenant_table IN ARRAY ARRAY['api_keys', 'tools', 'loading_categories', 'agents'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', tenant_table);
    EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', tenant_table);
    EXECUTE format(
      'CREATE POLICY own_tenant ON %I TO toolcrib_service USING (tenant_id = current_setting(''toolcrib.tenant_id'', true)) WITH CHECK (tenant_id = current_setting(''toolcrib.tenant_id'', true))',
      tenant_table
    );
  END LOOP;
END
$$;
