import { cleanLines } from '../../render/clean.ts';

/** A server's tool as it was listed, within bounds. */
export interface ListedTool {
  /** The server's own. */
  readonly name: string;
  /** Text of others: without control and invisible characters. */
  readonly description: string;
  /** A JSON Schema of type `object`; of a schema that is too large nothing but that. */
  readonly input: Readonly<Record<string, unknown>>;
  /** It says that it changes nothing, which nobody checks. */
  readonly reads_only: boolean;
}

const NAME_MAX = 256;
const DESCRIPTION_MAX = 4_000;
const SCHEMA_MAX = 24_000;
const SCHEMA_DEPTH = 40;

interface Announced {
  readonly name: string;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly inputSchema: unknown;
  readonly annotations?: { readonly readOnlyHint?: boolean | undefined } | undefined;
}

/** Null: its name cannot be used. */
export function listedTool(tool: Announced): ListedTool | null {
  if (tool.name === '' || tool.name.length > NAME_MAX) return null;
  const text = cleanLines((tool.description ?? tool.title ?? '').slice(0, 2 * DESCRIPTION_MAX)).trim();
  return {
    name: tool.name,
    description: text.length > DESCRIPTION_MAX ? `${text.slice(0, DESCRIPTION_MAX)}…` : text,
    input: inputOf(tool.inputSchema),
    reads_only: tool.annotations?.readOnlyHint === true,
  };
}

/** As every provider accepts it: an object at the top, and not one of several. What is left out, the server checks itself. */
function inputOf(schema: unknown): Readonly<Record<string, unknown>> {
  const any = { type: 'object', properties: {} };
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) return any;
  if (isDeeper(schema, SCHEMA_DEPTH)) return any;
  const {
    $schema: _,
    $id: __,
    oneOf: ___,
    anyOf: ____,
    allOf: _____,
    ...plain
  } = schema as Record<string, unknown>;
  const text = JSON.stringify(withoutDefaulted(plain));
  if (text.length > SCHEMA_MAX) return any;
  return { properties: {}, ...(JSON.parse(text.toWellFormed()) as object), type: 'object' };
}

/** Many servers call required what has a default: they mean what they answer, not what they are asked. */
function withoutDefaulted(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withoutDefaulted);
  if (typeof schema !== 'object' || schema === null) return schema;
  const inner = Object.fromEntries(
    Object.entries(schema).map(([key, value]) => [key, key === 'default' ? value : withoutDefaulted(value)]),
  );
  const { properties, required } = inner;
  if (!Array.isArray(required) || typeof properties !== 'object' || properties === null) return inner;
  const hasDefault = (name: unknown): boolean => {
    const one = (properties as Record<string, unknown>)[String(name)];
    return typeof one === 'object' && one !== null && 'default' in one;
  };
  return { ...inner, required: required.filter((name) => !hasDefault(name)) };
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((one) => isDeeper(one, levels - 1));
}
