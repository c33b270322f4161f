import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { keysTable } from '../keys-table.ts';
import { commandsTables } from './commands-tables.ts';
import { configurationSchema } from './configuration-schema.ts';
import { configurationTables } from './configuration-tables.ts';
import { floorsDrawing } from './floors-drawing.ts';
import { httpRoutes } from './http-routes.ts';
import { jsonTables } from './json-tables.ts';
import { metricsTable } from './metrics-table.ts';

const SRC = join(import.meta.dirname, '../../src');
const EXAMPLES = join(import.meta.dirname, '../../examples');

/** The marked blocks of each document that are generated from the sources. */
export const GENERATED: Readonly<Record<string, () => Readonly<Record<string, string>>>> = {
  'docs/architecture.md': () => ({ floors: floorsDrawing(SRC) }),
  'docs/command-line.md': () => ({ commands: commandsTables() }),
  'docs/configuration.md': () => ({ configuration: configurationTables() }),
  'docs/core.md': () => examples('core', ['tool', 'model', 'store', 'toolset']),
  'docs/http-api.md': () => ({ routes: httpRoutes() }),
  'docs/json.md': jsonTables,
  'docs/operations.md': () => ({ metrics: metricsTable() }),
  'docs/tui.md': () => ({ keys: keysTable() }),
};

/** Files that are generated as a whole. */
export const GENERATED_FILES: Readonly<Record<string, () => string>> = {
  'docs/config.schema.json': () => `${JSON.stringify(configurationSchema(), null, 2)}\n`,
};

/** Programs of a folder of examples, as blocks of code. */
function examples(folder: string, names: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    names.map((name) => {
      const text = readFileSync(join(EXAMPLES, folder, `${name}.ts`), 'utf8');
      return [`example-${name}`, `\`\`\`ts\n${text}\`\`\``];
    }),
  );
}
