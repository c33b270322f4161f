// Proves that the output of `coppice completion` completes this program in the real shells, with nothing else loaded: every existing command, flag
// and choice, files, and the ids and names of the ledger.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import type { Argument, Command, Option } from 'commander';
import type { Shell } from '../../../src/cli/completion/shell-scripts.ts';
import { argumentPlace, optionPlace, type Place } from '../../../src/cli/completion/word-kind.ts';
import { createProgram, SHELLS } from '../../../src/cli/program.ts';
import { DEEP } from '../../house/deep.ts';
import { MAIN } from '../../house/program.ts';
import { openPty } from '../../tui/terminal/pty.ts';
import type { Home } from '../run-cli.ts';
import { homeWithIds, IDS } from './completion-home.ts';

interface Shape {
  readonly path: string;
  readonly commands: readonly string[];
  readonly flags: readonly Option[];
  readonly places: readonly Argument[];
}

let home: Home;
let env: NodeJS.ProcessEnv;
const shapes = commandShapes(createProgram('0').command);

before(async () => {
  home = await homeWithIds();
  const bin = join(home.folder, 'bin');
  mkdirSync(bin);
  writeFileSync(join(bin, 'coppice'), `#!/bin/sh\nexec '${process.execPath}' '${MAIN}' "$@"\n`);
  chmodSync(join(bin, 'coppice'), 0o755);
  env = { ...home.env, PATH: `${bin}:${process.env.PATH}` };
  for (const shell of SHELLS)
    writeFileSync(join(home.folder, `coppice.${shell}`), (await home.run(['completion', shell])).stdout);
  mkdirSync(join(home.work, 'sub folder'));
  writeFileSync(join(home.work, 'settings one.json'), '{}');
});

const has = (shell: Shell): boolean => spawnSync(shell, ['-c', 'exit 0']).status === 0;
const missing = (shell: Shell): string | false => (has(shell) ? false : `there is no ${shell} here`);
const script = (shell: Shell): string => join(home.folder, `coppice.${shell}`);

function shellRun(shell: Shell, args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync(shell, args, { cwd: home.work, env, encoding: 'utf8' });
  assert.equal(stderr, '');
  assert.equal(status, 0, stdout);
  return stdout;
}

/** Splits a line as bash does for completion: at blanks, and also at = and :. */
function bashWords(line: string): string[] {
  const words = line.match(/[=:]+|[^\s=:]+/g) ?? [];
  return /\s$/.test(line) ? [...words, ''] : words;
}

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** Returns the completions that bash gets for each line. */
function bashAll(lines: readonly string[], type = 9): string[][] {
  const calls = lines.map((line) => {
    const words = bashWords(line);
    return `COMP_LINE=${quoted(line)} COMP_POINT=${line.length} COMP_TYPE=${type} COMP_CWORD=${words.length - 1}
COMP_WORDS=(${words.map(quoted).join(' ')}); _coppice coppice
printf '%s\\n' "\${COMPREPLY[@]}"; printf '\\0'`;
  });
  // `-u` reveals uses of unset variables.
  const program = `set -u; source ${quoted(script('bash'))}\n${calls.join('\n')}`;
  const out = shellRun('bash', ['--norc', '--noprofile', '-c', program]);
  return out
    .split('\0')
    .slice(0, -1)
    .map((part) => part.split('\n').filter((one) => one !== ''));
}

/** Within single quotes, fish knows only these two escapes. */
const fishQuoted = (text: string): string => `'${text.replaceAll(/[\\']/g, '\\$&')}'`;

const fishAll = (lines: readonly string[]): string[][] =>
  lines.map((line) =>
    shellRun('fish', ['--no-config', '-c', `source ${script('fish')}; complete -C ${fishQuoted(line)}`])
      .split('\n')
      .filter((one) => one !== '')
      .map((one) => one.split('\t')[0] ?? ''),
  );

const lineOf = (path: string, typed: string): string => `coppice ${path === '' ? '' : `${path} `}${typed}`;

/** Each command's subcommands and flags; unless `DEEP`, only for every tenth command, since each line costs a start of the program. */
function whatThereIs(): { readonly line: string; readonly words: readonly string[] }[] {
  const asked = DEEP ? shapes : shapes.filter((_, index) => index % 10 === 0);
  return asked.flatMap(({ path, commands, flags }) => [
    ...(commands.length > 0 ? [{ line: lineOf(path, ''), words: commands }] : []),
    {
      line: lineOf(path, '--'),
      words: flags.flatMap(({ long }) => long ?? []),
    },
  ]);
}

/** Lines that complete the same in every shell, with their completions. */
const SAME: readonly (readonly [line: string, words: readonly string[]])[] = [
  ['coppice ap', ['approvals']],
  ['coppice run --thinking ', ['off', 'low', 'medium', 'high']],
  ['coppice run --thinking m', ['medium']],
  ['coppice --model some/model approvals al', ['allow']],
  ['coppice --json approvals --debug ', ['list', 'show', 'allow', 'deny', 'rules', 'help']],
  ['coppice help app', ['approvals']],
  ['coppice help cron ad', ['add']],
  ['coppice help ps ', []],
  ['coppice completion ', ['bash', 'zsh', 'fish']],
  ['coppice run --model ', []],
  ['coppice run -- --', []],
  ['coppice run ', []],
  ['coppice show ', [IDS.runner, IDS.evil, IDS.reader, IDS.root, IDS.dead]],
  ['coppice show 2222', [IDS.reader, IDS.dead]],
  ['coppice show file', ['file-reader']],
  ['coppice show $', []],
  ['coppice kill 2222', [IDS.reader]],
  ['coppice wait 1111 2222', [IDS.reader]],
  ['coppice show 2222 2222', []],
  ['coppice ps --tree 1', [IDS.root]],
  ['coppice subagent cancel ', [IDS.run]],
  ['coppice approvals allow --agent ', [IDS.ask]],
  ['coppice approvals deny --say no 6', [IDS.ask]],
  ['coppice run --profile ', ['explore', 'work']],
  ['coppice run --toolset f', ['fanout']],
  ['coppice --database postgres://127.0.0.1:1/x show ', []],
  ['coppice show --database nowhere.db ', []],
];

describe('the scripts', () => {
  for (const shell of SHELLS)
    it(`for ${shell}: correct as ${shell} reads it`, { skip: missing(shell) }, () => {
      shellRun(shell, ['-n', script(shell)]);
    });

  it('need no configuration; a shell that is none is refused', async () => {
    home.configure('{"oops"');
    const result = await home.run(['completion', 'bash']);
    home.configure({});
    assert.deepEqual([result.code, result.stderr], [0, '']);
    assert.equal(result.stdout, readFileSync(script('bash'), 'utf8'));
    const refused = await home.run(['completion', 'tcsh']);
    assert.equal(refused.code, 2);
    assert.match(refused.stderr, /Allowed choices are bash, zsh, fish/);
  });

  it('the kind of every value that a command takes is known', () => {
    // A new placeholder belongs in word-kind.ts, or here if nothing can complete it.
    const free = [
      ...[
        '--model',
        '--timeout',
        '--allow',
        '--deny',
        '--name',
        '--limit',
        '--tail',
        '--say',
        '--server',
        '--header-env',
        '--host',
        '--sandbox',
        '--writable',
        '--keep',
        '--as',
        '--max-wait',
        '--value',
      ],
      ...[
        '--cron',
        '--days',
        '--since',
        '--every',
        '--at',
        '--task',
        '--deliver',
        '--drain',
        '--env',
        '--env-allow',
        '--rule',
        '--label',
        '--labels',
        '--concurrency',
        '--older-than',
        '--listen',
        '--args',
        '--calls',
        '--fresh',
        '--phase',
        '--script',
        '--workflow',
      ],
      ...['--to', '--edit', '--result', 'search words'],
      ...['--times', '--at-once', '--check', '--judge', '--judge-model', '--again'],
      ...['run prompt', 'send text', 'budget amounts', 'cron add name', 'worker drain worker'],
      'approvals allow answer',
      ...['mcp add name', 'mcp add command', 'mcp login name', 'mcp test names'],
      ...['workflow check workflow', 'workflow run workflow', 'workflow save name', 'workflow send text'],
    ];
    const isFree = (place: Place | null) => place?.kind === 'text' && place.choices === null;
    const unknown = shapes.flatMap(({ path, flags, places }) => [
      ...flags.filter((flag) => isFree(optionPlace(flag))).map(({ long, short }) => long ?? short ?? ''),
      ...places
        .filter((place) => isFree(argumentPlace(place, path)))
        .map((place) => `${path} ${place.name()}`),
    ]);
    assert.deepEqual([...new Set(unknown)].sort(), free.sort());
  });
});

/** All commands that the help shows, coppice itself first: names of the commands below each, its flags and its arguments. */
function commandShapes(command: Command, path = ''): readonly Shape[] {
  const help = command.createHelp();
  const commands = help.visibleCommands(command).map((one) => one.name());
  const below = command.commands.filter((one) => one.name() !== 'help');
  const helps = (one: Command, at: string): readonly Shape[] => {
    const helped = one.commands.filter((each) => each.name() !== 'help');
    if (helped.length === 0) return [];
    return [
      { path: at, commands: helped.map((each) => each.name()), flags: [], places: [] },
      ...helped.flatMap((each) => helps(each, `${at} ${each.name()}`)),
    ];
  };
  return [
    { path, commands, flags: help.visibleOptions(command), places: command.registeredArguments },
    ...below.flatMap((one) => commandShapes(one, `${path} ${one.name()}`.trim())),
    ...(commands.includes('help') ? helps(command, `${path} help`.trim()) : []),
  ];
}

describe('in bash', { skip: missing('bash') }, () => {
  it('every command and every flag', () => {
    const all = whatThereIs();
    assert.ok(all.length > (DEEP ? 20 : 2));
    assert.deepEqual(
      bashAll(all.map(({ line }) => line)),
      all.map(({ words }) => words),
    );
  });

  it('choices, ids and names, each where it belongs', () => {
    const found = bashAll(SAME.map(([line]) => line));
    for (const [index, [line, words]] of SAME.entries()) assert.deepEqual(found[index], words, line);
  });

  it('after = and : what bash will insert, not the whole word', () => {
    const lines = ['coppice run --thinking=me', 'coppice run --thinking=', 'coppice --database sqlite:set'];
    assert.deepEqual(bashAll([...lines, 'coppice --config=set', 'coppice ps --tree=11']), [
      ['medium'],
      ['off', 'low', 'medium', 'high'],
      ['settings one.json'],
      ['settings one.json'],
      [IDS.root],
    ]);
  });

  it('files and folders, with blanks in their names', () => {
    const [files, ...folders] = bashAll(['coppice --config s', 'coppice --cwd s', 'coppice trust s']);
    assert.deepEqual(files?.toSorted(), ['settings one.json', 'sub folder']);
    assert.deepEqual(folders, [['sub folder'], ['sub folder']]);
  });

  it('a list that is shown has descriptions, and what a model named an agent does nothing', () => {
    const [agents, one] = bashAll(['coppice show ', 'coppice show 11'], 63);
    assert.deepEqual(agents?.slice(1, 3), [
      `${IDS.evil}  ($(touch pwned)\`touch pwned\`;x, running)`,
      `${IDS.reader}  (file-reader, running)`,
    ]);
    assert.deepEqual(one, [IDS.root]);
    assert.equal(existsSync(join(home.work, 'pwned')), false);
  });

  it('typed at a prompt', async () => {
    const pty = openPty('bash', ['--norc', '--noprofile', '-i'], {
      env: { ...env, PS1: '> ' },
      cwd: home.work,
    });
    try {
      pty.send(`source ${script('bash')}; clear; echo ready; bind 'set bell-style none'\r`);
      await pty.until(() => pty.screen()[0] === 'ready');
      pty.send('coppice run --thinking=me\t');
      await pty.until('coppice run --thinking=medium');
      pty.send('\x15coppice approvals deny 6\t');
      await pty.until(`deny ${IDS.ask}`);
    } finally {
      await pty.end();
    }
  });
});

describe('in fish', { skip: missing('fish') }, () => {
  it('every command and every flag', () => {
    const all = whatThereIs();
    const sorted = (lists: readonly (readonly string[])[]) => lists.map((list) => [...list].sort());
    assert.deepEqual(sorted(fishAll(all.map(({ line }) => line))), sorted(all.map(({ words }) => words)));
  });

  it('choices, ids and names, each where it belongs', () => {
    const found = fishAll(SAME.map(([line]) => line.replace('$', '\\$')));
    for (const [index, [line, words]] of SAME.entries()) assert.deepEqual(found[index], words, line);
  });

  it('values after =, files and folders', () => {
    assert.deepEqual(fishAll(['coppice run --thinking=me', 'coppice ps --tree=11', 'coppice --cwd s']), [
      ['--thinking=medium'],
      [`--tree=${IDS.root}`],
      ['sub folder/'],
    ]);
    assert.deepEqual(fishAll(['coppice --config=set']), [['--config=settings one.json']]);
  });
});

describe('in zsh', { skip: missing('zsh') }, () => {
  it('typed at a prompt', async () => {
    const pty = openPty('zsh', ['-f', '-i'], { env, cwd: home.work, columns: 120, rows: 60 });
    const typed = async (line: string, becomes: string) => {
      pty.send(`\x15${line}\t`);
      await pty.until(becomes);
    };
    try {
      pty.send(`autoload -Uz compinit; compinit -D -u; source ${script('zsh')}; clear; echo ready\r`);
      await pty.until(() => pty.screen()[0] === 'ready');
      await typed('coppice appr', 'coppice approvals');
      await typed('coppice --json approvals al', 'approvals allow');
      await typed('coppice run --no-w', 'run --no-wait');
      await typed('coppice run --thinking=me', '--thinking=medium');
      await typed('coppice approvals deny 6', `deny ${IDS.ask}`);
      await typed('coppice ps --tree=11', `--tree=${IDS.root}`);
      await typed('coppice --config set', '--config settings\\ one.json');
      await typed('coppice trust s', 'trust sub\\ folder/');
      await typed('coppice kill ', 'file-reader, running');
      assert.equal(existsSync(join(home.work, 'pwned')), false);
    } finally {
      await pty.end();
    }
  });
});
