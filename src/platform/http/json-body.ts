import { isUtf8 } from 'node:buffer';
import type { FastifyInstance } from 'fastify';
import type { Limits } from '../config/config.js';
import { AppError } from '../errors/app-error.js';

/** The deepest nesting of objects and lists in a JSON text, found without parsing it. */
export function jsonDepth(text: string): number {
  let depth = 0;
  let deepest = 0;
  let inString = false;
  for (let i = 0; i < text.length; i += 1) {
    const char = text.charCodeAt(i);
    if (inString) {
      if (char === 0x5c) i += 1;
      else if (char === 0x22) inString = false;
    } else if (char === 0x22) inString = true;
    else if (char === 0x7b || char === 0x5b) deepest = Math.max(deepest, (depth += 1));
    else if (char === 0x7d || char === 0x5d) depth -= 1;
  }
  return deepest;
}

/** The bytes as characters: two bodies have the same text exactly when they have the same bytes, whether they are UTF-8 or not. */
export const bytesAsText = (body: Buffer): string => body.toString('latin1');
export const textAsBytes = (text: string): Buffer => Buffer.from(text, 'latin1');

/** Members such as `__proto__` stay ordinary members. Throws `INVALID_JSON` or `LIMIT_EXCEEDED`. */
export function readJson(body: Buffer, maxDepth: number): unknown {
  if (!isUtf8(body)) throw new AppError('INVALID_JSON', 'the body is not UTF-8');
  const text = body.toString('utf8');
  if (jsonDepth(text) > maxDepth) throw new AppError('LIMIT_EXCEEDED', `the body is nested deeper than ${maxDepth} levels`);
  const value = parsed(text);
  if (MAY_OVERFLOW.test(text) && !isFinite(value)) throw new AppError('INVALID_JSON', 'a number is out of range');
  return value;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const place = /position \d+(?: \(line \d+ column \d+\))?/u.exec(error instanceof Error ? error.message : '')?.[0];
    throw new AppError('INVALID_JSON', `the body is not JSON${place === undefined ? '' : `: see ${place}`}`);
  }
}

/**
 * What JavaScript reads as Infinity would be stored as null, and mean something else then. It takes 309 digits before the
 * point, of which an exponent of two digits stands for 99 at the most.
 */
const MAY_OVERFLOW = /[eE]\+?\d{3}|(?<!\d)\d{200}/u;

function isFinite(value: unknown): boolean {
  if (typeof value === 'number') return Number.isFinite(value);
  return typeof value !== 'object' || value === null || Object.values(value).every(isFinite);
}

declare module 'fastify' {
  interface FastifyRequest {
    /** The JSON body byte for byte, one character each, where there is one. */
    rawJson?: string;
  }
}

/** The one route that takes more than the usual. */
export const SYNC_PATH = '/v1/tools/sync';

/** Reads JSON bodies alone, each within its limit. */
export function acceptJson(fastify: FastifyInstance, limits: Limits): void {
  fastify.removeAllContentTypeParsers();
  fastify.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body, done) => {
    // An empty body is no body: what needs one says so by its own check.
    if (body.length === 0) {
      done(null, undefined);
      return;
    }
    try {
      const value = readJson(body as Buffer, limits.jsonDepth);
      request.rawJson = bytesAsText(body as Buffer);
      done(null, value);
    } catch (error) {
      done(error as Error);
    }
  });
  fastify.addHook('onRoute', (route) => {
    route.bodyLimit = route.url === SYNC_PATH ? limits.syncBytes : limits.bodyBytes;
  });
}
