import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { type Quirks, quirks } from '../models/provider/provider-config.ts';
import type { QuirkBook } from '../models/provider/quirk-book.ts';
import { replaceFile } from '../permissions/replace-file.ts';

const content = z.record(z.string(), quirks);

/** What servers of models do not take, kept in a file of the data folder; without it, it is learnt anew (docs/providers.md#what-a-server-does-not-take). */
export function quirkFile(data_folder: string): QuirkBook {
  const file = join(data_folder, 'model-quirks.json');
  let known: Readonly<Record<string, Quirks>> | undefined;
  const read = (): Readonly<Record<string, Quirks>> => {
    try {
      return content.parse(JSON.parse(readFileSync(file, 'utf8')));
    } catch {
      return {};
    }
  };
  return {
    of: (model) => {
      known ??= read();
      return Object.hasOwn(known, model) ? (known[model] as Quirks) : {};
    },
    learn: (model, learnt) => {
      known = { ...read(), ...known, [model]: learnt };
      try {
        replaceFile(file, `${JSON.stringify(known, undefined, 2)}\n`);
      } catch {
        // It holds for this process.
      }
    },
  };
}
