import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import type { Agent } from '../../records/agent/agent.ts';
import { cutText } from '../../records/text/cut-text.ts';
import { statusWord } from '../../render/agent-status.ts';
import { clean } from '../../render/clean.ts';
import { treeTitle } from '../../render/tree-title.ts';
import {
  configFile,
  databaseAddressText,
  dataFolder,
  serverUrl,
  workFolder,
} from '../../settings/folders.ts';
import { openReadOnlyLedger, type ReadOnlyLedger } from '../../store/open-store.ts';
import { createProgram } from '../program.ts';
import { type Candidate, type ParsedWords, parseWords } from './parse-words.ts';
import type { WordKind } from './word-kind.ts';

const CANDIDATES_MAX = 50;
const DESCRIPTION_MAX = 60;
/** Values that may be offered: names come from models and files, so those with characters that have a meaning in a shell are left out. */
const SAFE = /^[\w][\w.@+-]*$/;

/**
 * `coppice __complete WORDS…`: returns candidates for the last word, as the lines that the shell scripts read (`shell-scripts.ts`). Runs while a
 * person types: writes nothing, uses no network, and ignores errors.
 */
export async function completeWords(words: readonly string[], env: NodeJS.ProcessEnv): Promise<string[]> {
  try {
    const walked = parseWords(createProgram('').command, words);
    return walked.words === null ? await values(walked, env) : lines(walked.words, walked);
  } catch {
    return [];
  }
}

async function values(
  { place, lead, typed, values }: ParsedWords,
  env: NodeJS.ProcessEnv,
): Promise<string[]> {
  if (place === null) return [];
  const { kind, choices } = place;
  if (choices !== null) return lines(choices.map(plain), { lead, typed });
  if (kind === 'text') return [];
  if (kind === 'folder') return [`:folder\t${lead}`];
  if (kind === 'file') return [`:file\t${lead}${typed.startsWith('sqlite:') ? 'sqlite:' : ''}`];
  const value = (flag: string): string | undefined => withHome(values.get(flag));
  const given = {
    config: value('--config'),
    database: value('--database'),
    server: value('--server'),
    cwd: value('--cwd'),
  };
  const safe = (await candidatesOf(kind, typed, given, env)).filter((one) => SAFE.test(one.value));
  const short = safe.map(({ value, description }) => ({
    value,
    description: cutText(clean(cutText(description, 500)), DESCRIPTION_MAX, '…'),
  }));
  return lines(short, { lead, typed }).slice(0, CANDIDATES_MAX);
}

function lines(
  candidates: readonly Candidate[],
  { lead, typed }: Pick<ParsedWords, 'lead' | 'typed'>,
): string[] {
  return candidates
    .filter(({ value }) => value.startsWith(typed))
    .map(({ value, description }) => `${lead}${value}\t${description.replaceAll(/\s+/g, ' ')}`);
}

const plain = (value: string): Candidate => ({ value, description: '' });

interface Given {
  readonly config: string | undefined;
  readonly database: string | undefined;
  readonly server: string | undefined;
  readonly cwd: string | undefined;
}

async function candidatesOf(
  kind: WordKind,
  typed: string,
  given: Given,
  env: NodeJS.ProcessEnv,
): Promise<readonly Candidate[]> {
  if (kind === 'profile') return profileCandidates(given, env);
  if (kind === 'toolset') {
    const { ALL_TOOLSETS } = await import('../../kernel/toolsets/all-toolsets.ts');
    return ALL_TOOLSETS.map(({ name }) => plain(name));
  }
  if (kind === 'zone') return ['UTC', ...Intl.supportedValuesOf('timeZone')].map(plain);
  // Ids of a server are not in the ledger of this machine.
  if (serverUrl(given, env) !== null) return [];
  const ledger = await openReadOnlyLedger(
    databaseAddressText(given.database, env, () => configuredDatabase(given.config, env)),
  );
  if (ledger === null) return [];
  try {
    return FINDERS[kind]?.(ledger, typed, CANDIDATES_MAX, workFolder(given.cwd)) ?? [];
  } finally {
    ledger.close();
  }
}

/** Imports lazily: the schemas of the configuration take longer to load than everything else. */
async function profileCandidates({ config, cwd }: Given, env: NodeJS.ProcessEnv): Promise<Candidate[]> {
  const [{ loadProfiles }, { loadConfiguration }] = await Promise.all([
    import('../setup/profiles/profiles.ts'),
    import('../setup/load-configuration.ts'),
  ]);
  const loaded = await loadConfiguration(config, env);
  const options = cwd === undefined ? {} : { cwd };
  const { profiles } = loadProfiles({ options, env, loaded, data_folder: dataFolder(env) });
  return [...profiles.values()].map(({ name, description }) => ({ value: name, description }));
}

/** Reads only this one key: checking the whole configuration takes longer than everything else. */
function configuredDatabase(named: string | undefined, env: NodeJS.ProcessEnv): string | undefined {
  const { file, explicit } = configFile(named, env);
  let text: string;
  try {
    text = new TextDecoder().decode(readFileSync(file));
  } catch (error) {
    if (explicit) throw error;
    return undefined;
  }
  const { database } = JSON.parse(text) as { database?: unknown };
  return typeof database === 'string' ? database : undefined;
}

/** Expands `~`: shells pass words as they were typed. */
function withHome(path: string | undefined): string | undefined {
  return path?.replace(
    /^(sqlite:(?:\/\/)?)?~(?=\/)/,
    (_, scheme: string | undefined) => `${scheme ?? ''}${homedir()}`,
  );
}

/** Finds candidates that start with `prefix`. A name refers first to the agent in the newest tree of `folder`. Throws when the ledger cannot be read. */
type Find = (ledger: ReadOnlyLedger, prefix: string, limit: number, folder: string) => Candidate[];

const FINDERS: Partial<Record<WordKind, Find>> = {
  agent: agents(false),
  'living-agent': agents(true),
  run: runs(false),
  'active-run': runs(true),
  job: (ledger, prefix, limit) =>
    ledger.jobs({ prefix, limit }).map(({ name, task }) => ({ value: name, description: task })),
  delivery: (ledger, prefix, limit) =>
    ledger
      .deliveries({ prefix, limit })
      .map(({ id, target, status }) => ({ value: id, description: `${target}, ${status}` })),
  approval: (ledger, prefix, limit) =>
    ledger.asks({ prefix, open: true, limit }).map(({ id, agent_name, tool, subject }) => ({
      value: id,
      description: `${agent_name}: ${tool} ${subject}`,
    })),
  'granted-rule': (ledger, prefix, limit) =>
    ledger
      .asks({ prefix, open: false, limit })
      .filter(
        ({ verdict, scope, revoked_at }) => verdict === 'allow' && scope !== 'once' && revoked_at === null,
      )
      .map(({ id, tool, granted, scope }) => ({ value: id, description: `${granted ?? tool}, ${scope}` })),
};

function agents(open: boolean): Find {
  return (ledger, prefix, limit, folder) => {
    const found = ledger.agents({ prefix, open, limit });
    const here = ledger.newestRoot(folder);
    return found.map((agent) => {
      // Completes to the name rather than the id if the prefix does not match the id and the name refers to one agent only.
      const same = found.filter(({ name }) => name === agent.name);
      const near = same.filter(({ root_id }) => root_id === here);
      const by_name =
        !agent.id.startsWith(prefix) &&
        (near.length > 0 ? near.length === 1 && near[0] === agent : same.length === 1);
      return by_name
        ? {
            value: agent.name,
            description: `${statusWord(agent)}${doingText(ledger, agent)} (${agent.id.slice(0, 8)})`,
          }
        : { value: agent.id, description: `${agent.name}, ${statusWord(agent)}${doingText(ledger, agent)}` };
    });
  };
}

/** Activity of the agent; for a root, the title of its tree. */
function doingText(ledger: ReadOnlyLedger, { id, parent_id, doing }: Agent): string {
  const title = parent_id === null ? treeTitle(ledger.first(id)) : null;
  const text = title ?? doing ?? '';
  return text === '' ? '' : `: ${text}`;
}

function runs(open: boolean): Find {
  return (ledger, prefix, limit) =>
    ledger
      .runs({ prefix, open, limit })
      .map(({ id, label, task, status }) => ({ value: id, description: `${label ?? task}, ${status}` }));
}
