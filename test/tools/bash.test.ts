/**
 * Proves that a shell command returns its output and exit code, whatever it does: output is bounded, no processes are left after exit, timeout or abort, no
 * secrets are in its environment, and many can run at once. Real shells, real processes.
 */
import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { HEAD_BYTES, LIVE_BYTES, TAIL_BYTES } from '../../src/processes/output/output-capture.ts';
import { SPILL_BYTES } from '../../src/processes/output/spill-file.ts';
import type { Tool } from '../../src/records/tool.ts';
import { createBashTool } from '../../src/tools/bash.ts';
import { DEEP } from '../house/deep.ts';
import { NO_SANDBOX, testSandbox } from '../processes/sandbox/test-sandbox.ts';
import { call, eventually, makeWorkspace } from './tool-fixture.ts';

/** The duration of a sleep that no other test or program uses, so that it can be found in the process table. */
function uniqueSeconds(): string {
  return `${randomInt(100_000, 1_000_000)}.${randomInt(1000, 10_000)}`;
}

function runs(argument: string): boolean {
  return readdirSync('/proc').some((pid) => {
    if (!/^\d+$/.test(pid)) return false;
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'latin1').split('\0').includes(argument);
    } catch {
      return false;
    }
  });
}

const linux_only = { skip: process.platform === 'linux' ? false : 'reads /proc' };

describe('bash', () => proveBash(createBashTool(null) as Tool, false));
if (DEEP)
  describe('bash in the sandbox', { skip: NO_SANDBOX }, () =>
    proveBash(createBashTool(testSandbox()) as Tool, true),
  );

function proveBash(tool: Tool, confined: boolean): void {
  test('both streams come in the order in which they were written, then the exit code', async () => {
    const context = makeWorkspace();
    const result = await call(
      tool,
      { command: 'for i in 1 2 3; do echo out $i; echo err $i >&2; done; exit 7' },
      context,
    );
    assert.deepEqual(result, {
      status: 'error',
      output: 'out 1\nerr 1\nout 2\nerr 2\nout 3\nerr 3\n[exit code 7]',
      exit_code: 7,
    });
    assert.equal(context.live.join(''), 'out 1\nerr 1\nout 2\nerr 2\nout 3\nerr 3\n');
  });

  test('it runs in the folder of the agent, without positional arguments', async () => {
    const context = makeWorkspace();
    assert.deepEqual(await call(tool, { command: 'pwd -P; echo $#' }, context), {
      status: 'ok',
      output: `${context.cwd}\n0\n`,
      exit_code: 0,
    });
  });

  test('messages of the shell carry the line numbers of the command', async () => {
    const { output } = await call(tool, { command: 'true\nno_such_program_here' }, makeWorkspace());
    assert.match(output, /line (2|3): no_such_program_here: .*not found/);
    assert.match(output, /\[exit code 127\]/);
  });

  test('a signal that ends the shell is named', async () => {
    const { status, output } = await call(tool, { command: 'kill -9 $$' }, makeWorkspace());
    assert.deepEqual([status, output], ['error', confined ? '[exit code 137]' : '[killed by SIGKILL]']);
  });

  test('interactive commands get end of file at once, and no terminal', async () => {
    const command = 'cat; read -r line || echo no input; tty; (: </dev/tty) 2>/dev/null || echo no terminal';
    const { output } = await call(tool, { command, timeout: 20 }, makeWorkspace());
    assert.match(output, /^no input\nnot a tty\nno terminal\n/);
  });

  test('provider keys and other variables of the runtime are withheld; allowed names are passed', async (t) => {
    const secrets = {
      ANTHROPIC_API_KEY: 'k-anthropic',
      OPENAI_API_KEY: 'k-openai',
      DATABASE_URL: 'k-db',
      MY_TOOL: 'mine',
      BASH_ENV: '/x',
    };
    const before = { ...process.env };
    Object.assign(process.env, secrets);
    t.after(() => {
      for (const name of Object.keys(secrets)) {
        if (before[name] === undefined) delete process.env[name];
        else process.env[name] = before[name];
      }
    });
    const { output } = await call(tool, { command: 'env' }, makeWorkspace(['MY_TOOL', 'ANTHROPIC_API_KEY']));
    assert.match(output, /^MY_TOOL=mine$/m);
    assert.match(output, /^PATH=/m);
    assert.doesNotMatch(output, /k-anthropic|k-openai|k-db|BASH_ENV/);
  });

  test('a timeout stops the command and keeps its output', async () => {
    const { status, output } = await call(
      tool,
      { command: 'echo before; sleep 600', timeout: 0.3 },
      makeWorkspace(),
    );
    assert.equal(status, 'error');
    assert.match(output, /^before\n\[stopped after 0\.3 s/);
  });

  test('a command that ignores SIGTERM is killed after the grace period', linux_only, async () => {
    const seconds = uniqueSeconds();
    const command = `trap "" TERM; sleep ${seconds} & sleep ${seconds}; sleep ${seconds}`;
    const { output } = await call(tool, { command, timeout: 0.3 }, makeWorkspace());
    assert.match(output, /stopped after/);
    assert.equal(runs(seconds), false);
  });

  test('an abort in the middle leaves no process of the group', linux_only, async () => {
    const context = makeWorkspace();
    const seconds = uniqueSeconds();
    const running = call(
      tool,
      { command: `echo begun; sleep ${seconds} | sleep ${seconds} & sleep ${seconds}` },
      context,
    );
    assert.ok(await eventually(() => runs(seconds)), 'the command must be running before it is aborted');
    context.abort('stop');
    const result = await running;
    assert.equal(result.status, 'cancelled');
    assert.match(result.output, /^begun\n\[cancelled\]$/);
    assert.equal(runs(seconds), false);
  });

  test('an abort before the start starts nothing', async () => {
    const context = makeWorkspace();
    context.abort();
    assert.equal((await call(tool, { command: 'touch made' }, context)).status, 'cancelled');
    assert.equal(existsSync(join(context.cwd, 'made')), false);
  });

  test('background processes neither hang the call nor survive it', linux_only, async () => {
    const context = makeWorkspace();
    for (const start of [
      'sleep S & disown',
      'nohup sleep S >/dev/null 2>&1 &',
      '(sleep S &)',
      'set -m; sleep S &',
    ]) {
      const seconds = uniqueSeconds();
      const result = await call(
        tool,
        { command: `${start.replace('S', seconds)}\necho done`, timeout: 60 },
        context,
      );
      assert.equal(result.status, 'ok', start);
      assert.match(result.output, /done\n/);
      assert.ok(await eventually(() => !runs(seconds)), `${start}: survived`);
    }
  });

  test(
    'a process that leaves the session is killed too, whether or not it holds the output open',
    linux_only,
    async () => {
      const context = makeWorkspace();
      for (const redirect of ['', '>/dev/null 2>&1']) {
        const seconds = uniqueSeconds();
        // The shell stays until the new session exists, so that killing the process group alone could not end it.
        const command = `setsid sleep ${seconds} ${redirect} & sleep 0.2; echo done`;
        const result = await call(tool, { command, timeout: 60 }, context);
        assert.deepEqual(result, { status: 'ok', output: 'done\n', exit_code: 0 });
        assert.ok(await eventually(() => !runs(seconds)), `setsid ${redirect}: survived`);
      }
    },
  );

  test('a command leads a session and a process group of its own', linux_only, async () => {
    const { output } = await call(tool, { command: "cut -d ' ' -f 1,5,6 /proc/$$/stat" }, makeWorkspace());
    const [pid, group, session] = output.trim().split(' ').map(Number);
    assert.ok(pid !== undefined && pid !== process.pid);
    // In a sandbox, its first process is the leader.
    const leader = confined ? 1 : pid;
    assert.deepEqual([group, session], [leader, leader]);
  });

  test('what a process substitution writes after the shell has exited is kept', async () => {
    // Output is awaited for a moment only, in which a loaded machine may not even start `cat`.
    let kept = '[no output]';
    for (let tries = 0; tries < 5 && kept === '[no output]'; tries += 1)
      kept = (await call(tool, { command: 'echo late > >(sleep 0.05; cat)' }, makeWorkspace())).output;
    assert.equal(kept, 'late\n');
  });

  test('one line of 200 MB: head and tail in the result, the rest in a file up to the quota, memory flat', async () => {
    const context = makeWorkspace();
    const began = performance.now();
    const before = process.memoryUsage().rss;
    let most = before;
    const watch = setInterval(() => {
      most = Math.max(most, process.memoryUsage().rss);
    }, 10);
    const result = await call(
      tool,
      { command: "printf start; head -c 200M /dev/zero | tr '\\0' x; printf end" },
      context,
    );
    clearInterval(watch);
    assert.equal(result.status, 'ok');
    assert.ok(result.output.startsWith('startxxx') && result.output.endsWith('xxxend'));
    assert.ok(result.output.length < HEAD_BYTES + TAIL_BYTES + 500);
    const file = /the first 67108864 bytes are in (\S+), (\d+) bytes were discarded/.exec(result.output);
    assert.ok(file, result.output.slice(HEAD_BYTES - 10, HEAD_BYTES + 300));
    assert.equal(statSync(file[1]!).size, SPILL_BYTES);
    assert.equal(Number(file[2]) + SPILL_BYTES, 200 * 1024 * 1024 + 8);
    assert.equal(statSync(file[1]!).mode & 0o077, 0);
    assert.ok(most - before < 150 * 1024 * 1024, `memory grew by ${most - before} bytes`);
    const windows = 2 + (performance.now() - began) / 1_000;
    assert.ok(context.live.join('').length <= windows * LIVE_BYTES, 'live output is bounded too');
  });

  test('a huge standard error is kept whole in the file', async () => {
    const { output } = await call(tool, { command: 'seq 1 200000 >&2' }, makeWorkspace());
    const file = /the whole output is in (\S+) /.exec(output)?.[1];
    assert.ok(file);
    const kept = readFileSync(file, 'utf8').split('\n');
    assert.deepEqual([kept.length, kept[0], kept[199_999]], [200_001, '1', '200000']);
    assert.ok(output.startsWith('1\n2\n') && output.endsWith('199999\n200000\n'));
  });

  test('bytes that are not UTF-8 and NUL are replaced and noted', async () => {
    const { output } = await call(tool, { command: "printf 'a\\000b\\377c\\n'" }, makeWorkspace());
    assert.match(output, /^a\ufffdb\ufffdc\n\[the output contains binary data/);
    assert.ok(!output.includes('\0'));
  });

  test('a character that is cut between two chunks stays whole, in the result and live', async () => {
    const context = makeWorkspace();
    const result = await call(
      tool,
      { command: "printf '\\342\\202'; sleep 0.2; printf '\\254 ok'" },
      context,
    );
    assert.deepEqual(result, { status: 'ok', output: '€ ok', exit_code: 0 });
    assert.equal(context.live.join(''), '€ ok');
  });

  test('a cut in the middle never splits a character', async () => {
    const { output } = await call(
      tool,
      { command: 'printf "x"; yes "€€€€€€€" | head -n 5000' },
      makeWorkspace(),
    );
    assert.match(output, /bytes left out/);
    assert.ok(!output.includes('\ufffd'));
  });

  test('200 simultaneous calls all succeed', async () => {
    const context = makeWorkspace();
    const calls = Array.from({ length: 200 }, (_, at) => call(tool, { command: `echo ${at}` }, context));
    const results = await Promise.all(calls);
    assert.deepEqual(
      results.map((result) => result.output),
      Array.from({ length: 200 }, (_, at) => `${at}\n`),
    );
  });

  test('time in the queue does not count against the timeout', async () => {
    const context = makeWorkspace();
    const calls = Array.from({ length: 60 }, () =>
      call(tool, { command: 'sleep 0.25', timeout: 30 }, context),
    );
    const last = call(tool, { command: 'echo done', timeout: 1.5 }, context);
    const results = await Promise.all([...calls, last]);
    assert.deepEqual(
      results.filter((result) => result.status !== 'ok'),
      [],
    );
  });

  test('bad input names the field', () => {
    const parse = (input: unknown): string => {
      const parsed = tool.parse(input);
      return parsed.ok ? 'ok' : parsed.error;
    };
    assert.equal(parse({ command: 'x', timeout: '5' }), 'field "timeout": expected number, received string');
    const huge = 'field "timeout": expected number, received a number that is too large';
    assert.equal(parse({ command: 'x', timeout: Number('1e999') }), huge);
    assert.equal(parse({}), 'field "command": missing (expected string)');
    assert.equal(parse({ command: 'x', cmd: 1 }), 'field "cmd": not known');
    assert.equal(parse(null), 'the input: expected object, received null');
    assert.match(parse({ command: 'x', timeout: 4000 }), /^field "timeout": too big/);
  });

  test('what cannot be started is explained', async () => {
    const context = makeWorkspace();
    assert.match((await call(tool, { command: 'a\0b' }, context)).output, /NUL/);
    assert.match((await call(tool, { command: `: ${'x'.repeat(3_000_000)}` }, context)).output, /too long/);
    assert.match(
      (await call(tool, { command: 'true' }, { ...context, cwd: join(context.cwd, 'gone') })).output,
      /is gone/,
    );
  });
}
