import { isObject } from '../core/json.js';
import type { JsonObject } from '../core/json.js';
import { pointedAt, subschemas } from '../core/schema-walk.js';

/** A schema of a document. */
export interface Placed {
  readonly schema: JsonObject;
  /** What its relative references are relative to: the nearest `$id` around it, without a fragment. */
  readonly base: string;
}

const BASE = 'schema:/document';

export const isDraft7 = ({ $schema }: JsonObject): boolean => typeof $schema === 'string' && /^https?:\/\/json-schema\.org\/draft-07\/schema#?$/u.test($schema);

/** A schema with all that it refers to. References are resolved as text alone: nothing is ever fetched. */
export class SchemaDocument {
  /** Every schema of the document, those that only a pointer makes one included. */
  readonly placed: readonly Placed[];
  readonly isDraft7: boolean;
  private readonly resources = new Map<string, JsonObject>();
  private readonly anchors = new Map<string, JsonObject>();

  constructor(readonly root: JsonObject) {
    this.isDraft7 = isDraft7(root);
    this.resources.set(BASE, root);
    this.placed = this.place();
  }

  /** What a reference leads to; undefined where nothing of this document is there. */
  resolve(reference: string, base: string): unknown {
    const { uri, fragment } = split(absolute(reference, base));
    const resource = this.resources.get(uri);
    if (resource === undefined) return undefined;
    return fragment === '' || fragment.startsWith('/') ? pointedAt(resource, `#${fragment}`) : this.anchors.get(`${uri}#${fragment}`);
  }

  holds(reference: string, base: string): boolean {
    return this.resources.has(split(absolute(reference, base)).uri);
  }

  private place(): Placed[] {
    const found: Placed[] = [];
    const seen = new Set<JsonObject>();
    /** References to resources that have not been met yet. */
    const waiting = new Map<string, Placed[]>();
    const queue: Placed[] = [{ schema: this.root, base: BASE }];
    /** What is pointed at and stands in no other schema: whatever does is met there, with its own base. */
    const pointed: Placed[] = [];
    const follow = ({ schema, base }: Placed): void => {
      const { uri } = split(absolute(schema['$ref'] as string, base));
      if (!this.resources.has(uri)) waiting.set(uri, [...(waiting.get(uri) ?? []), { schema, base }]);
      const target = this.resolve(schema['$ref'] as string, base);
      if (isObject(target)) pointed.push({ schema: target, base: uri });
    };
    for (let next = queue.pop(); next !== undefined; next = queue.pop() ?? pointed.pop()) {
      const { schema, base: around } = next;
      if (seen.has(schema)) continue;
      seen.add(schema);
      const one = { schema, base: this.name(schema, around) };
      found.push(one);
      for (const inner of subschemas(schema)) queue.push({ schema: inner, base: one.base });
      for (const earlier of waiting.get(one.base) ?? []) follow(earlier);
      waiting.delete(one.base);
      if (typeof schema['$ref'] === 'string') follow(one);
    }
    return found;
  }

  /** Takes the names that a schema gives itself; answers the base that holds within it. */
  private name(schema: JsonObject, around: string): string {
    const { $id, $ref, $anchor, $dynamicAnchor } = schema;
    // Beside a reference draft-07 knows nothing else.
    const named = typeof $id === 'string' && !(this.isDraft7 && typeof $ref === 'string') ? absolute($id, around) : around;
    const { uri, fragment } = split(named);
    if (!this.resources.has(uri)) this.resources.set(uri, schema);
    for (const anchor of [fragment, $anchor, $dynamicAnchor]) if (typeof anchor === 'string' && anchor !== '') this.anchors.set(`${uri}#${anchor}`, schema);
    return uri;
  }
}

const absolute = (reference: string, base: string): string => (URL.canParse(reference, base) ? new URL(reference, base).href : `unresolved:${reference}`);

function split(uri: string): { readonly uri: string; readonly fragment: string } {
  const hash = uri.indexOf('#');
  return hash === -1 ? { uri, fragment: '' } : { uri: uri.slice(0, hash), fragment: uri.slice(hash + 1) };
}

/** The first reference to something that is not in the document, or null. */
export function outsideReference(root: JsonObject): string | null {
  const document = new SchemaDocument(root);
  for (const { schema, base } of document.placed) {
    for (const keyword of ['$ref', '$dynamicRef']) {
      const reference = schema[keyword];
      if (typeof reference === 'string' && !reference.startsWith('#') && !document.holds(reference, base)) return reference;
    }
  }
  return null;
}
