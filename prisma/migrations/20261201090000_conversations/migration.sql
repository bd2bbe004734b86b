-- Conversations: what each has deferred, pinned at its creation, and what it has loaded since.

CREATE TABLE conversations (
  tenant_id       text NOT NULL,
  conversation_id text NOT NULL,
  agent_id        text NOT NULL,
  -- JSON as text, like all JSON here. Written once: the request and what was pinned; written often, and small: the marks.
  request         text NOT NULL,
  pinned          text NOT NULL,
  marks           text NOT NULL,
  -- A version is never repeated, not even by another conversation of the same id.
  incarnation     uuid NOT NULL DEFAULT gen_random_uuid(),
  version         bigint NOT NULL DEFAULT 0,
  created_at      timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  used_at         timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  PRIMARY KEY (tenant_id, conversation_id),
  FOREIGN KEY (tenant_id, agent_id) REFERENCES agents (tenant_id, agent_id) ON DELETE CASCADE ON UPDATE CASCADE
);
CREATE INDEX conversations_tenant_id_agent_id_idx ON conversations (tenant_id, agent_id);
CREATE INDEX conversations_tenant_id_used_at_idx ON conversations (tenant_id, used_at);

GRANT SELECT, INSERT, UPDATE, DELETE ON conversations TO toolcrib_service;

ALTER TABLE conversations ENABLE ROW LEVEL SECURITY;
ALTER TABLE conversations FORCE ROW LEVEL SECURITY;
CREATE POLICY own_tenant ON conversations TO toolcrib_service
  USING (tenant_id = current_setting('toolcrib.tenant_id', true))
  WITH CHECK (tenant_id = current_setting('toolcrib.tenant_id', true));
