import { z } from 'zod';
import { configuration } from '../../src/cli/setup/configuration.ts';
import { CONFIGURATION_KEYS } from './configuration-keys.ts';

/** The subset of JSON Schema that zod produces for the configuration. */
export interface SchemaNode {
  readonly title?: string;
  readonly type?: string;
  readonly enum?: readonly string[];
  readonly anyOf?: readonly SchemaNode[];
  readonly items?: SchemaNode;
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: SchemaNode | false;
  readonly minimum?: number;
  readonly exclusiveMinimum?: number;
  readonly maximum?: number;
  readonly description?: string;
  readonly default?: unknown;
}

/** `configuration` as JSON Schema, with descriptions and defaults for editors. */
export function configurationSchema(): SchemaNode {
  const schema = z.toJSONSchema(configuration, {
    io: 'input',
    override: ({ jsonSchema }) => {
      // zod adds the range of safe integers to every integer.
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
      const names = jsonSchema.propertyNames;
      if (typeof names === 'object' && !('pattern' in names)) delete jsonSchema.propertyNames;
    },
  }) as SchemaNode;
  return described({ title: 'Configuration of Coppice', ...schema }, '');
}

function described(node: SchemaNode, path: string): SchemaNode {
  const text = CONFIGURATION_KEYS[path];
  return {
    ...node,
    ...(text === undefined ? {} : { description: plain(text.meaning), ...defaultOf(text.default) }),
    ...Object.fromEntries(
      childrenOf(node).map(({ key, nodes }) => [
        key,
        nodes.length === 1 && (nodes[0]?.name === 'NAME' || nodes[0]?.name === ENTRY)
          ? described(nodes[0].node, join(path, nodes[0].name))
          : Object.fromEntries(
              nodes.map(({ name, node: below }) => [name, described(below, join(path, name))]),
            ),
      ]),
    ),
  };
}

/** Path element for any entry of a list. */
const ENTRY = '[]';

function join(path: string, name: string): string {
  if (name === ENTRY) return `${path}${ENTRY}`;
  return path === '' ? name : `${path}.${name}`;
}

function childrenOf({ properties, additionalProperties, items }: SchemaNode): readonly {
  readonly key: string;
  readonly nodes: readonly { readonly name: string; readonly node: SchemaNode }[];
}[] {
  return [
    ...(properties === undefined
      ? []
      : [{ key: 'properties', nodes: Object.entries(properties).map(([name, node]) => ({ name, node })) }]),
    ...(additionalProperties
      ? [{ key: 'additionalProperties', nodes: [{ name: 'NAME', node: additionalProperties }] }]
      : []),
    ...(items?.properties === undefined ? [] : [{ key: 'items', nodes: [{ name: ENTRY, node: items }] }]),
  ];
}

/** Every key of the schema by its path, in order; `NAME` stands for a name of the user's. */
export function schemaKeys(
  node: SchemaNode,
  path = '',
): readonly { readonly path: string; readonly node: SchemaNode; readonly needed: boolean }[] {
  return childrenOf(node).flatMap(({ nodes }) =>
    nodes.flatMap(({ name, node: below }) => {
      const here = join(path, name);
      const needed = node.required?.includes(name) === true;
      return [...(name === ENTRY ? [] : [{ path: here, node: below, needed }]), ...schemaKeys(below, here)];
    }),
  );
}

/** Removes Markdown links and backticks. */
function plain(text: string): string {
  return text.replaceAll(/ \(\[[^\]]*\]\([^)]*\)\)|\[([^\]]*)\]\([^)]*\)/g, '$1').replaceAll('`', '');
}

/** Returns a default only if the text is a JSON value, not a sentence. */
function defaultOf(text: string | undefined): { readonly default?: unknown } {
  if (text === undefined || !/^(?:[\d"[]|null$)/.test(text)) return {};
  return { default: JSON.parse(text) };
}
