import { table } from './commands-tables.ts';
import { CONFIGURATION_KEYS } from './configuration-keys.ts';
import { configurationSchema, type SchemaNode, schemaKeys } from './configuration-schema.ts';

/** Prefixes of keys that have a table of their own. */
const SECTIONS: readonly string[] = [
  'providers',
  'acp',
  'agents.defaults',
  'agents.NAME',
  'context',
  'runs',
  'alerts',
  'channels',
  'hooks',
  'tui',
  'keys',
];

/** Every key of the configuration as Markdown. */
export function configurationTables(): string {
  const keys = schemaKeys(configurationSchema()).map((key) => ({
    ...key,
    section: SECTIONS.find(
      (section) => key.path === section || ['.', '['].some((next) => key.path.startsWith(section + next)),
    ),
  }));
  const order = Object.keys(CONFIGURATION_KEYS);
  const tables = [undefined, ...SECTIONS].map((section) => {
    const rows = keys
      .filter((key) => key.section === section || (section === undefined && !key.path.includes('.')))
      .toSorted((a, b) => order.indexOf(a.path) - order.indexOf(b.path))
      .map(({ path, node, needed }) => {
        const text = CONFIGURATION_KEYS[path];
        const meaning = `${text?.meaning ?? ''}${needed ? '; required' : ''}`;
        return [`\`${path}\``, typeOf(node), meaning, valueText(text?.default)];
      });
    return `### ${section ?? 'Top level'}\n\n${table(['key', 'type', 'meaning', 'when left out'], rows)}`;
  });
  return tables.join('\n\n');
}

function valueText(text: string | undefined): string {
  if (text === undefined) return '';
  return /^(?:[\d"[]|null$)/.test(text) ? `\`${text}\`` : text;
}

function typeOf(node: SchemaNode): string {
  if (node.enum !== undefined) return node.enum.map((value) => `\`"${value}"\``).join(', ');
  if (node.anyOf !== undefined) return node.anyOf.map(typeOf).join(' or ');
  if (node.items !== undefined) return `list of ${typeOf(node.items)}s`;
  if (node.type === 'null') return '`null`';
  const least =
    node.minimum !== undefined
      ? ` ≥ ${node.minimum}`
      : node.exclusiveMinimum !== undefined
        ? ` > ${node.exclusiveMinimum}`
        : '';
  return `${node.type ?? 'any'}${least}${node.maximum === undefined ? '' : `, ≤ ${node.maximum}`}`;
}
