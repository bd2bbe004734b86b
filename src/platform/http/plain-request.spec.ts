import http from 'node:http';
import net from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { PlainReader } from './plain-request.js';

const KEY = 'Authorization: Bearer key';
const request = (lines: readonly string[], body = '{}', start = 'POST /v1/decide HTTP/1.1'): Buffer =>
  Buffer.from([start, 'Host: crib', ...lines, '', body].join('\r\n'), 'latin1');
const read = (bytes: Buffer): ReturnType<PlainReader['read']> => new PlainReader().read(bytes);

describe('the reader of plain requests', () => {
  it('takes what common clients send', () => {
    const plain = read(request(['Connection: keep-alive', 'Content-Type: application/json', KEY, 'user-agent:x', 'Content-Length: 2']));
    expect(plain).toEqual({
      path: '/v1/decide',
      headers: { host: 'crib', connection: 'keep-alive', 'content-type': 'application/json', authorization: 'Bearer key', 'user-agent': 'x', 'content-length': '2' },
      rawHeaders: ['Host', 'crib', 'Connection', 'keep-alive', 'Content-Type', 'application/json', 'Authorization', 'Bearer key', 'user-agent', 'x', 'Content-Length', '2'],
      body: Buffer.from('{}'),
    });
  });

  it.each([
    ['another method', request(['Content-Length: 2'], '{}', 'PUT /v1/decide HTTP/1.1')],
    ['a query', request(['Content-Length: 2'], '{}', 'POST /v1/decide?a HTTP/1.1')],
    ['another version', request(['Content-Length: 2'], '{}', 'POST /v1/decide HTTP/1.0')],
    ['no length', request([])],
    ['no body', request(['Content-Length: 0'], '')],
    ['a body that is not all there', request(['Content-Length: 3'])],
    ['something behind the body', request(['Content-Length: 1'])],
    ['a second length', request(['Content-Length: 2', 'Content-Length: 2'])],
    ['a length with a sign', request(['Content-Length: +2'])],
    ['a list of lengths', request(['Content-Length: 2, 2'])],
    ['chunks', request(['Transfer-Encoding: chunked', 'Content-Length: 2'])],
    ['a connection to be closed', request(['Connection: close', 'Content-Length: 2'])],
    ['a connection with options', request(['Connection: keep-alive, x', 'Content-Length: 2'])],
    ['an upgrade', request(['Upgrade: h2c', 'Content-Length: 2'])],
    ['an expectation', request(['Expect: 100-continue', 'Content-Length: 2'])],
    ['a compressed body', request(['Content-Encoding: gzip', 'Content-Length: 2'])],
    ['a header twice', request(['X-Tenant-Id: a', 'x-tenant-id: b', 'Content-Length: 2'])],
    ['a name that objects have', request(['__proto__: a', 'Content-Length: 2'])],
    ['a space before the colon', request(['X-Tenant-Id : a', 'Content-Length: 2'])],
    ['a folded header', request(['X: a', ' b', 'Content-Length: 2'])],
    ['an empty value', request(['X:', 'Content-Length: 2'])],
    ['a value that is not ASCII', request(['X: ä', 'Content-Length: 2'])],
    ['a line that ends with a line feed alone', request(['X: a\nY: b', 'Content-Length: 2'])],
    ['a NUL', request(['X: a\0', 'Content-Length: 2'])],
    ['no host', Buffer.from('POST /v1/decide HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}')],
    ['half a head', Buffer.from('POST /v1/decide HTTP/1.1\r\nContent-Le')],
    ['a head that is too long', request([`X: ${'x'.repeat(9_000)}`, 'Content-Length: 2'])],
    ['nothing', Buffer.alloc(0)],
  ])('leaves %s to Node', (_, bytes) => expect(read(bytes)).toBeNull());

  it('reads a head again only where a byte of it differs', () => {
    const reader = new PlainReader();
    const [first, second] = [reader.read(request([KEY, 'Content-Length: 2'])), reader.read(request([KEY, 'Content-Length: 2'], '[]'))];
    expect([second?.headers === first?.headers, String(second?.body)]).toEqual([true, '[]']);
    expect(reader.read(request(['Authorization: Bearer kez', 'Content-Length: 2']))?.headers['authorization']).toBe('Bearer kez');
    expect(reader.read(request([KEY, 'Content-Length: 2'], '{} '))).toBeNull();
  });
});

/** As Node reads it. */
interface Seen {
  readonly path: string | undefined;
  readonly headers: http.IncomingHttpHeaders;
  readonly rawHeaders: readonly string[];
  readonly body: string;
}

describe('whatever the reader takes', () => {
  let server: http.Server;
  let seen: Seen[] = [];
  beforeAll(async () => {
    server = http.createServer((incoming, response) => {
      const chunks: Buffer[] = [];
      incoming.on('data', (chunk: Buffer) => chunks.push(chunk)).on('end', () => {
        const { url, headers, rawHeaders } = incoming;
        seen.push({ path: `${incoming.method} ${url}`, headers, rawHeaders, body: Buffer.concat(chunks).toString('latin1') });
        response.end();
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  });
  afterAll(() => void server.close());

  /** All that Node makes of these bytes, and whether it would go on with the connection. */
  const asNode = async (bytes: Buffer): Promise<{ readonly requests: readonly Seen[]; readonly goesOn: boolean }> => {
    seen = [];
    const { port } = server.address() as net.AddressInfo;
    const socket = net.connect(port, '127.0.0.1');
    let got = '';
    await new Promise<void>((resolve) => {
      socket.on('data', (chunk) => {
        got += chunk.toString('latin1');
        resolve();
      }).on('close', () => resolve()).on('error', () => resolve());
      socket.write(bytes);
    });
    const goesOn = /^connection: keep-alive\r$/imu.test(got);
    socket.destroy();
    return { requests: seen, goesOn };
  };

  const name = fc.constantFrom('Content-Length', 'content-length', 'Transfer-Encoding', 'Connection', 'Keep-Alive', 'Host', 'Expect', 'TE', 'Upgrade', 'Proxy-Connection', 'Cookie', 'X-Tenant-Id', 'Authorization', 'If-None-Match', 'a!#$&^_`|~', 'x y', 'x\t', '', 'é', 'constructor');
  const value = fc.oneof(
    fc.constantFrom('2', '02', '2 ', ' 2', '+2', '2, 2', '1', '3', 'keep-alive', 'Keep-Alive', 'close', 'chunked', 'keep-alive, close', 'crib', '', 'a b', 'a\tb', 'ä', '\x7f', 'a\r', 'a\nb: c', '"x"', ':', 'Bearer key'),
    fc.string({ maxLength: 6 }),
  );
  const separator = fc.constantFrom(': ', ': ', ': ', ':', ':  ', ' : ', ':\t');
  const line = fc.tuple(name, separator, value).map((parts) => parts.join(''));
  const usual = fc.constantFrom('Host: crib', 'Content-Length: 2', 'Connection: keep-alive', KEY);
  const head = fc.array(fc.oneof({ weight: 3, arbitrary: usual }, { weight: 2, arbitrary: line }), { maxLength: 7 });
  const start = fc.oneof({ weight: 6, arbitrary: fc.constant('POST /v1/decide HTTP/1.1') }, fc.constantFrom('POST  /v1/decide HTTP/1.1', 'POST /v1/decide HTTP/1.0', 'GET /v1/decide HTTP/1.1', 'POST /v1/decide HTTP/1.1 ', 'post /v1/decide HTTP/1.1', 'POST //x HTTP/1.1'));
  const eol = fc.oneof({ weight: 8, arbitrary: fc.constant('\r\n') }, fc.constantFrom('\n', '\r', '\r\n\r\n'));
  const body = fc.constantFrom('{}', '{}', '{}', '[]', '{', '{} ', '', '{}POST /v1/decide HTTP/1.1\r\nHost: x\r\n\r\n');

  it('is read by Node as the same one request, after which the connection goes on', async () => {
    let taken = 0;
    await fc.assert(fc.asyncProperty(start, head, eol, body, async (first, lines, end, text) => {
      // Most that is made like this is nobody's request; one header or another of the usual ones makes it likelier.
      const bytes = Buffer.from(`${[first, 'Host: crib', ...lines].join('\r\n')}${end}Content-Length: 2\r\n\r\n${text}`, 'latin1');
      for (const tried of [bytes, Buffer.from(`${[first, ...lines].join('\r\n')}${end}\r\n${text}`, 'latin1')]) {
        const plain = read(tried);
        if (plain === null) continue;
        taken += 1;
        const { path, headers, rawHeaders, body: bodyOf } = plain;
        expect(await asNode(tried)).toEqual({ requests: [{ path: `POST ${path}`, headers, rawHeaders, body: bodyOf.toString('latin1') }], goesOn: true });
      }
    }), { numRuns: 3_000 });
    expect(taken).toBeGreaterThan(100);
  });
});
