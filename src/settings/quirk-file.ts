import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { learntQuirks } from '../models/provider/provider-config.ts';
import type { QuirkBook } from '../models/provider/quirk-book.ts';
import { replaceFile } from '../permissions/replace-file.ts';
import { orElse } from '../records/coppice-error.ts';
import type { SetAside } from '../tools/mcp-servers/listed-tool.ts';
import type { McpServerConfig } from '../tools/mcp-servers/mcp-config.ts';

const aside = z.object({ name: z.string(), why: z.string() });
/** Maximum tools of a server of which it is remembered. */
const ASIDE_MAX = 100;

/** What servers of models do not take; without the file, it is learnt anew (docs/providers.md#what-a-server-does-not-take). */
export function quirkFile(data_folder: string): QuirkBook {
  return bookIn(join(data_folder, 'model-quirks.json'), learntQuirks, {});
}

/** What the gates of models have learnt last of providers' limits, in words, for `doctor`. */
export function limitFile(data_folder: string) {
  return bookIn(join(data_folder, 'model-limits.json'), z.string(), '');
}

/** The tools that MCP servers listed last and that were set aside, for those who do not start the servers. */
export function asideFile(data_folder: string) {
  const book = bookIn(join(data_folder, 'mcp-set-aside.json'), z.array(aside), []);
  // A hash, because a definition may have secrets.
  const keyOf = (name: string, { command, args = [], url }: McpServerConfig) =>
    `${name} ${hash('sha256', JSON.stringify([command, args, url])).slice(0, 16)}`;
  return {
    of: (name: string, config: McpServerConfig) => book.of(keyOf(name, config)),
    learn: (name: string, config: McpServerConfig, found: readonly SetAside[]) =>
      book.learn(keyOf(name, config), found.slice(0, ASIDE_MAX)),
  };
}

/** Entries by name in a file of the data folder that can be deleted at any time. */
function bookIn<Entry>(file: string, entry: z.ZodType<Entry>, none: Entry) {
  const content = z.record(z.string(), entry);
  let known: Readonly<Record<string, Entry>> | undefined;
  const read = (): Readonly<Record<string, Entry>> => {
    return orElse(() => content.parse(JSON.parse(readFileSync(file, 'utf8'))), {});
  };
  const of = (name: string): Entry => {
    known ??= read();
    return Object.hasOwn(known, name) ? (known[name] as Entry) : none;
  };
  const learn = (name: string, learnt: Entry): void => {
    known = { ...known, ...read() };
    if (JSON.stringify(of(name)) === JSON.stringify(learnt)) return;
    known = { ...known, [name]: learnt };
    try {
      replaceFile(file, `${JSON.stringify(known, undefined, 2)}\n`);
    } catch {
      // It holds for this process.
    }
  };
  return { of, learn };
}
