/** What a log may show of a secret's own: the embedded mode's key, this once. */
const SHOWN_ONCE = /^platform key, shown this once and kept in .*$/gmu;
/** Shorter texts are words of the tests, and may stand anywhere. */
const SHORTEST = 16;

const secrets = new Set<string>();
const outputs: { readonly from: string; readonly text: () => string }[] = [];

/** From now on nobody may tell this. */
export function keepSecret(...texts: readonly (string | null | undefined)[]): void {
  for (const text of texts) if (typeof text === 'string' && text.length >= SHORTEST) secrets.add(text);
}

/** Keeps the password of an address. */
export function keepPassword(url: string | undefined): void {
  if (url === undefined || !URL.canParse(url)) return;
  const { password } = new URL(url);
  keepSecret(password, unescaped(password));
}

/** What is no escape stands for itself. */
const unescaped = (text: string): string => text.replaceAll(/%[\da-f]{2}/giu, (escape) => Buffer.from(escape.slice(1), 'hex').toString('latin1'));

/** Keeps what headers carry to say who asks. */
export function keepCredentials(headers: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(headers)) if (/^(?:authorization|x-api-key)$/iu.test(name)) keepSecret(value.replace(/^\w+ +/u, ''));
}

/** Something that may tell secrets: a log, say, which is looked at when the tests are over. */
export function overhear(from: string, text: () => string): void {
  outputs.push({ from, text });
}

/** Answers that show nothing of keys: failures, metrics and history. The one that shows a new key is no failure. */
export function overhearAnswer(method: string, path: string, status: number, text: string): void {
  if (status >= 400 || /^\/(?:metrics|v1\/(?:history|changes))/u.test(path)) overhear(`${method} ${path} ${status}`, () => text);
}

/** Where a secret was told, with what stood before it. */
export function leaks(): string[] {
  return outputs.flatMap(({ from, text }) => {
    const told = text().replaceAll(SHOWN_ONCE, '');
    return [...secrets].flatMap((secret) => {
      const at = told.indexOf(secret);
      return at === -1 ? [] : [`${from} tells \`${secret.slice(0, 6)}…\` after: ${told.slice(Math.max(0, at - 120), at)}`];
    });
  });
}
