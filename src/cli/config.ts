import { readFileSync } from 'node:fs';
import type { z } from 'zod';
import { CoppiceError } from '../core/coppice-error.ts';
import { checkSettings } from '../settings/check-settings.ts';
import { configFile } from '../settings/folders.ts';
import { settings } from '../settings/settings.ts';
import { keysConfig } from '../tui/key-bindings.ts';
import { channelsConfig } from './channels-config.ts';

/** What both take (`settings`), and what only the command line has. */
export const configuration = settings.extend({
  /** Where people are: results go there, and from some they write (docs/channels.md). */
  channels: channelsConfig.optional(),
  /** Keys of the terminal UI by action: `{ "agents": ["ctrl+x a"] }`. */
  keys: keysConfig.optional(),
});

export type Configuration = z.infer<typeof configuration>;

export interface LoadedConfiguration {
  /** Null when no file was there. */
  readonly file: string | null;
  readonly configuration: Configuration;
}

/**
 * Reads the user's own configuration: `--config`, `$COPPICE_CONFIG`, or the platform's folder. Never a file of the folder
 * that is worked in: a repository must not bring its own (SAFETY.md). Throws `E_CONFIG`.
 */
export function loadConfiguration(named: string | undefined, env: NodeJS.ProcessEnv): LoadedConfiguration {
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
  return { file, configuration: checkSettings(configuration, parse(text, file), `in ${file}`) };
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

/** Where the text stops being JSON: the end of the longest prefix that could still become some. */
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
