/**
 * Proves that programs in the sandbox reach nothing outside through what a read-only mount does not close: named pipes, and sockets that need no connection.
 * Each attack reaches its target without the sandbox. And that ordinary software, which uses pipes, pairs of sockets and renames, goes on working.
 */
// Own process: one test puts another bubblewrap on the PATH.
import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { assembled, BINUTILS } from '../../../scripts/landlock.ts';
import { landlockProgram } from '../../../src/processes/sandbox/landlock-program.ts';
import { startPipedProgram } from '../../../src/processes/sandbox/piped-program.ts';
import { sandboxGap } from '../../../src/processes/sandbox/sandbox-support.ts';
import type { Tool } from '../../../src/records/tool.ts';
import { createBashTool } from '../../../src/tools/bash.ts';
import { call, eventually, makeWorkspace } from '../../tools/tool-fixture.ts';
import { NO_SANDBOX, testSandbox } from './test-sandbox.ts';
import { bubblewrapWithoutLandlock } from './without-landlock.ts';

const perl = (code: string) => `perl -MSocket -e '${code}'`;
const send = (type: string) =>
  perl(
    `socketpair(A, B, AF_UNIX, ${type}, 0) and send(A, "reached", 0, sockaddr_un("$ENV{OUTSIDE}/socket")) or die "$!"`,
  );

const SOCKETS = {
  'a pair of datagram sockets': send('SOCK_DGRAM'),
  'a pair with flags': send('SOCK_DGRAM | 0x80800'),
  'a raw pair, which is a datagram pair': send('SOCK_RAW'),
  'a pair that is connected anew': perl(
    'socketpair(A, B, AF_UNIX, SOCK_DGRAM, 0) and connect(B, sockaddr_un("$ENV{OUTSIDE}/socket")) and send(B, "reached", 0) or die',
  ),
  'a datagram socket': perl(
    'socket(A, AF_UNIX, SOCK_DGRAM, 0) and send(A, "reached", 0, sockaddr_un("$ENV{OUTSIDE}/socket")) or die',
  ),
} as const;
const PIPES = {
  'writing to a named pipe': 'echo reached > "$OUTSIDE/pipe"',
  'reading from it, too': 'exec 3<> "$OUTSIDE/pipe"; echo reached >&3',
  'through a link': 'ln -sf "$OUTSIDE/pipe" link; echo reached >> link',
  'by the root of a process': 'echo reached > "/proc/self/root$OUTSIDE/pipe"',
  'by a descriptor for reading': 'exec 3< "$OUTSIDE/pipe"; echo reached > /proc/self/fd/3',
  'under another name': 'ln "$OUTSIDE/pipe" own && echo reached > own',
} as const;

// Not below /tmp, which a sandbox replaces by a folder of its own.
const place = realpathSync(mkdtempSync('/var/tmp/coppice-test-'));
const [cwd, outside, bin] = ['work', 'outside', 'bin'].map((name) => join(place, name)) as [
  string,
  string,
  string,
];
const { OUTSIDE, PATH } = process.env;
let listener: ChildProcess;
let heard = '';

before(async () => {
  for (const folder of [cwd, outside, bin]) mkdirSync(folder);
  process.env.OUTSIDE = outside;
  listener = spawn('/usr/bin/perl', [
    ...['-MSocket', '-MPOSIX', '-MFcntl', '-e'],
    `$| = 1; socket(S, AF_UNIX, SOCK_DGRAM, 0); bind(S, sockaddr_un("${outside}/socket")) or die;
    mkfifo("${outside}/pipe", 0666); sysopen(P, "${outside}/pipe", O_RDWR) or die; chmod 0666, "${outside}/socket", "${outside}/pipe"; print "ready";
    while (1) { my $r = ""; vec($r, fileno(P), 1) = vec($r, fileno(S), 1) = 1; select($r, undef, undef, undef);
      if (vec($r, fileno(P), 1)) { sysread(P, $_, 100); print } if (vec($r, fileno(S), 1)) { recv(S, $_, 100, 0); print } }`,
  ]);
  listener.stdout?.on('data', (chunk: Buffer) => {
    heard += chunk;
  });
  assert.ok(await eventually(() => heard === 'ready'));
});
after(() => {
  listener.kill('SIGKILL');
  rmSync(place, { recursive: true, force: true });
  Object.assign(process.env, { PATH });
  if (OUTSIDE === undefined) delete process.env.OUTSIDE;
});

const context = { ...makeWorkspace(), cwd, env_allow: ['OUTSIDE'] };
function empty(): void {
  rmSync(cwd, { recursive: true });
  mkdirSync(cwd);
}
/** In an empty folder. */
async function run(command: string, sandbox: ReturnType<typeof testSandbox> | null): Promise<string> {
  empty();
  heard = '';
  return (await call(createBashTool(sandbox) as Tool, { command, timeout: 20 }, context)).output;
}
/** What has arrived outside; whatever was sent before has, once this is answered. */
async function arrived(): Promise<string> {
  spawnSync('sh', ['-c', `echo end > ${outside}/pipe`]);
  assert.ok(await eventually(() => heard.includes('end\n')), heard);
  return heard.replace('end\n', '');
}
/** What has arrived outside once anything has: a socket and the pipe have no common order. */
async function reached(): Promise<string> {
  assert.ok(await eventually(() => heard.includes('reached')), heard);
  return arrived();
}

describe('in the sandbox', { skip: NO_SANDBOX }, async () => {
  const gap = NO_SANDBOX ? null : await sandboxGap();
  const attacks = { ...SOCKETS, ...(gap === null ? PIPES : {}) };
  for (const [how, command] of Object.entries(attacks))
    it(`nothing outside is reached: ${how}`, async () => {
      await run(command, null);
      assert.match(await reached(), /^reached/, 'it does harm without the sandbox');
      for (const sandbox of [testSandbox(), testSandbox({ mode: 'strict', read: [outside] })]) {
        await run(command, sandbox);
        assert.equal(await arrived(), '');
      }
    });
  if (gap !== null) it('nothing outside is reached: by named pipes', { skip: gap }, () => {});

  it('nothing outside is reached by a program that stays', async () => {
    empty();
    const { PATH = '' } = process.env;
    const lines = Object.values(attacks).map((command) => `(${command})`);
    const program = await startPipedProgram({
      ...{ file: 'bash', args: ['-c', lines.join('\n')], env: { PATH, OUTSIDE: outside }, cwd },
      sandbox: testSandbox(),
    });
    heard = '';
    program.stdout.resume();
    await program.gone;
    assert.equal(await arrived(), '');
  });

  it('what the configuration opens is open, pipes and sockets', async () => {
    await run(PIPES['writing to a named pipe'], testSandbox({ write: [outside] }));
    assert.equal(await reached(), 'reached\n');
    await run(SOCKETS['a datagram socket'], testSandbox({ sockets: true }));
    assert.equal(await reached(), 'reached');
  });

  const other_numbers = process.arch === 'x64' ? false : 'the numbers of x64';
  it('system calls by other numbers and conventions open no socket', { skip: other_numbers }, async () => {
    const refused = (number: number, ...given: number[]) =>
      `syscall(${[number, ...given].join(', ')}) == -1 && $! == 1 or print "${number} ";`;
    const x32 = 0x40000000;
    const calls = [
      [x32 + 41, 1, 2, 0],
      [x32 + 53, 1, 2, 0, 0],
      [425, 1, 0],
      ...[1, 17, 38, 40, 42].map((family) => [41, family, 2, 0]),
    ];
    const code = calls.map(([number = 0, ...given]) => refused(number, ...given)).join(' ');
    assert.equal(await run(`perl -e '${code}'`, testSandbox()), '[no output]');
  });

  it('regular files outside are read-only, as the message says, and a pipe is forbidden', async () => {
    assert.match(
      await run('echo x > "$OUTSIDE/new"; echo x > /etc/hostname', testSandbox()),
      /Read-only file system.*Read-only file system/s,
    );
    if (gap === null)
      assert.match(await run(PIPES['writing to a named pipe'], testSandbox()), /pipe: Permission denied/);
  });

  const ORDINARY = {
    'moves and links across folders':
      'mkdir -p a/b c && echo x > a/b/f && mv a/b/f c/ && ln c/f a/g && mv a c/a && cat c/a/g',
    'pipes of its own': 'mkfifo p /tmp/p; (echo x > p &); (cat p > /tmp/p &); cat /tmp/p; rm p /tmp/p',
    'process substitution and the standard streams':
      'echo x | tee >(cat >&2) > /dev/stdout 2>/dev/null | cat; cat <(echo x) > /dev/null',
    terminals: `script -qec 'echo x' /dev/null | tr -d '\\r'`,
    'python: asyncio, subprocesses, pools': `python3 - <<'P'
import asyncio, multiprocessing as m, subprocess, os, tempfile
async def main():
  p = await asyncio.create_subprocess_exec('echo', 'x', stdout=-1); return (await p.communicate())[0]
f = tempfile.TemporaryFile(); f.write(b'x')
if __name__ == '__main__':
  m.set_start_method('fork'); q = m.Queue(); q.put('x'); assert q.get() == 'x'
  with m.Pool(2) as pool: assert pool.map(abs, [-1, 2]) == [1, 2]
  print(asyncio.run(main()).decode(), end='')
P`,
    'node: forks, workers, servers': `node -e '
const { fork } = require("child_process"), { Worker } = require("worker_threads"), net = require("net");
if (process.send) process.send("x"), process.disconnect();
else fork(__filename === "[eval]" ? process.execPath : __filename, [], { execPath: process.execPath, execArgv: ["-e", "process.send(1); process.disconnect()"] }).on("message", () =>
  new Worker("require(\\"worker_threads\\").parentPort.postMessage(1)", { eval: true }).on("message", () =>
    { const s = net.createServer((c) => c.end("x")).listen(0, () => net.connect(s.address().port).on("data", (d) => { console.log(String(d)); s.close(); })); }));'`,
    git: 'git init -q r 2>/dev/null; cd r && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m 1 && git branch x && git mv 2>/dev/null; git gc -q && git worktree add -q ../wt x && git -C ../wt status -s && git clone -q . ../clone && echo x',
    'files in memory': 'echo x > /dev/shm/a && mv /dev/shm/a /dev/shm/b && cat /dev/shm/b',
  } as const;
  for (const [what, command] of Object.entries(ORDINARY))
    it(`ordinary software works: ${what}`, async () => {
      for (const mode of ['workspace', 'strict'] as const) {
        assert.match(await run(command, testSandbox({ mode })), /^x\n/, mode);
      }
    });

  it('where the kernel has no Landlock, all else holds, and the gap is told', async (test) => {
    bubblewrapWithoutLandlock(bin);
    process.env.PATH = `${bin}:${PATH}`;
    test.after(() => Object.assign(process.env, { PATH }));
    assert.match((await sandboxGap()) ?? '', /named pipes .* needs Landlock/);
    assert.match(
      await run(`echo x > "$OUTSIDE/new"; ${ORDINARY['moves and links across folders']}`, testSandbox()),
      /Read-only.*x\n/s,
    );
    await run(SOCKETS['a pair of datagram sockets'], testSandbox());
    assert.equal(await arrived(), '');
  });
});

for (const processor of ['x64', 'arm64'] as const) {
  const missing = spawnSync(`${BINUTILS[processor]}as`, ['--version']).error;
  it(`the program for ${processor} is what its source says`, { skip: missing?.message ?? false }, () =>
    assert.deepEqual(landlockProgram(processor), assembled(processor)),
  );
}
