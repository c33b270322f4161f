import { readFileSync } from 'node:fs';
import { CoppiceError } from '../../records/coppice-error.ts';
import { configFile } from '../../settings/folders.ts';
import { reasonOf } from '../../tools/files/bounded-file.ts';
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
    // Without a byte order mark, as everywhere where JSON of people is read.
    text = new TextDecoder().decode(readFileSync(file));
  } catch (error) {
    const is_missing = (error as NodeJS.ErrnoException).code === 'ENOENT';
    if (!explicit && is_missing) return { file: null, configuration: {} };
    const why = is_missing ? 'there is no such file' : reasonOf(error);
    throw new CoppiceError('E_CONFIG', `the configuration ${file} cannot be read: ${why}`, { cause: error });
  }
  const value = await parse(text, file);
  // Imports lazily: the schemas take longer to load than most commands take to run.
  const [{ configuration }, { checkSettings }] = await Promise.all([
    import('./configuration.ts'),
    import('../../settings/check-settings.ts'),
  ]);
  return { file, configuration: checkSettings(configuration, value, `in ${file}`) };
}

async function parse(text: string, file: string): Promise<unknown> {
  try {
    // Every key is optional: a file in which nothing stands yet is one without keys.
    const value = text.trim() === '' ? {} : JSON.parse(text);
    const twice = nameTwice(text);
    if (twice === null) return value;
    throw new CoppiceError('E_CONFIG', `${twice} stands twice in one object of ${file}`, {
      hint: 'JSON takes only the last one: make one of both, or remove one',
    });
  } catch (error) {
    if (error instanceof CoppiceError) throw error;
    const { jsonFaultPlace, jsonHabit } = await import('../../records/text/json-text.ts');
    const { message } = error as Error;
    const hint = jsonHabit(text);
    throw new CoppiceError('E_CONFIG', `${file} is not valid JSON at ${jsonFaultPlace(text)}: ${message}`, {
      cause: error,
      ...(hint !== undefined && { hint }),
    });
  }
}

/** A name that one object of a text that is JSON has twice, with its quotation marks: rules under the first would be lost. Null if there is none. */
function nameTwice(json: string): string | null {
  const open: Set<string>[] = [];
  for (const [sign, text, colon] of json.matchAll(/("[^"\\]*(?:\\.[^"\\]*)*")(\s*:)?|[[{}\]]/g)) {
    if (colon !== undefined && text !== undefined) {
      if (open.at(-1)?.has(text)) return text;
      open.at(-1)?.add(text);
    } else if ('[{'.includes(sign)) open.push(new Set());
    else if (']}'.includes(sign)) open.pop();
  }
  return null;
}
