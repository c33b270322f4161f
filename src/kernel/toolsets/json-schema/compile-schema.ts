import { keptIn } from '../../../records/kept-in.ts';
import { isJsonObject } from '../../../records/text/json-text.ts';
import { namesInReference } from '../../../records/text/text.ts';
import { ANNOTATIONS, has, SIMPLE } from './keywords.ts';
import { compilePattern, type Pattern } from './pattern.ts';
import { type Check, refuseEndlessRecursion, type SchemaNode, Walk } from './walk.ts';

/** Limits of a schema (docs/vocabularies.md). */
const DEPTH_MAX = 64;
const WEIGHT_MAX = 5_000;
const CHARACTERS_MAX = 64 * 1024;

const DRAFTS =
  /^https?:\/\/json-schema\.org\/(?:draft-0[4-7]\/schema|draft\/(?:2019-09|2020-12)\/schema|schema)#?$/;

export interface CompiledSchema {
  readonly checks: readonly Check[];
  /** Cost of compiling it: values plus pattern instructions. */
  readonly weight: number;
  /** Where it contradicts itself, so that no result could match; null if that was not seen. */
  readonly contradiction: string | null;
}

/** Compiles the subset of JSON Schema that `output_schema` supports. Throws an `Error` that names the location and the rule. */
export function compileSchema(schema: unknown): CompiledSchema {
  return new Compiler(schema).compiled();
}

class Compiler {
  readonly #root: unknown;
  readonly #refs = new Map<string, SchemaNode>();
  readonly #nodes: SchemaNode[] = [];
  /** Referenced schemas still to compile; a list instead of recursion, because chains of references could overflow the call stack. */
  readonly #unread: (() => void)[] = [];
  readonly #patterns = new Map<string, Pattern>();
  #weight = 0;
  #contradiction: string | null = null;

  constructor(root: unknown) {
    this.#root = root;
  }

  compiled(): CompiledSchema {
    const text = JSON.stringify(this.#root);
    if (text.length > CHARACTERS_MAX)
      throw new Error(`it has ${text.length} characters; the maximum is ${CHARACTERS_MAX}`);
    const node = this.#ref('#', '');
    for (let read = this.#unread.pop(); read !== undefined; read = this.#unread.pop()) read();
    refuseEndlessRecursion(this.#nodes);
    return { checks: node.checks, weight: this.#weight, contradiction: this.#contradiction };
  }

  #weigh(weight: number): void {
    this.#weight += weight;
    if (this.#weight > WEIGHT_MAX)
      throw new Error(
        `it is too large: its values and the size of its patterns come to more than ${WEIGHT_MAX}`,
      );
  }

  #node(schema: unknown, at: string, depth: number, node: SchemaNode = { checks: [], same: [] }): SchemaNode {
    this.#weigh(1);
    this.#nodes.push(node);
    if (depth > DEPTH_MAX) throw new Error(`it is nested deeper than ${DEPTH_MAX} levels`);
    if (schema === false) node.checks.push((_, path, walk) => walk.fault(path, 'is not allowed here'));
    if (typeof schema === 'boolean') return node;
    if (!isJsonObject(schema)) throw new Error(`${at || 'it'} must be a schema: an object, true or false`);
    for (const keyword of Object.keys(schema)) {
      const place = `${at}/${keyword}`;
      try {
        this.#keyword(schema, keyword, node, place, depth);
      } catch (error) {
        const { message } = error as Error;
        throw message.startsWith('must ') ? new Error(`${place} ${message}`) : error;
      }
    }
    // What must not match may be impossible.
    const fault = NEGATIVE.test(at) ? null : contradictionOf(schema, node.checks, at);
    if (fault !== null) this.#contradiction ??= `${at || 'it'} contradicts itself: ${fault}`;
    return node;
  }

  #keyword(
    schema: Record<string, unknown>,
    keyword: string,
    node: SchemaNode,
    at: string,
    depth: number,
  ): void {
    const value = schema[keyword];
    const below = (one: unknown, place: string) => this.#node(one, place, depth + 1);
    const same = (one: unknown, place: string): SchemaNode => {
      const found = below(one, place);
      node.same.push(found);
      return found;
    };
    const simple = has(SIMPLE, keyword) ? SIMPLE[keyword] : undefined;
    if (simple !== undefined) {
      this.#weigh(Array.isArray(value) ? value.length : 1);
      node.checks.push(simple(value, keyword));
      return;
    }
    switch (keyword) {
      case '$schema':
        if (typeof value !== 'string' || !DRAFTS.test(value))
          throw new Error('must name a draft of JSON Schema from 04 to 2020-12');
        return;
      case '$id':
      case 'id':
        if (depth > 0) throw new Error(`${at} is not supported below the top`);
        return;
      case '$ref': {
        const found = this.#ref(value, at);
        node.same.push(found);
        node.checks.push((given, path, walk) => walk.apply(found.checks, given, path));
        return;
      }
      case 'pattern': {
        const matches = this.#matcher(value);
        node.checks.push((given, path, walk) => {
          if (typeof given === 'string' && !matches(given, walk))
            walk.fault(path, `must match pattern ${JSON.stringify(value)}`);
        });
        return;
      }
      case 'properties':
      case 'patternProperties':
      case 'additionalProperties':
        // Compiled together, at the first of the three.
        if (keyword === Object.keys(schema).find((one) => FIELDS.has(one)))
          node.checks.push(this.#fields(schema, at.slice(0, -keyword.length - 1), depth));
        return;
      case 'propertyNames': {
        const { checks } = below(value, at);
        node.checks.push((given, path, walk) => {
          if (!isJsonObject(given)) return;
          for (const name of Object.keys(given))
            if (!walk.passes(checks, name, path))
              walk.fault(path, `has a property name that is not allowed: ${name}`);
        });
        return;
      }
      case 'prefixItems':
      case 'items':
      case 'additionalItems':
        if (keyword === Object.keys(schema).find((one) => ITEMS.has(one)))
          node.checks.push(this.#items(schema, at.slice(0, -keyword.length - 1), depth));
        return;
      case 'allOf': {
        const all = listOf(value).map((one, index) => same(one, `${at}/${index}`).checks);
        node.checks.push((given, path, walk) => {
          for (const checks of all) walk.apply(checks, given, path);
        });
        return;
      }
      case 'anyOf': {
        const any = listOf(value).map((one, index) => same(one, `${at}/${index}`).checks);
        node.checks.push((given, path, walk) => {
          if (!any.some((checks) => walk.passes(checks, given, path)))
            walk.fault(path, 'must match at least one schema in anyOf');
        });
        return;
      }
      case 'oneOf': {
        const one = listOf(value).map((each, index) => same(each, `${at}/${index}`).checks);
        node.checks.push((given, path, walk) => {
          if (one.filter((checks) => walk.passes(checks, given, path)).length !== 1)
            walk.fault(path, 'must match exactly one schema in oneOf');
        });
        return;
      }
      case 'not': {
        const { checks } = same(value, at);
        node.checks.push((given, path, walk) => {
          if (walk.passes(checks, given, path)) walk.fault(path, 'must not match the schema in not');
        });
        return;
      }
      case 'if': {
        const [when, then, otherwise] = ['if', 'then', 'else'].map((word) =>
          schema[word] === undefined ? [] : same(schema[word], at.replace(/if$/, word)).checks,
        ) as [Check[], Check[], Check[]];
        node.checks.push((given, path, walk) =>
          walk.apply(walk.passes(when, given, path) ? then : otherwise, given, path),
        );
        return;
      }
      case 'then':
      case 'else':
        return;
      default:
        if (ANNOTATIONS.has(keyword) || keyword.startsWith('x-')) return;
        throw new Error(`${at}: the keyword "${keyword}" is not supported`);
    }
  }

  #matcher(value: unknown): (text: string, walk: Walk) => boolean {
    if (typeof value !== 'string') throw new Error('must be a string');
    const { test, size } = keptIn(this.#patterns, value, () => {
      const pattern = compilePattern(value);
      this.#weigh(pattern.size);
      return pattern;
    });
    return (text, walk) => {
      walk.spend(text.length * size);
      return test(text);
    };
  }

  /** Resolves a reference to the whole schema or one of its definitions. */
  #ref(value: unknown, at: string): SchemaNode {
    if (typeof value !== 'string') throw new Error('must be a string');
    const known = this.#refs.get(value);
    if (known !== undefined) return known;
    const node: SchemaNode = { checks: [], same: [] };
    this.#refs.set(value, node);
    const later = (schema: unknown, place: string, depth: number): SchemaNode => {
      this.#unread.push(() => this.#node(schema, place, depth, node));
      return node;
    };
    if (value === '#') return later(this.#root, '', 0);
    const [place, key] = /^#\/(\$defs|definitions)\/[^/]+$/.test(value) ? namesInReference(value) : [];
    if (place === undefined || key === undefined)
      throw new Error(`${at}: a reference is "#", "#/$defs/NAME" or "#/definitions/NAME", and nothing else`);
    const definitions = (this.#root as Record<string, unknown>)[place];
    if (!isJsonObject(definitions) || !has(definitions, key)) throw new Error(`${at}: there is no ${value}`);
    return later(definitions[key], `/${place}/${key}`, 1);
  }

  #fields(schema: Record<string, unknown>, at: string, depth: number): Check {
    const entries = (keyword: string) => {
      const value = schema[keyword] ?? {};
      if (!isJsonObject(value)) throw new Error('must be an object with a schema for each name');
      return Object.entries(value).map(
        ([name, one]) => [name, this.#node(one, `${at}/${keyword}/${name}`, depth + 1).checks] as const,
      );
    };
    const own = new Map(entries('properties'));
    const patterned = entries('patternProperties').map(
      ([source, checks]) => [this.#matcher(source), checks] as const,
    );
    const rest = schema.additionalProperties;
    const other =
      rest === undefined || rest === false
        ? null
        : this.#node(rest, `${at}/additionalProperties`, depth + 1).checks;
    return (given, path, walk) => {
      if (!isJsonObject(given)) return;
      for (const [name, value] of Object.entries(given)) {
        if (walk.isOver) return;
        walk.spend(1);
        const place = `${path}/${name}`;
        const checks = own.get(name);
        if (checks !== undefined) walk.apply(checks, value, place);
        const matching = patterned.filter(([matches]) => matches(name, walk));
        for (const [, more] of matching) walk.apply(more, value, place);
        if (checks !== undefined || matching.length > 0) continue;
        if (other !== null) walk.apply(other, value, place);
        else if (rest === false) walk.fault(path, `must NOT have additional properties: ${name}`);
      }
    };
  }

  /** In drafts before 2020-12, a list in `items` means what is now `prefixItems`. */
  #items(schema: Record<string, unknown>, at: string, depth: number): Check {
    const { items } = schema;
    const tuple = schema.prefixItems ?? (Array.isArray(items) ? items : []);
    const rest = Array.isArray(items) ? schema.additionalItems : items;
    const first = (tuple === schema.prefixItems || tuple === items ? listOf(tuple) : []).map(
      (one, index) => this.#node(one, `${at}/prefixItems/${index}`, depth + 1).checks,
    );
    const other = rest === undefined ? [] : this.#node(rest, `${at}/items`, depth + 1).checks;
    return (given, path, walk) => {
      if (!Array.isArray(given)) return;
      for (const [index, value] of given.entries()) {
        if (walk.isOver) return;
        walk.apply(first[index] ?? other, value, `${path}/${index}`);
      }
    };
  }
}

const FIELDS: ReadonlySet<string> = new Set(['properties', 'patternProperties', 'additionalProperties']);
const ITEMS: ReadonlySet<string> = new Set(['prefixItems', 'items', 'additionalItems']);

const NEGATIVE = /\/(?:not|if|oneOf)(?:\/|$)/;
const BOUNDS = ['Length', 'Items', 'Properties', 'imum'].map((what) => [`min${what}`, `max${what}`] as const);

function contradictionOf(schema: Record<string, unknown>, checks: readonly Check[], at = '-'): string | null {
  if (at === '' && isNever(schema)) return 'it allows nothing';
  const all = together(schema);
  const bounds = (name: string) => all.flatMap((one) => (typeof one[name] === 'number' ? [one[name]] : []));
  for (const [least, most] of BOUNDS)
    if (Math.max(...bounds(least)) > Math.min(...bounds(most))) return `${least} is more than ${most}`;
  const types = all.flatMap(({ type }) => (type === undefined ? [] : [typesOf(type)]));
  if (types.length > 0 && types.reduce((a, b) => a.intersection(b)).size === 0)
    return 'its types exclude each other';
  for (const name of all.flatMap(({ required = [] }) => required as readonly string[])) {
    const own: unknown[] = [];
    for (const { properties = {}, patternProperties, additionalProperties } of all) {
      const fields = properties as Record<string, unknown>;
      if (has(fields, name)) own.push(fields[name]);
      else if (additionalProperties === false && patternProperties === undefined) own.push(false);
    }
    if (own.some(isNever)) return `"${name}" is required, and not allowed`;
    const fault = own.length > 1 ? contradictionOf({ allOf: own }, []) : null;
    if (fault !== null) return `"${name}" is required, and ${fault}`;
  }
  const listed = all.find((one) => 'const' in one || 'enum' in one);
  const values = listed && ('const' in listed ? [listed.const] : (listed.enum as readonly unknown[]));
  return values === undefined || values.some((one) => new Walk().passes(checks, one, ''))
    ? null
    : 'no value that it lists matches the rest of it';
}

/** The schema, and those that must match with it; what a reference names is left out. */
function together(schema: unknown): readonly Record<string, unknown>[] {
  if (!isJsonObject(schema)) return [];
  return [schema, ...((schema.allOf ?? []) as readonly unknown[]).flatMap(together)];
}

/** Whether it allows no value: `false`, or the negation of everything. */
function isNever(schema: unknown): boolean {
  if (!isJsonObject(schema)) return schema === false;
  const { not, allOf = [] } = schema;
  const all = isJsonObject(not) && Object.keys(not).every((keyword) => ANNOTATIONS.has(keyword));
  return not === true || all || (allOf as readonly unknown[]).some(isNever);
}

function typesOf(type: unknown): ReadonlySet<unknown> {
  const named = [type].flat();
  return new Set(named.includes('number') ? [...named, 'integer'] : named);
}

function listOf(value: unknown): readonly unknown[] {
  if (!Array.isArray(value) || value.length === 0) throw new Error('must be a list of schemas');
  return value;
}
