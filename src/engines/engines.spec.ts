import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { checkSchema, validateArguments } from './ajv-schema.engine.js';
import { costOf } from './schema-cost.js';
import { TookTooLong, bounded } from './bounded.js';
import { checkCondition, evaluateCondition, ranOutOfTime } from './cel-condition.engine.js';

const facts = (more: object = {}) => ({ attributes: {}, depth: 0, model: {}, ...more });

describe('conditions', () => {
  it.each([
    ['attributes.n == 1', true], ['attributes.n == 1.0', true], ['attributes.n < 1.5', true], ['attributes.n in [1, 2]', true], ['attributes.big == 12345678901', true],
    ['attributes.none || true', true], ['true || attributes.none', true], ['attributes.none && false', false], ['!attributes.none', false],
    ['attributes.s', false], ['1', false], ["attributes.s == 'x'", true], ['has(attributes.s) && !has(attributes.none)', true],
    ["scene == 'chat'", false], ["scene != 'chat'", false], ["'vision' in model.capabilities", false], ['has(model.capabilities)', false], ['model.other == 1', false],
    ['depth == 0', true], ['depth < 0.5', true], ['attributes.list.exists(x, x == 2)', true], ['size(attributes.list) == 2', true], ["attributes.s.matches('^x$')", true],
    ['attributes.constructor == 1', false], ["'constructor' in attributes", false], ['attributes.__proto__ == 1', false],
  ])('%s is %s', (expression, expected) => {
    expect(checkCondition(expression)).toBeNull();
    expect(evaluateCondition(expression, facts({ attributes: { n: 1, s: 'x', big: 12_345_678_901, list: [1, 2] } }))).toBe(expected);
  });

  it.each([
    ['attributes.x ==', /position \d+/u], ['1 +', /position \d+/u], ['(((', /position \d+/u], ['', /position 1/u], ['a b', /position \d+/u],
    ['user.role == 1', /`user`.*position 1\b/u], ['true && attributes.x == who', /`who`.*position 25/u], ['nope(1)', /function `nope`/u], ['attributes.x.eval()', /function `eval`/u],
    ['attributes.list.exists(x, y == 1)', /`y`/u], ['google.protobuf.Timestamp{seconds: 1} == null', /type|known/u], [`${'('.repeat(900)}1${')'.repeat(900)}`, /position/u],
  ])('%s does not compile, and says where', (expression, message) => {
    expect(checkCondition(expression)).toMatch(message);
    expect(evaluateCondition(expression, facts())).toBe(false);
  });

  it('see what is set', () => {
    expect(evaluateCondition("scene == 'chat' && 'vision' in model.capabilities && depth >= 1", { attributes: {}, scene: 'chat', model: { capabilities: ['vision'] }, depth: 2 })).toBe(true);
  });

  it('that would run away are false in time', () => {
    const list = Array.from({ length: 20_000 }, (_, i) => i);
    expect(evaluateCondition('attributes.l.all(a, attributes.l.all(b, attributes.l.exists(c, c == a + b || true)))', facts({ attributes: { l: list } }))).toBe(false);
    expect(evaluateCondition(`${Array(25).fill("attributes.s.matches('((x|x?|.*){100}){9}y')").join(' || ')} || true`, facts({ attributes: { s: 'x' } }))).toBe(false);
    expect(evaluateCondition("attributes.s.matches('^(a+)+$')", facts({ attributes: { s: `${'a'.repeat(20_000)}!` } }))).toBe(false);
  });
});

describe('an outcome that is remembered', () => {
  const CONDITIONS = [
    'attributes.a', 'attributes.a == 1', 'attributes.a == attributes.b', '1.0 / attributes.a > 0.0', 'attributes.a.b == 1', 'has(attributes.a.b)', 'has(attributes.a) && attributes.a != null', 'attributes.a.b || attributes.c',
    "'x' in attributes.a", 'size(attributes.a) == 2', 'attributes.a.exists(a, a == attributes.b)', 'attributes.a.all(depth, depth == 1)', "attributes['a'] == 1", '{"a": attributes.a}.a == 1', '[attributes.a][0] == 1',
    'attributes == {}', 'attributes.a < 0.0 || attributes.b', 'attributes.a >= -5.0', 'has(attributes.a.b) && true', 'attributes.a.b < 0.0 || true', "scene == 'x' || depth == 1", 'has(model.capabilities)', "'x' in model.capabilities", 'type(attributes.a) == int', '.attributes.a == 1', 'attributes.a.b.c == 1', "attributes.s.matches('^x+$')",
  ];
  const value = fc.oneof(fc.constantFrom(0, -0, 1, 2, -1, -2, -3, 1.5, 1e21, true, false, null, '', 'x', '1', 'xx\n-1', '-0', '中😀'), fc.constantFrom([], [1], [1, 1], ['x'], ['x', '1'], [null], [0], [-0], [[1]], {}, { b: 1 }, { b: -2 }, { b: -3 }, { b: null }, { b: { c: 1 } }));
  const seen = fc.record({
    attributes: fc.record({ a: value, b: value, c: value, s: value, constructor: value }, { requiredKeys: [] }),
    depth: fc.integer({ min: 0, max: 2 }),
    scene: fc.constantFrom('x', 'y'),
    model: fc.record({ capabilities: fc.subarray(['x', 'y']) }, { requiredKeys: [] }),
  }, { requiredKeys: ['attributes', 'depth', 'model'] });
  let asked = 0;

  /** The same expression with other spaces after it, as which nobody has evaluated it yet. */
  const anew = (expression: string, given: Parameters<typeof evaluateCondition>[1]) => evaluateCondition(`${expression} ${(asked += 1).toString(2).replaceAll('0', ' ').replaceAll('1', '\t')}`, { ...given });

  it('is what the expression gives on these facts, whatever it was asked about before', () => {
    fc.assert(fc.property(fc.constantFrom(...CONDITIONS), fc.array(seen, { minLength: 2, maxLength: 6 }), (condition, all) => {
      for (const given of all) expect([condition, given, evaluateCondition(condition, { ...given })]).toEqual([condition, given, anew(condition, given)]);
    }), { numRuns: 3_000 });
  });

  it('is not that of a value which looks like the name of nothing', () => {
    const condition = 'attributes.days < 0.0 || attributes.plan == "paid"';
    expect([{ days: -1, plan: 'x' }, { plan: 'x' }, { days: -1 }, {}].map((attributes) => evaluateCondition(condition, facts({ attributes })))).toEqual([true, false, true, false]);
    expect([{ p: { x: -2 } }, { p: {} }, { p: { x: -3 } }, {}].map((attributes) => evaluateCondition('has(attributes.p.x) && true', facts({ attributes })))).toEqual([true, false, true, false]);
  });

  it('is not one that time ran out for', () => {
    const list = Array.from({ length: 300 }, (_, i) => i);
    const condition = 'attributes.l.all(a, attributes.l.all(b, attributes.l.exists(c, c == a + b || true))) || attributes.on';
    expect(evaluateCondition(condition, facts({ attributes: { l: list, on: true } }))).toBe(false);
    expect(evaluateCondition(condition, facts({ attributes: { l: [1], on: true } }))).toBe(true);
  });
});

describe('the conditions of one request', () => {
  const errors = (i: number): string => `${Array(200).fill('1/0>0').join('||')}||${i}!=-1`;

  it('that are many and dear share one budget: what comes after it is false, and that is told', () => {
    const dear = Array.from({ length: 100 }, (_, i) => errors(i));
    const [one, other] = [facts(), facts()];
    expect(dear.map(checkCondition)).toEqual(Array(100).fill(null));
    const held = dear.map((condition) => evaluateCondition(condition, one));
    expect([held[0], held.at(-1), ranOutOfTime(one)]).toEqual([true, false, true]);
    expect([evaluateCondition(dear[0] ?? '', one), evaluateCondition('true', one), evaluateCondition('true', other), ranOutOfTime(other)]).toEqual([true, false, true, false]);
  });

  it('that were not compiled before are compiled within the same budget', () => {
    const one = facts();
    expect(Array.from({ length: 200 }, (_, i) => evaluateCondition(errors(1_000 + i), one)).at(-1)).toBe(false);
    expect([evaluateCondition('2 == 2', one), ranOutOfTime(one), Error.stackTraceLimit > 0]).toEqual([false, true, true]);
  });

  it('that are many and cheap all count', () => {
    const cheap = Array.from({ length: 2_000 }, (_, i) => `attributes.n == 1 && depth != ${i + 1}`);
    expect(cheap.every((condition) => checkCondition(condition) === null)).toBe(true);
    const one = facts({ attributes: { n: 1 } });
    expect([cheap.filter((condition) => evaluateCondition(condition, one)).length, ranOutOfTime(one)]).toEqual([2_000, false]);
  });
});

describe('schemas', () => {
  it.each<[object, RegExp | null]>([
    [{ type: 'object' }, null], [{}, null], [{ type: 'banana' }, /type/u], [{ properties: [] }, /properties/u], [{ type: 'object', required: 'a' }, /required/u],
    [{ properties: { a: { $ref: '#/$defs/a' } }, $defs: { a: {} } }, null], [{ properties: { a: { $ref: 'https://elsewhere.test/a.json' } } }, /leaves the document/u], [{ $ref: 'other.json' }, /leaves/u],
    [{ $id: 'https://own.test/root.json', properties: { a: { $ref: 'a.json' } }, $defs: { a: { $id: 'a.json', type: 'string' } } }, null],
    [{ properties: { $ref: { type: 'string' } }, enum: [{ $ref: 'data, not a reference' }] }, null],
    [{ $schema: 'http://json-schema.org/draft-07/schema#', definitions: { a: {} }, items: [{ type: 'string' }] }, null],
    [{ $schema: 'http://json-schema.org/draft-07/schema#', type: 'banana' }, /type/u], [{ items: [{ type: 'string' }] }, /items/u],
    [{ pattern: '(?=lookahead)x' }, null],
  ])('%j: %s', (schema, message) => {
    if (message === null) expect(checkSchema(schema as never)).toBeNull();
    else expect(checkSchema(schema as never)).toMatch(message);
  });

  it.each<[object, unknown, string[]]>([
    [{ type: 'object', required: ['sql'], properties: { sql: { type: 'string' } } }, {}, ['/sql']],
    [{ type: 'object', additionalProperties: false }, { 'a/b~c': 1 }, ['/a~1b~0c']],
    [{ type: 'object', properties: { o: { properties: { n: { type: 'integer' } } } } }, { o: { n: 'x' } }, ['/o/n']],
    [{ type: 'object' }, [], ['']], [{ type: 'object' }, 'text', ['']],
    [{ $schema: 'http://json-schema.org/draft-07/schema#', items: [{ type: 'string' }], additionalItems: false }, ['a', 1], ['']],
    [{ prefixItems: [{ type: 'string' }], items: false }, ['a', 1], ['']],
    [{ unevaluatedProperties: false, properties: { a: {} } }, { a: 1, b: 2 }, ['/b']],
    [{ properties: { a: { $ref: '#/$defs/t' } }, $defs: { t: { type: 'string' } } }, { a: 1 }, ['/a']],
    [{ properties: { d: { format: 'date-time' } } }, { d: 'any words' }, []],
    [{ properties: { __proto__x: {}, constructor: { type: 'number' } } }, { constructor: 'x' }, ['/constructor']],
    [{ properties: { a: { $ref: '#/$defs/missing' } } }, { a: 1 }, ['']],
    [{ properties: { a: { pattern: '^(?=x)[\\w-.]+$' } } }, { a: 'y' }, ['/a']],
  ])('%j judges %j', (schema, value, paths) => {
    expect(validateArguments(schema as never, value).map(({ path }) => path)).toEqual(paths);
  });

  const DRAFT_7 = { $schema: 'http://json-schema.org/draft-07/schema#' };
  const NOT_JUDGED = ['the schema of the tool can not be applied'];

  it.each<[string, object, unknown, number]>([
    ['a pointer into words of no draft: what it finds is a schema', { properties: { a: { $ref: '#/components/schemas/S' } }, components: { schemas: { S: { type: 'string', nullable: true } } } }, { a: null }, 1],
    ['and so are those inside it', { properties: { a: { $ref: '#/components/S' } }, components: { S: { properties: { b: { type: 'string', nullable: true } } } } }, { a: { b: null } }, 1],
    ['also where that one refers further', { $ref: '#/x/S', x: { S: { $ref: '#/y/T' } }, y: { T: { type: 'object', required: ['q'], $async: true } } }, {}, 1],
    ['beside a reference draft-07 has nothing, there too', { ...DRAFT_7, properties: { a: { $ref: '#/x/S' } }, x: { S: { $ref: '#/definitions/any', type: 'string', required: ['q'] } }, definitions: { any: {} } }, { a: {} }, 0],
    ['what stands there may be referred to', { ...DRAFT_7, properties: { a: { $ref: '#/definitions/any', properties: { b: { type: 'string' } } }, c: { $ref: '#/properties/a/properties/b' } }, definitions: { any: {} } }, { a: { b: 1 }, c: 'x' }, 0],
    ['and is judged by', { ...DRAFT_7, properties: { a: { $ref: '#/definitions/any', properties: { b: { type: 'string' } } }, c: { $ref: '#/properties/a/properties/b' } }, definitions: { any: {} } }, { c: 1 }, 1],
    ['what is called like a keyword of others may be referred to', { properties: { a: { $ref: '#/$defs/user/id' } }, $defs: { user: { id: { type: 'string' } } } }, { a: 1 }, 1],
    ['it may be', { properties: { a: { $ref: '#/$defs/user/nullable' } }, $defs: { user: { nullable: { type: 'string' } } } }, { a: 'x' }, 0],
    ['an `id` means nothing, whatever it is', { properties: { a: { id: { type: 'string' } }, b: { id: 'x' } } }, { a: 1, b: 2 }, 0],
    ['a dynamic reference to the root', { $dynamicAnchor: 'n', type: 'object', properties: { c: { $dynamicRef: '#n' }, d: { $ref: '#/$defs/d' } }, $defs: { d: { properties: { e: { $dynamicRef: '#n' } } } } }, { c: { c: {} }, d: { e: {} } }, 0],
    ['is followed', { $dynamicAnchor: 'n', type: 'object', properties: { c: { $dynamicRef: '#n' }, d: { $ref: '#/$defs/d' } }, $defs: { d: { properties: { e: { $dynamicRef: '#n' } } } } }, { c: { c: 1 } }, 1],
    ['from within as well', { $dynamicAnchor: 'n', type: 'object', properties: { d: { $ref: '#/$defs/d' } }, $defs: { d: { properties: { e: { $dynamicRef: '#n' } } } } }, { d: { e: 1 } }, 1],
  ])('%s', (_, schema, value, faults) => {
    const found = validateArguments(schema as never, value);
    expect(found).toHaveLength(faults);
    expect(found.map(({ message }) => message)).not.toEqual(NOT_JUDGED);
  });

  it.each<[string, object, unknown]>([
    ['a dynamic reference to an anchor inside', { properties: { a: { $dynamicRef: '#s' } }, $defs: { s: { $dynamicAnchor: 's', type: 'string' } } }, { a: { a: {} } }],
    ['a dynamic reference to the root that another anchor may overtake', { $dynamicAnchor: 'n', properties: { a: { $dynamicRef: '#n' } }, $defs: { s: { $dynamicAnchor: 'n', type: 'string' } } }, { a: {} }],
    ['a dynamic reference within another resource', { $dynamicAnchor: 'n', $defs: { s: { $id: 's.json', $dynamicAnchor: 'n', properties: { a: { $dynamicRef: '#n' } } } }, $ref: 's.json' }, { a: {} }],
    ['a dynamic reference to nothing', { properties: { a: { $dynamicRef: '#undefined' } } }, {}],
    ['a reference to an anchor where no draft has schemas', { $ref: '#s', x: { $anchor: 's', type: 'object', nullable: true } }, {}],
    ['a constant that is referred to as a schema', { properties: { a: { const: { nullable: true } }, b: { $ref: '#/properties/a/const' } } }, { a: {} }],
    ['a map of schemas that is referred to as a schema', { properties: { nullable: false, b: { $ref: '#/properties' } } }, { nullable: 1 }],
    ['a schema where the engine has a switch of its own', { $ref: '#/$async', $async: { type: 'object' } }, {}],
  ])('can not be judged with %s', (_, schema, value) => {
    expect(validateArguments(schema as never, value).map(({ message }) => message)).toEqual(NOT_JUDGED);
  });

  it('as wide as they may be are judged', () => {
    const wide = { properties: Object.fromEntries(Array.from({ length: 1_600 }, (_, i) => [`k${i}`, { type: 'string' }])) };
    expect([validateArguments(wide, { k7: 'x' }), validateArguments(wide, { k7: 1 }).map(({ path }) => path)]).toEqual([[], ['/k7']]);
    const oneOf = { oneOf: Array.from({ length: 530 }, (_, i) => ({ const: i })) };
    expect([validateArguments(oneOf, 7), validateArguments(oneOf, 'x').length > 0]).toEqual([[], true]);
  });

  it.each<[string, object]>([
    ['false in a list', { items: { anyOf: Array.from({ length: 2_500 }, () => false) } }],
    ['false by patterns', { items: { patternProperties: Object.fromEntries(Array.from({ length: 2_500 }, (_, i) => [`^k${i}$`, false])) } }],
    ['names that depend on names', { ...DRAFT_7, items: { dependencies: { a: Array.from({ length: 2_500 }, (_, i) => `k${i}`) } } }],
  ])('cost what is in them: %s', (_, schema) => {
    expect(costOf(schema as never).steps).toBeGreaterThan(2_500);
  });

  it('never see one another: an `$id` of one is unknown to the next', () => {
    validateArguments({ $id: 'https://a.test/x.json', $defs: { s: { $id: 'shared.json', type: 'string' } }, properties: { a: { $ref: 'shared.json' } } }, { a: 'x' });
    expect(validateArguments({ $id: 'https://a.test/y.json', properties: { a: { $ref: 'shared.json' } } }, { a: 1 })).toEqual([{ path: '', message: 'the schema of the tool can not be applied' }]);
    expect(validateArguments({ $id: 'https://a.test/x.json', type: 'object' }, {})).toEqual([]);
  });

  it('that would hold the process are stopped, and what can not be judged does not fit', () => {
    const pattern = { properties: { a: { type: 'string', pattern: '^(a+)+$' } } };
    expect(validateArguments(pattern, { a: `${'a'.repeat(50)}!` })).toEqual([{ path: '', message: 'the arguments take too long to judge' }]);
    const doubling = { $defs: { n: { properties: { x: { allOf: [{ $ref: '#/$defs/n' }, { $ref: '#/$defs/n' }] } } } }, $ref: '#/$defs/n' };
    let deep: object = {};
    for (let i = 0; i < 60; i += 1) deep = { x: deep };
    expect(validateArguments(doubling, deep)).toHaveLength(1);
    const pairs = { properties: { l: { uniqueItems: true, type: 'array', items: { type: 'object' } } } };
    expect(validateArguments(pairs, { l: Array.from({ length: 30_000 }, (_, i) => ({ i })) })).toHaveLength(1);
    expect(validateArguments({ properties: { l: { items: { type: 'string' } } } }, { l: Array.from({ length: 200 }, () => 1) })).toHaveLength(20);
    expect(validateArguments({ properties: { l: { items: { type: 'string' } } } }, { l: Array.from({ length: 50_000 }, () => 1) })).toHaveLength(1);
  });
});

describe('bounded work', () => {
  it('makes no pattern ready for longer than it may, whatever it is made of', () => {
    for (const count of [60, 500, 5_000]) {
      const pattern = `${'a?'.repeat(count)}${'a'.repeat(count)}`;
      const start = performance.now();
      expect(validateArguments({ properties: { s: { type: 'string', pattern } } }, { s: 'b' })).toHaveLength(1);
      expect(evaluateCondition(`attributes.s.matches('${'a?'.repeat(60)}${'a'.repeat(60)}')`, facts({ attributes: { s: `${count}` } }))).toBe(false);
      expect(performance.now() - start).toBeLessThan(3_000);
    }
  });

  it('gives what the work gives, throws what it throws, and stops what does not end', () => {
    expect(bounded(50, () => 7)).toBe(7);
    expect(() => bounded(50, () => { throw new RangeError('own'); })).toThrow(RangeError);
    expect(() => bounded(20, () => { for (;;); })).toThrow(TookTooLong);
  });
});
