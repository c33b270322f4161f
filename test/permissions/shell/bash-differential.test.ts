/** Proves that whatever bash makes of a text, the analysis either finds each command that bash runs or says that it cannot tell: texts are mutated at random and run in bash. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { CommandMatch } from '../../../src/permissions/command-match.ts';
import { MANY, mayMatch, withoutShapes } from '../../../src/permissions/shell/shell-word.ts';
import { DEEP } from '../../house/deep.ts';
import { temporaryFolder } from '../../temporary-folder.ts';
import { deleting, ordinary } from './command-forms.ts';

const TEXTS = DEEP ? 20_000 : 800;

/** What is inserted: continued lines, blanks of all kinds, and characters with a meaning. */
const continuations = ['\\\n', '\\\n', '\\\n', ' \\\n', '\\\n ', '\\\n\\\n', '\\\\\n', '\\\r\n', '\\'];
const fragments = [
  ...['\r', '\r\n', '\n', ' ', '\t', '\u00a0', '\v', '\f', '\u0085', '\u2028', '\ufeff', '\x1b', '\x7f'],
  ...[...'\\\'"#;&|`$(){}<>!=*[]^%:,-+@?0Ea'],
  ...[' #', '<<E\n', "$'", '$"', "''", '>&-', '2>&1'],
];
/** Left out: what runs other programs than bash, stops it, never ends, or writes elsewhere. */
const unfit =
  /while|until|wait|sleep|select|kill|exec|coproc|command_not|BASHOPTS|:\s*\(|~|\0|(?<!>)\/(?!dev\/null)/;
const seeds = [
  ...['git push', 'true;git push', '(git push)', 'reboot', 'git push\n', 'rm x\ngit push\n', 'a=1 rm x'],
  ...[
    'cat <<E\na\nE\nrm x',
    "cat <<'E'\na\nE\nrm x",
    'cat <<-E\n\ta\n\tE\nrm x',
    'cat <<E <<F\na\nE\nb\nF\nrm x',
  ],
  ...['case a in a) rm x;; esac', 'if true; then rm x; fi', 'x=$(cat <<E\na\nE\n); rm $x', 'echo $(rm x)'],
  ...[...deleting, ...ordinary].filter((text) => text.length < 60 && !unfit.test(text)),
];

/** Numbers that repeat with the seed. */
function numbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

function mutated(count: number, seed: number): readonly string[] {
  const below = numbers(seed);
  const one = (list: readonly string[]): string => list[below(list.length)]!;
  const texts = new Set<string>();
  while (texts.size < count) {
    let text = one(seeds);
    for (let left = 1 + below(4); left > 0; left -= 1) {
      const at = below(text.length + 1);
      const kind = below(20);
      if (kind < 11) text = text.slice(0, at) + one(continuations) + text.slice(at);
      else if (kind < 17) text = text.slice(0, at) + one(fragments) + text.slice(at);
      else if (kind < 19) text = text.slice(0, at) + text.slice(at + 1);
      else text += one([';', '\n', ' && ', '|']) + one(seeds);
    }
    if (!unfit.test(text)) texts.add(text);
  }
  return [...texts];
}

/** Runs the texts as the bash tool does, without any program; returns the words of each command that bash would have started, by text. */
async function started(texts: readonly string[]): Promise<ReadonlyMap<number, readonly string[][]>> {
  const cwd = temporaryFolder();
  const [input, output] = [join(cwd, '.in'), join(cwd, '.out')];
  writeFileSync(input, texts.map((text) => `${text}\0`).join(''));
  const driver = `exec 9>"$2"
# Bash writes line by line, and two commands of a pipe at once: a record is one line.
command_not_found_handle() { printf '%s\\0' "$N" "$#" "\${@//$'\\n'/$'\\1'}" >&9; }
PATH=/nowhere N=0
while IFS= read -r -d '' T <&8; do
  ( ulimit -t 1; eval "set --;$T" ) 8<&- </dev/null >/dev/null 2>&1
  N=$((N+1))
done 8<"$1"
printf 'end\\0' >&9`;
  const child = spawn('bash', ['-c', driver, 'bash', input, output], { cwd, stdio: 'ignore' });
  await new Promise((resolve) => child.once('exit', resolve));
  const words = readFileSync(output, 'utf8').replaceAll('\x01', '\n').split('\0');
  assert.equal(words.at(-2), 'end', 'bash came to the end of the texts');
  const found = new Map<number, string[][]>();
  for (let at = 0; at < words.length - 2; at += 2 + Number(words[at + 1])) {
    const all = found.get(Number(words[at])) ?? [];
    all.push(words.slice(at + 2, at + 2 + Number(words[at + 1])));
    found.set(Number(words[at]), all);
  }
  return found;
}

/** Whether one of the commands that were found may be the one that ran. */
function isFound(commands: readonly (readonly string[])[], ran: readonly string[]): boolean {
  const text = (words: readonly string[]) =>
    words
      .map(withoutShapes)
      .map((word) => (word === MANY ? MANY : ` ${word}`))
      .join('')
      .replaceAll('*', '?');
  return commands.some((words) => mayMatch(` ${ran.join(' ').replaceAll('*', '?')}`, text(words)));
}

test('each command that bash runs is found, or said to be hidden', { timeout: 60_000 }, async (t) => {
  const seed = DEEP ? Math.floor(Math.random() * 2 ** 32) : 29;
  const texts = mutated(TEXTS, seed);
  const runs = await started(texts);
  const missed: string[] = [];
  let compared = 0;
  for (const [at, all] of runs) {
    const { hidden, commands } = new CommandMatch(texts[at]!).analysis;
    if (hidden !== null) continue;
    compared += all.length;
    // Where a process substitution touches a word, bash makes one word of what the parser takes for two.
    for (const ran of all.filter((words) => !words.join().includes('/dev/fd/')))
      if (!isFound(commands, ran)) missed.push(JSON.stringify({ text: texts[at], ran, commands }));
  }
  t.diagnostic(`seed ${seed}: ${texts.length} texts, ${compared} commands compared`);
  assert.deepEqual(missed.slice(0, 20), []);
  assert.ok(runs.size > TEXTS / 2 && compared > TEXTS / 4, `${runs.size} ran, ${compared} compared`);
});
