import { cleanLines } from '../../render/clean.ts';

/** A server's tool as it was listed, within bounds. */
export interface ListedTool {
  /** The name that the server itself uses. */
  readonly name: string;
  /** Untrusted text, with control and invisible characters removed. */
  readonly description: string;
  /** A JSON Schema of type `object`; without any properties if the server's schema is too large or too deep. */
  readonly input: Readonly<Record<string, unknown>>;
  /** The server's claim that the tool is read-only; not verified. */
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

/** Returns null if the tool's name is empty or too long. */
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

/** The schema in a form that every provider accepts: an object at the top, without alternatives. The server itself checks what is left out. */
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

/** Removes fields with a default from `required`: many servers describe the values after parsing, not what a caller must send. */
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
