-- A replica that does not migrate looks whether somebody else has, and is not ready before.

GRANT SELECT (migration_name, checksum, finished_at, rolled_back_at) ON _prisma_migrations TO toolcrib_service;
