# The service as an image: docs/deploy.md tells what is in it and how to run it.
# test/image/image.spec.ts does these very steps in an empty folder, so that they hold where no Docker is.

# One release of Node. No digest: building again takes Debian's own fixes.
# Nothing is installed beside Node: Prisma compiles its queries in WebAssembly and `pg` speaks TLS by Node, so none of both wants OpenSSL.
FROM node:24.21.0-slim AS base
WORKDIR /app

FROM base AS build
# .npmrc: no package runs a script of its own while it is installed.
COPY package.json package-lock.json .npmrc ./
RUN npm ci --no-audit --no-fund
COPY tsconfig.json tsconfig.build.json prisma.config.ts ./
COPY prisma prisma
COPY src src
RUN npm run build && mkdir volume

FROM base AS dependencies
COPY package.json package-lock.json .npmrc ./
# What a dependency would merely work with counts as optional: Prisma's command line and TypeScript, 259 MB.
RUN npm ci --omit=dev --omit=optional --no-audit --no-fund
# Prisma brings the query compilers of five databases, in two sizes and two module formats: the client loads one, 64 MB go.
# OpenTelemetry's packages hold the same code three times: Node loads what is in build/src.
# Source maps (45 MB) and type declarations (25 MB) are for debuggers and compilers.
RUN find node_modules/@prisma/client/runtime -name 'query_compiler_*' ! -name 'query_compiler_fast_bg.postgresql.*mjs' -delete \
 && find node_modules -type f \( -name '*.map' -o -name '*.d.ts' -o -name '*.d.mts' -o -name '*.d.cts' \) -delete \
 && rm -rf node_modules/@opentelemetry/*/build/esm node_modules/@opentelemetry/*/build/esnext

FROM base
ENV NODE_ENV=production HOST=0.0.0.0 PORT=3000 TOOLCRIB_DATA_DIR=/data
# Owned by root, and so not writable for the service: all but the folder of the embedded database.
COPY package.json ./
COPY data/glossary data/glossary
COPY prisma/migrations prisma/migrations
COPY --from=dependencies /app/node_modules node_modules
COPY --from=build /app/dist dist
COPY --from=build --chown=1000:1000 /app/volume /data
VOLUME ["/data"]
# By number, so that Kubernetes can tell that it is not root. It is the base image's user `node`.
USER 1000:1000
EXPOSE 3000
STOPSIGNAL SIGTERM
# Live, not ready: who ends what is unhealthy must not end replicas that still answer while the database is away.
HEALTHCHECK --interval=10s --timeout=3s --start-period=60s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/health/live`).then(({ ok }) => process.exit(ok ? 0 : 1))"]
CMD ["node", "dist/main.js"]
ARG REVISION=unknown
LABEL org.opencontainers.image.title="Toolcrib" \
      org.opencontainers.image.description="The one place that decides which tools an AI agent may see and call" \
      org.opencontainers.image.version="0.1.0" \
      org.opencontainers.image.revision="${REVISION}" \
      org.opencontainers.image.base.name="docker.io/library/node:24.21.0-slim"
