import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { KEY_FILE } from '../permissions/protected-path.ts';
import { CoppiceError } from '../records/coppice-error.ts';
import { configFolder } from './folders.ts';

/** Variables that the file may set: others, such as `PATH` or `NODE_OPTIONS`, are not keys. */
const KEY_NAME = /^[A-Z][A-Z0-9_]*_KEY$/;

export type Keys = Readonly<Record<string, string>>;

/**
 * File with the provider keys given to `coppice setup`: values by variable name, readable only by the user. It is not part of the configuration, so that the
 * configuration can be shown and shared.
 */
export function keyFile(env: NodeJS.ProcessEnv): string {
  return join(configFolder(env), KEY_FILE);
}

/** The keys of the file; none if there is no file. Throws `E_CONFIG`, never with a key in its message. */
export function readKeys(env: NodeJS.ProcessEnv): Keys {
  const file = keyFile(env);
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
    if (process.platform !== 'win32' && (statSync(file).mode & 0o077) !== 0)
      throw new CoppiceError('E_CONFIG', `${file} contains keys and is accessible to other users`, {
        hint: `Run: chmod 600 '${file}'`,
      });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {};
    if (error instanceof CoppiceError) throw error;
    throw new CoppiceError('E_CONFIG', `the keys in ${file} cannot be read: ${(error as Error).message}`, {
      cause: error,
    });
  }
  const keys = keysOf(text);
  if (keys === null)
    throw new CoppiceError('E_CONFIG', `${file} is not a valid key file`, {
      hint: 'It maps names of variables to their values: { "ANTHROPIC_API_KEY": "…" }; coppice setup writes it',
    });
  return keys;
}

/** Returns null if the text is invalid. Validated by hand: every command reads the file, and loading schemas takes longer than most commands do. */
function keysOf(text: string): Keys | null {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== 'object' || value === null) return null;
    const entries = Object.entries(value);
    const valid = entries.every(
      ([name, key]) => KEY_NAME.test(name) && typeof key === 'string' && key !== '',
    );
    return valid ? (value as Keys) : null;
  } catch {
    return null;
  }
}
