import { z } from 'zod';
import { JSON_DOCUMENTS, PARTS } from '../../src/documents/shapes/all-documents.ts';
import { messages } from '../../src/documents/shapes/message-lines.ts';
import { ERROR_CODES } from '../../src/records/coppice-error.ts';
import { table } from './commands-tables.ts';
import { routesOf } from './http-routes.ts';

interface Node {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly string[];
  readonly anyOf?: readonly Node[];
  readonly items?: Node;
  readonly properties?: Readonly<Record<string, Node>>;
  readonly required?: readonly string[];
  readonly description?: string;
  readonly format?: string;
}

/** Every document of `--json`, then the parts that several of them share, as Markdown. */
export function jsonTables(): Readonly<Record<string, string>> {
  return {
    documents: JSON_DOCUMENTS.map(documentText).join('\n\n'),
    parts: Object.entries(PARTS)
      .map(([name, shape]) => `### ${name}\n\n${fields(shape)}`)
      .join('\n\n'),
    messages: Object.entries(messages)
      .map(([kind, shape]) => `### Lines of kind ${kind}\n\n${fields(shape)}`)
      .join('\n\n'),
    codes: table(
      ['code', 'meaning'],
      Object.entries(ERROR_CODES).map(([code, meaning]) => [`\`${code}\``, meaning]),
    ),
  };
}

function documentText({ name, by, shape, like }: (typeof JSON_DOCUMENTS)[number]): string {
  const commands = by
    .map((command) => (command.startsWith('every') ? command : `\`coppice ${command}\``))
    .join(', ');
  const also =
    like === undefined
      ? ''
      : ` It has the keys of [${like === 'agent' || like === 'approval' ? 'an' : 'a'} ${like}](#${like})`;
  const own = Object.keys(shape.shape).length > 0;
  const tail = also === '' ? '' : own ? `${also}, and:` : `${also}.`;
  const routes = routesOf(name).join(', ');
  const sources = [
    ...(commands === '' ? [] : [`Printed by ${commands}.`]),
    ...(routes === '' ? [] : [`Answer of ${routes}.`]),
  ];
  return [`### ${name}`, `${sources.join(' ')}${tail}`, ...(own ? [fields(shape)] : [])].join('\n\n');
}

function fields(shape: z.ZodType): string {
  const { $ref, $defs, ...whole } = z.toJSONSchema(shape, { unrepresentable: 'any' }) as Node & {
    $defs?: Record<string, Node>;
  };
  const node = $ref === undefined ? whole : ($defs?.[$ref.split('/').at(-1) ?? ''] ?? whole);
  return table(['key', 'type', 'meaning'], rows(node, ''));
}

function rows({ properties = {}, required = [] }: Node, path: string): (readonly string[])[] {
  return Object.entries(properties).flatMap(([name, node]) => {
    const here = `${path}${name}`;
    const meaning = `${required.includes(name) ? '' : '(not always) '}${node.description ?? ''}`;
    return [[`\`${here}\``, typeOf(node), meaning], ...below(node, here)];
  });
}

/** Rows of nested keys: of an object, of the items of a list, of a nullable object. */
function below(node: Node, path: string): (readonly string[])[] {
  if (node.properties !== undefined) return rows(node, `${path}.`);
  if (node.items?.properties !== undefined) return rows(node.items, `${path}[].`);
  const [one, ...more] = (node.anyOf ?? []).filter(({ type }) => type !== 'null');
  return one !== undefined && more.length === 0 ? below(one, path) : [];
}

function typeOf(node: Node): string {
  if (node.$ref !== undefined) {
    const name = node.$ref.split('/').at(-1) ?? '';
    return `[${name}](#${name})`;
  }
  if (node.const !== undefined) return `\`${JSON.stringify(node.const)}\``;
  if (node.enum !== undefined) return node.enum.map((value) => `\`${value}\``).join(', ');
  if (node.anyOf !== undefined)
    return node.anyOf.every(({ type }) => type === 'object') ? 'object' : node.anyOf.map(typeOf).join(' or ');
  if (node.type === 'array') return node.items === undefined ? 'list' : `list of ${pluralOf(node.items)}`;
  if (node.format === 'date-time') return 'time';
  return typeof node.type === 'object' ? node.type.join(' or ') : (node.type ?? 'any');
}

function pluralOf(node: Node): string {
  if (node.$ref === undefined) return `${typeOf(node)}s`;
  const name = node.$ref.split('/').at(-1) ?? '';
  return `[${name.replace(/y$/, 'ie')}s](#${name})`;
}
