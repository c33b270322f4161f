/**
 * Proves that a program that communicates over its standard streams is in the same sandbox as commands for as long as it runs, works inside, and is
 * stopped with all that it started. The program is a shell that executes its input line by line.
 */
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { after, beforeEach, describe, it, type TestContext } from 'node:test';
import { pathToFileURL } from 'node:url';
import { type PipedProgram, startPipedProgram } from '../../../src/processes/sandbox/piped-program.ts';
import type { Sandbox } from '../../../src/processes/sandbox/sandbox.ts';
import { eventually } from '../../tools/tool-fixture.ts';
import { NO_SANDBOX, testSandbox } from './test-sandbox.ts';

const SECRET = 'canary-9ac2';
/** A unique sleep duration for each run, by which survivors are found. */
const SECONDS = `${100_000 + process.pid}.75`;
const SHELL = 'while IFS= read -r line; do eval "$line" 2>&1; echo "=end="; done';

// Not below /tmp, which a sandbox replaces by a folder of its own.
const place = realpathSync(mkdtempSync('/var/tmp/coppice-test-'));
const [home, cwd, outside] = ['home', 'work', 'outside'].map((name) => join(place, name)) as [
  string,
  string,
  string,
];
const own_home = process.env.HOME;

function put(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

interface Shell {
  readonly program: PipedProgram;
  /** Executes a line and returns what it printed. */
  run(line: string): Promise<string>;
}

async function shell(
  test: TestContext,
  sandbox: Sandbox | null,
  folder = cwd,
  script = SHELL,
  limits?: { readonly memory_mb?: number; readonly processes?: number },
): Promise<Shell> {
  const env = { PATH: process.env.PATH ?? '', HOME: home, OUTSIDE: outside, S: SECONDS };
  const program = await startPipedProgram({
    ...{ file: '/bin/sh', args: ['-c', script], env, cwd: folder, sandbox, limits },
  });
  test.after(() => program.stop('the test is over'));
  let said = '';
  program.stdout.on('data', (chunk: Buffer) => {
    said += chunk;
  });
  return {
    program,
    run: async (line) => {
      said = '';
      program.stdin.write(`${line}\n`);
      assert.ok(await eventually(() => said.endsWith('=end=\n')), said);
      return said.slice(0, -'=end=\n'.length);
    },
  };
}

function sleepers(): string[] {
  return readdirSync('/proc').filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes(SECONDS);
    } catch {
      return false;
    }
  });
}

beforeEach(() => {
  for (const folder of [home, cwd, outside]) rmSync(folder, { recursive: true, force: true });
  put(join(home, '.ssh/id_rsa'), SECRET);
  put(join(outside, 'file'), 'theirs');
  put(join(cwd, 'inside'), 'mine');
  process.env.HOME = home;
});
after(() => {
  process.env.HOME = own_home;
  rmSync(place, { recursive: true, force: true });
});

describe('a piped program in the sandbox', { skip: NO_SANDBOX }, () => {
  it('works in its folder, for as long as it runs, with a /tmp of its own that goes with it', async (test) => {
    const { program, run } = await shell(test, testSandbox());
    assert.equal(await run('pwd; cat inside; echo new > file; echo kept > /tmp/note'), `${cwd}\nmine`);
    assert.equal(readFileSync(join(cwd, 'file'), 'utf8'), 'new\n');
    assert.equal(await run('cat /tmp/note; echo $TMPDIR'), 'kept\n/tmp\n');
    const other = await shell(test, testSandbox());
    assert.match(await other.run('cat /tmp/note'), /No such file/);
    program.stdin.end();
    assert.equal(await program.gone, 'ended with exit code 0');
  });

  it('writes nothing outside, reads no secret, changes nothing that governs, and has no network', async (test) => {
    execFileSync('git', ['init', '--quiet', cwd]);
    const config = readFileSync(join(cwd, '.git/config'), 'utf8');
    const server: Server = createServer((_, answer) => answer.end(SECRET)).listen(0, '127.0.0.1');
    test.after(() => server.close());
    await new Promise((resolve) => server.once('listening', resolve));
    const { port } = server.address() as AddressInfo;
    const { run } = await shell(test, testSandbox());
    await run('echo x > "$OUTSIDE/new"; echo x > "$OUTSIDE/file"; ln -s ../outside d; echo x > d/file');
    await run(
      'mkdir .coppice && echo x > .coppice/config.json; mkdir .git/worktrees/x; echo x > .git/config',
    );
    await run('echo x > .git/hooks/post-commit; echo x > .git/config.worktree; rm -rf .git/hooks');
    assert.deepEqual(readdirSync(outside), ['file']);
    assert.equal(readFileSync(join(outside, 'file'), 'utf8'), 'theirs');
    assert.equal(readFileSync(join(cwd, '.git/config'), 'utf8'), config);
    assert.deepEqual(readdirSync(join(cwd, '.git/worktrees')), []);
    assert.equal(existsSync(join(cwd, '.git/hooks/post-commit')), false);
    const read = await run(
      `cat ~/.ssh/id_rsa; curl -s -m 2 --noproxy "*" http://127.0.0.1:${port}/; echo done`,
    );
    assert.doesNotMatch(read, new RegExp(SECRET));
    assert.match(read, /done/);
    const allowed = await shell(test, testSandbox({ hosts: [`127.0.0.1:${port}`] }));
    const ask = (host: string) => `curl -s -m 5 --noproxy "" http://${host}:${port}/`;
    assert.match(await allowed.run(ask('127.0.0.1')), new RegExp(SECRET));
    assert.match(await allowed.run(ask('127.0.0.2')), /the sandbox does not allow/);
  });

  it('is stopped with all that it started, leaves nothing in its folder, and takes its daemons with it at its end', async (test) => {
    const daemon =
      '(trap "" TERM HUP; setsid env -i /bin/sleep $S & setsid env -i /bin/sleep $S &) ; echo on';
    const one = await shell(test, testSandbox());
    assert.equal(await one.run(daemon), 'on\n');
    assert.ok(await eventually(() => sleepers().length === 2));
    one.program.stdin.end();
    await one.program.gone;
    assert.deepEqual(sleepers(), []);
    const two = await shell(test, testSandbox(), cwd, `trap "" TERM; ${SHELL}; while :; do sleep 1; done`);
    assert.equal(await two.run(daemon), 'on\n');
    await two.program.stop('of the test');
    assert.match(await two.program.gone, /\(of the test\)/);
    assert.deepEqual(sleepers(), []);
    assert.deepEqual(readdirSync(cwd), ['inside']);
  });

  it('ends with this program when that is killed, and so do its daemons', async () => {
    const module = (name: string) =>
      JSON.stringify(pathToFileURL(join(import.meta.dirname, '../../../src/processes/sandbox', name)).href);
    const settings = JSON.stringify(testSandbox().settings);
    const args = ['-c', 'setsid env -i /bin/sleep $S & echo on; exec sleep $S'];
    const env = { PATH: process.env.PATH ?? '', S: SECONDS };
    put(
      join(outside, 'start.mjs'),
      `import { startPipedProgram } from ${module('piped-program.ts')};
import { Sandbox } from ${module('sandbox.ts')};
const request = ${JSON.stringify({ file: '/bin/sh', args, env, cwd })};
const { stdout } = await startPipedProgram({ ...request, sandbox: new Sandbox(${settings}) });
stdout.pipe(process.stdout);`,
    );
    const runtime = spawn(process.execPath, [join(outside, 'start.mjs')], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await new Promise((resolve) => runtime.stdout.once('data', resolve));
    assert.ok(await eventually(() => sleepers().length === 2));
    runtime.kill('SIGKILL');
    assert.ok(await eventually(() => sleepers().length === 0));
  });

  it('leaves no /tmp behind, also when this program exits at once', async () => {
    const module = (name: string) =>
      JSON.stringify(pathToFileURL(join(import.meta.dirname, '../../../src/processes/sandbox', name)).href);
    put(
      join(outside, 'exit.mjs'),
      `import { startPipedProgram } from ${module('piped-program.ts')};
import { Sandbox } from ${module('sandbox.ts')};
const request = { file: '/bin/sh', args: ['-c', 'echo x > /tmp/y; cat'], env: { PATH: '/bin' }, cwd: ${JSON.stringify(cwd)} };
const sandbox = new Sandbox(${JSON.stringify(testSandbox().settings)});
const [one] = [await startPipedProgram({ ...request, sandbox }), await startPipedProgram({ ...request, sandbox })];
await one.stop('of the test');
process.exit();`,
    );
    execFileSync(process.execPath, [join(outside, 'exit.mjs')], { env: { ...process.env, TMPDIR: outside } });
    assert.deepEqual(readdirSync(outside).sort(), ['exit.mjs', 'file']);
  });

  it('gets its signal first, and may end by itself', async (test) => {
    const { program } = await shell(
      test,
      testSandbox(),
      cwd,
      'trap "echo bye > bye; exit 3" TERM; while :; do sleep 0.05; done',
    );
    await program.stop('of the test');
    assert.match(await program.gone, /^ended with exit code 3 \(of the test\)/);
    const { program: polite } = await shell(test, testSandbox(), cwd, 'read line; exit 0');
    await polite.stop('it sent too much');
    assert.equal(await polite.gone, 'was ended: it sent too much');
    assert.equal(readFileSync(join(cwd, 'bye'), 'utf8'), 'bye\n');
  });

  it('sees no secret that is made or replaced while it runs', async (test) => {
    put(join(home, '.netrc'), 'old');
    put(join(home, '.gitconfig'), '[user]\nname = Somebody\n');
    put(join(home, '.cargo/config.toml'), 'seen');
    const { run } = await shell(test, testSandbox());
    assert.match(
      await run('cat ~/.cargo/config.toml; git config user.name; cat ~/.netrc'),
      /seenSomebody\n.*No such/s,
    );
    put(join(home, 'new'), SECRET);
    renameSync(join(home, 'new'), join(home, '.netrc'));
    const later = [
      '.aws/credentials',
      '.config/gh/hosts.yml',
      '.cargo/credentials.toml',
      '.nobody/knows',
      'x',
    ];
    for (const path of later) put(join(home, path), SECRET);
    const all = ['.netrc', ...later].map((path) => `~/${path}`).join(' ');
    assert.doesNotMatch(await run(`cat ${all}; grep -rs canary ~`), new RegExp(SECRET));
    assert.equal(
      await run('(echo x > ~/mine; echo x > ~/.cargo/mine; ls ~/mine ~/.cargo/mine) 2>/dev/null'),
      '',
    );
  });

  it('ends when something hidden outside of the home folders is made or replaced', async (test) => {
    const ledger = join(place, 'data/ledger.db');
    put(ledger, SECRET);
    const sandbox = testSandbox({ hidden: ['', '-wal'].map((end) => ledger + end) });
    const one = await shell(test, sandbox);
    assert.doesNotMatch(await one.run(`cat ${ledger}`), new RegExp(SECRET));
    put(`${ledger}-wal`, SECRET);
    assert.match(await one.program.gone, /its sandbox was no longer intact: .*ledger\.db-wal was replaced/);
    const two = await shell(test, sandbox);
    put(join(place, 'data/new'), SECRET);
    renameSync(join(place, 'data/new'), ledger);
    assert.match(await two.program.gone, /its sandbox was no longer intact: .*ledger\.db was replaced/);
  });

  it('when it ends, what it made that runs by itself is set aside, and what it missed is named', async (test) => {
    const { program, run } = await shell(test, testSandbox());
    put(join(home, 'servers/one/index.js'), 'seen');
    await run('mkdir .vscode; echo x > .vscode/tasks.json; cat ~/servers/one/index.js >&2');
    program.stdin.end();
    const said = await program.gone;
    assert.match(said, /\.vscode\/tasks\.json was set aside as .*tasks\.json\.set-aside/);
    assert.deepEqual(readdirSync(join(cwd, '.vscode')), ['tasks.json.set-aside']);
  });

  it('sees what people named to start it: its arguments, with the package around them', async (test) => {
    put(join(home, 'servers/one/package.json'), '{}');
    put(
      join(home, 'servers/one/dist/index.sh'),
      'cat ../servers/one/lib.txt "$HOME/servers/one/lib.txt"; echo $0 >&2; cat ~/servers/two',
    );
    put(join(home, 'servers/one/lib.txt'), 'library');
    put(join(home, 'servers/two'), SECRET);
    const program = await startPipedProgram({
      ...{ file: '/bin/sh', args: [join(home, 'servers/one/dist/index.sh')], cwd, sandbox: testSandbox() },
      env: { PATH: process.env.PATH ?? '', HOME: home },
    });
    test.after(() => program.stop('the test is over'));
    let said = '';
    program.stdout.on('data', (chunk: Buffer) => {
      said += chunk;
    });
    const ending = await program.gone;
    assert.equal(said, 'library');
    assert.doesNotMatch(ending, /does not show .*servers\/one/);
    assert.match(ending, /the sandbox does not show .*servers\/two\. If the user wants that: "sandbox.read"/);
  });

  it('ends when what its sandbox stands on is replaced from outside, and goes on when worktrees come and go', async (test) => {
    const git = (...args: string[]) =>
      execFileSync('git', ['-C', cwd, '-c', 'user.name=A', '-c', 'user.email=a@b', ...args], {
        stdio: 'pipe',
      });
    git('init', '--quiet');
    git('add', '--all');
    git('commit', '--quiet', '--message', 'first');
    const { program, run } = await shell(test, testSandbox());
    git('worktree', 'add', '--quiet', join(place, 'tree'));
    await run(
      'for f in .git/worktrees/tree/*; do echo x > $f; done; rm -r .git/worktrees/tree; echo x > .git/worktrees/y',
    );
    assert.match(git('worktree', 'list').toString(), /tree/);
    await run('echo mine > mine; git add mine; git -c user.name=A -c user.email=a@b commit -qm second');
    assert.match(git('log', '--format=%s').toString(), /^second\nfirst/);
    git('config', 'user.name', 'Somebody');
    assert.match(await program.gone, /its sandbox was no longer intact: .*\.git\/config was replaced/);
  });

  it('two folders have two sandboxes', async (test) => {
    const other = join(place, 'other');
    put(join(other, 'inside'), 'theirs');
    const [one, two] = [await shell(test, testSandbox()), await shell(test, testSandbox(), other)];
    await one.run(`echo x > ${other}/inside`);
    await two.run(`echo x > ${cwd}/inside`);
    await two.run('echo yours > inside');
    assert.equal(readFileSync(join(cwd, 'inside'), 'utf8'), 'mine');
    assert.equal(readFileSync(join(other, 'inside'), 'utf8'), 'yours\n');
  });
});

for (const [where, skip] of [
  ['in the sandbox', NO_SANDBOX],
  ['without a sandbox', process.platform !== 'linux' && 'there is no /proc'],
] as const)
  describe(`what it takes ${where}`, { skip }, () => {
    const sandbox = () => (where === 'without a sandbox' ? null : testSandbox());
    const cases = {
      memory_mb: `perl -e 'push @a, "x" x 16_000_000 for 1..60; sleep 30' ${SECONDS} & wait`,
      processes: `for i in $(seq 60); do sleep ${SECONDS} & done; wait`,
    };
    for (const [limit, bomb] of Object.entries(cases))
      it(`${limit}: it is stopped with all that it started, and the reason names the key`, async (test) => {
        const { program, run } = await shell(test, sandbox(), cwd, SHELL, { memory_mb: 256, processes: 50 });
        assert.equal(await run('echo works'), 'works\n');
        program.stdin.write(`${bomb}\n`);
        const why = await program.gone;
        assert.match(why, /^was ended by SIG(TERM|KILL) \(it used \d+ .*; its limit is (256 MB|50): /);
        assert.ok(why.includes(`: raise "limits.${limit}" of its entry in the configuration`), why);
        assert.ok(await eventually(() => sleepers().length === 0));
      });
    it('what stays below goes on', async (test) => {
      const { run } = await shell(test, sandbox(), cwd, SHELL, { memory_mb: 256, processes: 50 });
      assert.equal(await run(`perl -e '$x = "x" x 50_000_000; sleep 2'; echo works`), 'works\n');
    });
  });

it('without a sandbox it has the rights of the user, and is stopped with all that it started', async (test) => {
  const { program, run } = await shell(test, null);
  assert.equal(await run('cat ~/.ssh/id_rsa; echo x > "$OUTSIDE/new"'), SECRET);
  assert.equal(existsSync(join(outside, 'new')), true);
  await run('setsid /bin/sleep $S & sleep 0.1');
  assert.equal(sleepers().length, 1);
  await program.stop('of the test');
  assert.ok(await eventually(() => sleepers().length === 0));
});

describe('what cannot be started', () => {
  const start = (file: string, sandbox: Sandbox | null, folder = cwd) =>
    startPipedProgram({ file, args: [], env: { PATH: '/usr/bin:/bin' }, cwd: folder, sandbox });

  it('says why, with a sandbox and without', async () => {
    put(join(cwd, 'locked'), '');
    const both = NO_SANDBOX === false ? [null, testSandbox()] : [null];
    for (const sandbox of both) {
      await assert.rejects(start('no-such-program', sandbox), {
        message: 'could not be started: there is no command "no-such-program"',
      });
      await assert.rejects(
        start(join(cwd, 'locked'), sandbox),
        /could not be started: no permission to execute ".*locked"/,
      );
      await assert.rejects(
        start('true', sandbox, join(cwd, 'gone')),
        /could not be started: the folder .* is gone/,
      );
    }
  });

  it('ends of its own accord if it no longer read when it was stopped, though its end was not heard of yet', async (test) => {
    const end = join(outside, 'end');
    const script = 'exec <&-; echo deaf; until [ -e "$OUTSIDE/end" ]; do sleep 0.02; done; exit 7';
    const { program } = await shell(test, null, cwd, script);
    await new Promise((resolve) => program.stdout.once('data', resolve));
    program.stdin.write('hello');
    assert.ok(await eventually(() => program.stdin.errored !== null));
    writeFileSync(end, '');
    execFileSync('sleep', ['0.5']);
    await program.stop('it was closed');
    assert.equal(await program.gone, 'ended with exit code 7');
  });

  it('never starts without the sandbox that was asked for', async () => {
    const path = process.env.PATH;
    process.env.PATH = outside;
    try {
      await assert.rejects(
        start('true', testSandbox()),
        /could not be started: the sandbox cannot start: bubblewrap/,
      );
    } finally {
      process.env.PATH = path;
    }
  });
});
