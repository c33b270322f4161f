import { StringDecoder } from 'node:string_decoder';
import { setTimeout as sleep } from 'node:timers/promises';
import { childEnvironment } from './child-environment.ts';
import { runProcess } from './starting/run-process.ts';

const TIMEOUT_MS = 60_000;
const MAX_OUTPUT = 200_000;
/** Upper bound for the output of `git config --list`, which must be read completely: a setting that is cut off could start a program. */
const MAX_SETTINGS = 2_000_000;
/** Error of git while another process is creating a worktree of the repository; retried. */
const HALF_MADE = /failed to read .*worktrees/;
const TRIES = 20;
const PAUSE_MS = 50;

type Setting = readonly [key: string, value: string];

/** Settings that disable hooks, monitors, maintenance and submodules of the repository, and signing, because nobody could unlock the key. */
const QUIET: readonly Setting[] = [
  ['core.hooksPath', '/dev/null'],
  ['core.fsmonitor', 'false'],
  ['commit.gpgsign', 'false'],
  ['gc.auto', '0'],
  ['maintenance.auto', 'false'],
  ['submodule.recurse', 'false'],
];

export type GitEnd =
  | { readonly ok: true; readonly out: string }
  | { readonly ok: false; readonly error: string };

/** Runs git in one folder. */
export type Git = (...args: readonly string[]) => Promise<GitEnd>;

/** Git for commands that do not check out, add or compare files. */
export function gitIn(cwd: string): Git {
  return (...args) => run(cwd, args, QUIET, MAX_OUTPUT);
}

/**
 * Git in a worktree, with programs that the repository's settings name disabled; filters of the user's own settings stay.
 * Settings are read anew for each use, because an agent may have changed them.
 */
export async function neutralGitIn(cwd: string): Promise<Git | { readonly error: string }> {
  const listed = await run(cwd, ['config', '--list', '--show-scope', '-z'], QUIET, MAX_SETTINGS);
  if (!listed.ok) return { error: listed.error };
  if (listed.out.length >= MAX_SETTINGS) return { error: 'the settings of the repository are too large' };
  const settings = [...QUIET, ...withoutPrograms(listed.out)];
  return (...args) => run(cwd, args, settings, MAX_OUTPUT);
}

/** Returns settings that disable programs of the repository, given the list of all settings: `scope NUL key LF value NUL`. */
function withoutPrograms(list: string): readonly Setting[] {
  const own = new Map<string, string>();
  const foreign = new Set<string>();
  const parts = list.split('\0');
  for (let at = 0; at + 1 < parts.length; at += 2) {
    const entry = parts[at + 1]!;
    const end = entry.indexOf('\n');
    const key = end === -1 ? entry : entry.slice(0, end);
    if (parts[at] === 'system' || parts[at] === 'global')
      own.set(key, end === -1 ? 'true' : entry.slice(end + 1));
    else if (parts[at] !== 'command') foreign.add(key);
  }
  return [...foreign].flatMap((key): Setting[] => {
    if (/^hook\.[\s\S]+\./.test(key)) return [[`${key.slice(0, key.lastIndexOf('.'))}.enabled`, 'false']];
    if (!/^filter\.[\s\S]+\./.test(key)) return [];
    // Only keys that the repository sets: an empty `process` would disable the user's own `smudge`. Git reads an empty `required` as false.
    return [[key, own.get(key) ?? '']];
  });
}

async function run(...given: Parameters<typeof runOnce>): Promise<GitEnd> {
  for (let tries = 1; ; tries += 1) {
    const end = await runOnce(...given);
    if (end.ok || tries === TRIES || !HALF_MADE.test(end.error)) return end;
    await sleep(PAUSE_MS * Math.random());
  }
}

async function runOnce(
  cwd: string,
  args: readonly string[],
  settings: readonly Setting[],
  max_output: number,
): Promise<GitEnd> {
  let [out, problem] = ['', ''];
  const [decoder, problem_decoder] = [new StringDecoder('utf8'), new StringDecoder('utf8')];
  const end = await runProcess({
    file: 'git',
    args,
    place: cwd,
    env: { ...childEnvironment([]), ...FIXED, ...environmentOf(settings) },
    signal: new AbortController().signal,
    timeout_ms: TIMEOUT_MS,
    onOutput: (chunk) => {
      if (out.length < max_output) out += decoder.write(chunk);
    },
    onErrorOutput: (chunk) => {
      if (problem.length < MAX_OUTPUT) problem += problem_decoder.write(chunk);
    },
  });
  if (end.end === 'exited' && end.code === 0) return { ok: true, out };
  if (end.end === 'not_started')
    return { ok: false, error: `git could not be started: ${end.error.message}` };
  return { ok: false, error: problem.trim() || `git ${args[0]} failed` };
}

const FIXED = {
  GIT_TERMINAL_PROMPT: '0',
  // Git's messages are parsed.
  LC_ALL: 'C',
  // Fetching objects that a partial clone lacks would start programs that the repository's settings name.
  GIT_NO_LAZY_FETCH: '1',
  GIT_ALLOW_PROTOCOL: 'none',
};

/** Passes settings by environment variables, where a key may contain `=`; with `-c`, a key would end at the first one. */
function environmentOf(settings: readonly Setting[]): Record<string, string> {
  return Object.fromEntries([
    ['GIT_CONFIG_COUNT', String(settings.length)],
    ...settings.flatMap(([key, value], at) => [
      [`GIT_CONFIG_KEY_${at}`, key],
      [`GIT_CONFIG_VALUE_${at}`, value],
    ]),
  ]);
}
