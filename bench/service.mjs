import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { spawn } from 'node:child_process';

const PLATFORM_KEY = 'the-platform-key-of-the-benchmarks-01234';

/** The built service as a process of its own, on DATABASE_URL or the embedded database. Several share a DATABASE_URL. */
export async function startProcess(more = {}) {
  const environment = { PATH: process.env.PATH, PORT: '0', TOOLCRIB_PLATFORM_KEY: PLATFORM_KEY, TOOLCRIB_DATA_DIR: mkdtempSync(path.join(tmpdir(), 'toolcrib-bench-')) };
  if (process.env.DATABASE_URL) environment.DATABASE_URL = process.env.DATABASE_URL;
  const child = spawn(process.execPath, ['dist/main.js'], { env: { ...environment, ...more }, stdio: ['ignore', 'pipe', 'inherit'] });
  process.once('exit', () => child.kill('SIGKILL'));
  const base = await new Promise((resolve) => {
    let printed = '';
    child.stdout.on('data', (chunk) => {
      printed += chunk;
      const url = /"url":"(http:[^"]+)"/u.exec(printed)?.[1];
      if (url) resolve(url);
    });
  });
  while (!(await fetch(`${base}/health/ready`)).ok) await new Promise((resolve) => setTimeout(resolve, 100));
  const send = async (method, route, body, headers) => {
    const response = await fetch(base + route, { method, headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(body) });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${route}: ${text}`);
    return { text, json: text === '' ? null : JSON.parse(text), headers: response.headers };
  };
  const end = async () => {
    child.kill('SIGTERM');
    await new Promise((resolve) => child.once('exit', resolve));
  };
  return { pid: child.pid, base, send, end };
}

// Many processes are ended with this one.
process.setMaxListeners(0);

let tenants = 0;

/** A new tenant of a process, with a key that may do everything. */
export async function newTenant({ base, send }) {
  const tenantId = `bench-${Date.now()}-${(tenants += 1)}`;
  const platform = { authorization: `Bearer ${PLATFORM_KEY}` };
  await send('POST', '/v1/tenants', { tenantId, name: 'benchmarks' }, platform);
  const { json } = await send('POST', '/v1/keys', { name: 'benchmarks', scopes: ['admin'] }, { ...platform, 'x-tenant-id': tenantId });
  const headers = { authorization: `Bearer ${json.key}` };
  const as = (method) => (route, body, more) => send(method, route, body, { ...headers, ...more });
  return { tenantId, url: `${base}/v1/decide`, base, headers, post: as('POST'), put: as('PUT'), patch: as('PATCH'), remove: () => send('DELETE', `/v1/tenants/${tenantId}`, {}, platform) };
}

/** A process with one tenant. */
export async function startService() {
  const service = await startProcess();
  const tenant = await newTenant(service);
  return { ...service, ...tenant, stop: () => tenant.remove().then(service.end) };
}
