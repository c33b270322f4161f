import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { DocumentOf } from '../../documents/shapes/all-documents.ts';
import { type ScriptTrust, trustHash } from '../../models/workflow/saved-scripts.ts';
import { CoppiceError } from '../../records/coppice-error.ts';
import type { Store } from '../../store/store.ts';
import { oneWorkflowRun } from './steer-runs.ts';

const NAME = /^[a-z0-9][\w-]{0,63}$/i;

/**
 * Writes the script of a run as a saved workflow of the folder, which is then trusted, as a person chose it. Rejects with `E_INVALID_ARGUMENT` for a name that is none, and with `E_REFUSED` where another
 * script has it, unless it `overwrites` that.
 */
export async function saveRun(
  store: Store,
  text: string,
  {
    name,
    folder,
    overwrites,
    accept,
  }: Pick<ScriptTrust, 'accept'> & {
    readonly name: string;
    readonly folder: string;
    readonly overwrites: boolean;
  },
): Promise<DocumentOf<'coppice/workflow-saved/v1'>> {
  if (!NAME.test(name))
    throw new CoppiceError('E_INVALID_ARGUMENT', `"${name}" cannot be the name of a workflow`, {
      hint: 'Use letters, digits, - and _, at most 64',
    });
  const { id, config } = await oneWorkflowRun(store, text);
  const script = config.workflow?.script ?? '';
  const path = join(folder, '.coppice', 'workflows', `${name}.js`);
  mkdirSync(dirname(path), { recursive: true });
  try {
    writeFileSync(path, script, { flag: overwrites ? 'w' : 'wx' });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    if (readFileSync(path, 'utf8') !== script)
      throw new CoppiceError('E_REFUSED', `${path} is another script`, {
        hint: 'Choose another name, or replace it with --overwrite',
      });
  }
  accept(path, trustHash(script, folder));
  return { schema: 'coppice/workflow-saved/v1', run: id, name, path };
}
