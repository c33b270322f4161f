import { resolve } from 'node:path';
import type { LoadedScript, ScriptTrust } from '../../models/workflow/saved-scripts.ts';
import { CoppiceError } from '../../records/coppice-error.ts';
import type { Context } from '../setup/context.ts';

/** The script that a command names, by its name or path. It is read here, because a server may run elsewhere. */
export async function namedScript(
  { env, data_folder, options }: Context,
  named: string,
  more: Partial<ScriptTrust> = {},
): Promise<LoadedScript> {
  // Imported on first use: only scripts need a parser.
  const { loadScript, scriptTrust } = await import('../../models/workflow/saved-scripts.ts');
  return loadScript(named, resolve(options.cwd ?? '.'), { ...scriptTrust(env, data_folder), ...more });
}

/** The value of `--args`, as JSON text. */
export function argsOf(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  try {
    return JSON.stringify(JSON.parse(text));
  } catch {
    throw new CoppiceError('E_INVALID_ARGUMENT', '--args is not JSON', {
      hint: `Quote a text: --args '"src"'`,
    });
  }
}
