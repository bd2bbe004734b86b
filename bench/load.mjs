// A generator of load that costs little: requests are bytes made beforehand, answers are counted by their Content-Length.
import net from 'node:net';

/** Takes the chunks of one connection, and calls `whole` with the status as soon as an answer is all there. */
export function readAnswers(whole) {
  let held = Buffer.alloc(0);
  let missing = 0;
  let status = 0;
  return (chunk) => {
    if (missing > 0) {
      missing -= chunk.length;
    } else {
      const bytes = held.length === 0 ? chunk : Buffer.concat([held, chunk]);
      const end = bytes.indexOf('\r\n\r\n');
      held = end < 0 ? bytes : Buffer.alloc(0);
      if (end < 0) return;
      const head = bytes.toString('latin1', 0, end);
      status = Number(head.slice(9, 12));
      missing = Number(/content-length: (\d+)/iu.exec(head)?.[1] ?? 0) - (bytes.length - end - 4);
    }
    if (missing < 0) throw new Error('more was answered than was asked for');
    if (missing === 0) whole(status);
  };
}

export function requestsOf(url, headers, bodies) {
  const { host, pathname } = new URL(url);
  const head = Object.entries({ host, 'content-type': 'application/json', ...headers }).map(([name, value]) => `${name}: ${value}\r\n`).join('');
  return bodies.map((body) => Buffer.from(`POST ${pathname} HTTP/1.1\r\n${head}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`));
}

/**
 * POSTs the bodies in turn over some connections, each as soon as the answer before is whole; answers the rate a second.
 * `once`: no body may be sent twice.
 */
export async function load({ url, headers = {}, bodies, seconds, status: wanted = 200, once = false, connections = 16 }) {
  const requests = requestsOf(url, headers, bodies);
  const { hostname, port } = new URL(url);
  let sent = 0;
  let answered = 0;
  const start = performance.now();
  const connection = () => new Promise((resolve, reject) => {
    const socket = net.connect(Number(port), hostname);
    const send = () => {
      if (once && sent >= requests.length) throw new Error('there are too few bodies');
      socket.write(requests[sent % requests.length]);
      sent += 1;
    };
    const read = readAnswers((status) => {
      if (status !== wanted) throw new Error(`${status} instead of ${wanted}`);
      answered += 1;
      if (performance.now() - start < seconds * 1000) send();
      else socket.end();
    });
    socket.setNoDelay(true).on('connect', send).on('data', read).on('error', reject).on('close', resolve);
  });
  await Promise.all(Array.from({ length: connections }, connection));
  return answered / ((performance.now() - start) / 1000);
}
