import { createRequire } from 'node:module';
import { orElse } from '../../records/coppice-error.ts';
import { namesInReference } from '../../records/text/text.ts';

type Schema = Readonly<Record<string, unknown>>;

/** Bounds of the walk: a schema may refer to itself. */
const DEPTH_MAX = 12;
const NODES_MAX = 5_000;
const LENGTH_MAX = 10_000;

/** Texts that keep to a `format`. */
const FORMATS: Readonly<Record<string, string>> = {
  'date-time': '2026-01-01T00:00:00Z',
  date: '2026-01-01',
  time: '00:00:00Z',
  email: 'someone@example.com',
  hostname: 'example.com',
  ipv4: '192.0.2.1',
  ipv6: '2001:db8::1',
  uri: 'https://example.com/',
  url: 'https://example.com/',
  uuid: '00000000-0000-4000-8000-000000000000',
};
/** Tried for a `pattern`; where none matches, the first is given. */
const TEXTS = [
  ...'invented a 1 A A1 a-1 abc-def 2026-01-01 1.0.0 v1.0.0 src/a.ts a.ts:1 #1 https://example.com/'.split(
    ' ',
  ),
  ...['0'.repeat(40), 'ABC-123', '+1'],
];

/** A JSON value that satisfies the schema, as far as can be told without solving it. `entries`: how many entries a list gets if it may have so many. */
export function inventedValue(schema: unknown, entries: number): unknown {
  let nodes = 0;
  const invent = (given: unknown, depth: number): unknown => {
    const one = resolved(given, schema);
    if (++nodes > NODES_MAX || depth > DEPTH_MAX) return null;
    if ('const' in one) return one.const;
    if (Array.isArray(one.enum)) return one.enum[0];
    const choices = one.anyOf ?? one.oneOf;
    if (Array.isArray(choices))
      return invent({ ...without(one, 'anyOf', 'oneOf'), ...resolved(choices[0], schema) }, depth + 1);
    if (Array.isArray(one.allOf))
      return invent(
        one.allOf.map((part) => resolved(part, schema)).reduce(merged, without(one, 'allOf')),
        depth + 1,
      );
    switch (
      [one.type].flat().find((type) => type !== 'null') ??
      (one.properties ? 'object' : one.items ? 'array' : one.type === undefined ? 'string' : 'null')
    ) {
      case 'object':
        return invention(one, depth);
      case 'array': {
        const fewest = number(one.minItems, 0);
        const fixed = Array.isArray(one.prefixItems) ? one.prefixItems : [];
        const length = Math.min(
          Math.max(fewest, fixed.length, Math.min(entries, number(one.maxItems, entries))),
          1_000,
        );
        return Array.from({ length }, (_, index) =>
          varied(invent(fixed[index] ?? one.items ?? {}, depth + 1), one.uniqueItems === true ? index : 0),
        );
      }
      case 'integer':
      case 'number':
        return inventedNumber(one);
      case 'boolean':
        return true;
      case 'string':
        return inventedText(one);
      default:
        return null;
    }
  };
  const invention = (one: Schema, depth: number) => {
    const properties = (one.properties ?? {}) as Schema;
    const required = Array.isArray(one.required) ? (one.required as string[]) : [];
    // Optional ones, too, as long as the schema does not refer to itself.
    const names = new Set([...required, ...(depth < DEPTH_MAX / 2 ? Object.keys(properties) : [])]);
    return Object.fromEntries(
      [...names].map((name) => [
        name,
        invent(Object.hasOwn(properties, name) ? properties[name] : {}, depth + 1),
      ]),
    );
  };
  return invent(schema, 0);
}

function resolved(schema: unknown, root: unknown): Schema {
  let one = schema;
  for (let hops = 0; hops < DEPTH_MAX; hops++) {
    if (typeof one !== 'object' || one === null) return {};
    const { $ref } = one as { readonly $ref?: unknown };
    if (typeof $ref !== 'string') return one as Schema;
    one = namesInReference($ref).reduce<unknown>((at, step) => (at as Schema | undefined)?.[step], root);
  }
  return {};
}

function merged(one: Schema, other: Schema): Schema {
  const properties = { ...(one.properties as object), ...(other.properties as object) };
  return { ...one, ...other, properties, required: [one.required ?? [], other.required ?? []].flat() };
}

function without(one: Schema, ...names: readonly string[]): Schema {
  return Object.fromEntries(Object.entries(one).filter(([name]) => !names.includes(name)));
}

function number(value: unknown, otherwise: number): number {
  return typeof value === 'number' && Number.isFinite(value) ? value : otherwise;
}

function inventedNumber(one: Schema): number {
  const step = number(one.multipleOf, one.type === 'number' ? 0 : 1);
  const above = Math.max(
    number(one.minimum, -Infinity),
    number(one.exclusiveMinimum, -Infinity) + (step || 0.5),
  );
  const below = Math.min(
    number(one.maximum, Infinity),
    number(one.exclusiveMaximum, Infinity) - (step || 0.5),
  );
  const near = Math.min(Math.max(1, above), below);
  if (step === 0) return near;
  return (near === below ? Math.floor(near / step) : Math.ceil(near / step)) * step;
}

function inventedText(one: Schema): string {
  const known = FORMATS[String(one.format)];
  if (known !== undefined) return known;
  const fewest = Math.min(number(one.minLength, 0), LENGTH_MAX);
  const fits = (text: string) => text.padEnd(fewest, 'x').slice(0, number(one.maxLength, LENGTH_MAX));
  if (typeof one.pattern !== 'string') return fits('invented');
  // An engine in linear time; what it does not know (look-around) is not tried.
  const { RE2JS } = createRequire(import.meta.url)('re2js') as typeof import('re2js');
  const pattern = orElse(() => RE2JS.compile(String(one.pattern).slice(0, 500)), null);
  const matches = (text: string) => pattern?.matcher(text).find() === true;
  return TEXTS.map(fits).find(matches) ?? fits('invented');
}

/** Entries of a list without equals. */
function varied(value: unknown, index: number): unknown {
  if (index === 0) return value;
  if (typeof value === 'string') return `${value}${index + 1}`;
  if (typeof value === 'number') return value + index;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const [first] = Object.keys(value);
  return first === undefined ? value : { ...value, [first]: varied((value as Schema)[first], index) };
}
