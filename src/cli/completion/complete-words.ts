import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { clean } from '../../render/clean.ts';
import { configFile, databaseText, workFolder } from '../../settings/folders.ts';
import { databaseAddress } from '../../store/database-address.ts';
import { createProgram } from '../program.ts';
import type { Candidate } from './candidate.ts';
import { commandShapes } from './command-shape.ts';
import { ledgerCandidates } from './ledger-candidates.ts';
import { walkWords } from './walk-words.ts';
import type { WordKind } from './word-kind.ts';

const CANDIDATES_MAX = 50;
const DESCRIPTION_MAX = 60;
/** Names come from models and files: nothing that means anything to a shell is offered to one. */
const SAFE = /^[\w][\w.@+-]*$/;

/**
 * `coppice __complete WORDS…`: what the last word may become, a line each: value, tab, description. For ids and names only;
 * commands and flags stand in the scripts. Nothing is written, nothing goes over the network, and nothing is said of
 * what goes wrong: somebody is typing.
 */
export async function completeWords(words: readonly string[], env: NodeJS.ProcessEnv): Promise<string[]> {
  try {
    const { place, typed, values } = walkWords(commandShapes(createProgram('').command), words);
    if (place === null) return [];
    const value = (flag: string): string | undefined => withHome(values.get(flag));
    const given = { config: value('--config'), database: value('--database'), cwd: value('--cwd') };
    const candidates = await candidatesOf(place.kind, typed, given, env);
    return candidates
      .filter((one) => SAFE.test(one.value) && one.value.startsWith(typed))
      .slice(0, CANDIDATES_MAX)
      .map((one) => `${one.value}\t${brief(one.description)}`);
  } catch {
    return [];
  }
}

interface Given {
  readonly config: string | undefined;
  readonly database: string | undefined;
  readonly cwd: string | undefined;
}

async function candidatesOf(
  kind: WordKind,
  typed: string,
  given: Given,
  env: NodeJS.ProcessEnv,
): Promise<readonly Candidate[]> {
  if (kind === 'profile') {
    const { profileCandidates } = await import('./profile-candidates.ts');
    return profileCandidates(given, env);
  }
  if (kind === 'toolset') {
    const { ALL_TOOLSETS } = await import('../../kernel/toolsets/all-toolsets.ts');
    return ALL_TOOLSETS.map(({ name }) => ({ value: name, description: '' }));
  }
  if (kind === 'zone')
    return ['UTC', ...Intl.supportedValuesOf('timeZone')].map((value) => ({ value, description: '' }));
  const path = ledgerFile(given, env);
  return path === null ? [] : ledgerCandidates(path, kind, typed, CANDIDATES_MAX, workFolder(given.cwd));
}

/** Null when the ledger is no file: a server is not asked while somebody types. */
function ledgerFile(given: Given, env: NodeJS.ProcessEnv): string | null {
  const text = databaseText(given.database, env, () => configuredDatabase(given.config, env));
  const address = databaseAddress(text);
  return address.kind === 'sqlite' ? address.path : null;
}

/** Only this one key: checking the whole configuration takes longer than all the rest. */
function configuredDatabase(named: string | undefined, env: NodeJS.ProcessEnv): string | undefined {
  const { file, explicit } = configFile(named, env);
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if (explicit) throw error;
    return undefined;
  }
  const { database } = JSON.parse(text) as { database?: unknown };
  return typeof database === 'string' ? database : undefined;
}

/** Shells hand over words as they were typed. */
function withHome(path: string | undefined): string | undefined {
  return path?.replace(
    /^(sqlite:(?:\/\/)?)?~(?=\/)/,
    (_, scheme: string | undefined) => `${scheme ?? ''}${homedir()}`,
  );
}

function brief(description: string): string {
  const line = clean(description.slice(0, 500));
  return line.length <= DESCRIPTION_MAX
    ? line
    : `${line
        .slice(0, DESCRIPTION_MAX - 1)
        .trimEnd()
        .toWellFormed()}…`;
}
