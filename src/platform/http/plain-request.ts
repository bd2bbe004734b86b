/** Of head, in bytes. Node takes twice as much; whatever is longer is Node's to read, or to refuse. */
const MOST_HEAD = 8 * 1024;
const HEAD_END = Buffer.from('\r\n\r\n');
const START = /^POST (\/[\w/]+) HTTP\/1\.1$/u;
/** A token, and a value of printable ASCII with nothing around it but one space. */
const LINE = /^([\w!#$%&'*+\-.^`|~]+): ?([\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?)$/u;
/** Digits alone, of no more than 9,999,999 bytes. */
const LENGTH = /^\d{1,7}$/u;
/** They say how the message goes on, or that the connection does not: that is for Node to read. */
const FRAMING = ['transfer-encoding', 'content-encoding', 'expect', 'upgrade', 'trailer', 'te', 'proxy-connection', 'http2-settings'];

/** A POST that came whole and alone in one piece, of the plainest shape that HTTP has. */
export interface PlainRequest {
  readonly path: string;
  /** By names in small letters; each came once. */
  readonly headers: Readonly<Record<string, string>>;
  /** Names and values in turn, as they came. */
  readonly rawHeaders: readonly string[];
  readonly body: Buffer;
}

interface Head extends Omit<PlainRequest, 'body'> {
  /** Of the body, in bytes. */
  readonly length: number;
}

/**
 * Reads the requests of one connection, as long as each is as plain as can be: a strict part of what HTTP allows, in which the
 * parser of Node could not read anything else. Whatever is not, or has no body, is null, and nothing is known of it.
 */
export class PlainReader {
  /** A client that stays says the same again, which need not be read again. */
  private last: { readonly bytes: Buffer; readonly head: Head } | null = null;

  read(chunk: Buffer): PlainRequest | null {
    const end = chunk.indexOf(HEAD_END);
    if (end < 0 || end > MOST_HEAD) return null;
    const head = this.headOf(chunk, end);
    if (head === null || chunk.length - end - HEAD_END.length !== head.length) return null;
    const { path, headers, rawHeaders } = head;
    return { path, headers, rawHeaders, body: chunk.subarray(end + HEAD_END.length) };
  }

  private headOf(chunk: Buffer, end: number): Head | null {
    if (this.last !== null && this.last.bytes.length === end && chunk.compare(this.last.bytes, 0, end, 0, end) === 0) return this.last.head;
    const head = readHead(chunk.toString('latin1', 0, end));
    if (head !== null) this.last = { bytes: Buffer.from(chunk.subarray(0, end)), head };
    return head;
  }
}

function readHead(text: string): Head | null {
  const [start = '', ...lines] = text.split('\r\n');
  const path = START.exec(start)?.[1];
  const rawHeaders = lines.flatMap((line) => LINE.exec(line)?.slice(1) ?? []);
  if (path === undefined || rawHeaders.length !== 2 * lines.length) return null;
  const headers: Record<string, string> = {};
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = (rawHeaders[i] ?? '').toLowerCase();
    // What objects have by themselves counts as said before.
    if (name in headers) return null;
    headers[name] = rawHeaders[i + 1] ?? '';
  }
  return isPlain(headers) ? { path, headers, rawHeaders, length: Number(headers['content-length']) } : null;
}

function isPlain(headers: Readonly<Record<string, string>>): boolean {
  const { host, connection = 'keep-alive', 'content-length': length = '' } = headers;
  return host !== undefined && connection.toLowerCase() === 'keep-alive' && LENGTH.test(length) && Number(length) > 0 && FRAMING.every((name) => !(name in headers));
}
