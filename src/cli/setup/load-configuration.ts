import { readFileSync } from 'node:fs';
import { CoppiceError } from '../../records/coppice-error.ts';
import { configFile } from '../../settings/folders.ts';
import type { Configuration } from './configuration.ts';

export interface LoadedConfiguration {
  /** Null if there was no file. */
  readonly file: string | null;
  readonly configuration: Configuration;
}

/**
 * Reads the user's own configuration: `--config`, `$COPPICE_CONFIG`, or the platform's folder. Never reads a file of the working folder: a repository
 * must not bring its own configuration (docs/configuration.md). Throws `E_CONFIG`.
 */
export async function loadConfiguration(
  named: string | undefined,
  env: NodeJS.ProcessEnv,
): Promise<LoadedConfiguration> {
  const { file, explicit } = configFile(named, env);
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if (!explicit && (error as NodeJS.ErrnoException).code === 'ENOENT')
      return { file: null, configuration: {} };
    throw new CoppiceError(
      'E_CONFIG',
      `the configuration ${file} cannot be read: ${(error as Error).message}`,
      { cause: error },
    );
  }
  const value = parse(text, file);
  // Imports lazily: the schemas take longer to load than most commands take to run.
  const [{ configuration }, { checkSettings }] = await Promise.all([
    import('./configuration.ts'),
    import('../../settings/check-settings.ts'),
  ]);
  return { file, configuration: checkSettings(configuration, value, `in ${file}`) };
}

function parse(text: string, file: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const message = (error as Error).message;
    const position = faultPosition(text);
    const before = text.slice(0, position).split('\n');
    const where = `line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1}`;
    throw new CoppiceError('E_CONFIG', `${file} is not valid JSON at ${where}: ${message}`, { cause: error });
  }
}

/** Returns the offset where the text stops being JSON: the end of its longest prefix that could be continued to JSON. */
function faultPosition(text: string): number {
  let [good, bad] = [0, text.length + 1];
  while (bad - good > 1) {
    const middle = Math.floor((good + bad) / 2);
    if (couldBecomeJson(text.slice(0, middle))) good = middle;
    else bad = middle;
  }
  return good;
}

function couldBecomeJson(prefix: string): boolean {
  try {
    JSON.parse(prefix);
    return true;
  } catch (error) {
    const { message } = error as Error;
    const position = /at position (\d+)/.exec(message)?.[1];
    return (
      /^Unexpected end|^Unterminated/.test(message) ||
      (position !== undefined && Number(position) >= prefix.length)
    );
  }
}
