// Proves that nothing that a command left running outlives it in the sandbox, whatever it does to survive: after a cancellation, and after the whole program
// was killed. For more rounds of both, set CANCELS=500 KILLS=100.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import type { Tool } from '../../../src/records/tool.ts';
import { createBashTool } from '../../../src/tools/bash.ts';
import { MAIN } from '../../house/program.ts';
import { call, makeWorkspace } from '../../tools/tool-fixture.ts';
import { NO_SANDBOX, testSandbox } from './test-sandbox.ts';

const CANCELS = Number(process.env.CANCELS ?? 100);
const KILLS = Number(process.env.KILLS ?? 24);
const CANCELS_AT_ONCE = 10;
const KILLS_AT_ONCE = 4;
const GONE_MS = 30_000;
/** A unique sleep duration for each run, by which survivors are found. */
const SECONDS = `${100_000 + process.pid}.5`;

const STUBBORN = [
  `(sleep ${SECONDS} &); (setsid sleep ${SECONDS} &); sleep ${SECONDS}`,
  `trap '' TERM INT HUP; setsid -f sleep ${SECONDS}; sleep ${SECONDS}; sleep ${SECONDS}`,
  `setsid env -i sleep ${SECONDS} & setsid env -i sh -c "trap '' TERM HUP; sleep ${SECONDS}; sleep ${SECONDS}" & wait`,
  `perl -MPOSIX -e '$SIG{$_} = "IGNORE" for qw(TERM INT HUP); fork && exit; setsid; fork && exit; POSIX::close($_) for 0 .. 255; %ENV = (); sleep ${SECONDS.slice(0, -2)} while 1' ${SECONDS}; nohup sleep ${SECONDS} & sleep ${SECONDS}`,
  `f() { setsid env -i sleep ${SECONDS} & sleep 0.05; f; }; trap '' TERM; f`,
];

function survivors(): string[] {
  return readdirSync('/proc').filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes(SECONDS);
    } catch {
      return false;
    }
  });
}

async function survivorsAfter(limit_ms: number): Promise<string[]> {
  const end_ms = performance.now() + limit_ms;
  while (survivors().length > 0 && performance.now() < end_ms)
    await new Promise((resolve) => setTimeout(resolve, 50));
  return survivors();
}

const commandOf = (index: number) => STUBBORN[index % STUBBORN.length] as string;
/** Milliseconds until the cancellation or kill: from before the command runs to long after it began. */
const momentOf = (index: number) => (index * 37) % 400;

async function inTurns(
  count: number,
  at_once: number,
  work: (index: number) => Promise<void>,
): Promise<void> {
  let next = 0;
  const worker = async () => {
    for (let index = next; index < count; index = next) {
      next += 1;
      await work(index);
    }
  };
  await Promise.all(Array.from({ length: at_once }, worker));
}

describe('in the sandbox', { skip: NO_SANDBOX }, () => {
  const place = mkdtempSync('/var/tmp/coppice-test-');
  after(() => rmSync(place, { recursive: true, force: true }));

  it(`nothing survives ${CANCELS} cancellations`, async () => {
    const tool = createBashTool(testSandbox()) as Tool;
    const context = makeWorkspace();
    let seen = 0;
    await inTurns(CANCELS, CANCELS_AT_ONCE, async (index) => {
      const stop = new AbortController();
      setTimeout(() => stop.abort(), momentOf(index));
      const command = { command: commandOf(index), timeout: 60 };
      const running = call(tool, command, { ...context, signal: stop.signal });
      await new Promise((resolve) => setTimeout(resolve, momentOf(index) / 2));
      seen += survivors().length;
      await running.catch(() => undefined);
    });
    assert.ok(seen > 0, 'they ran');
    assert.deepEqual(await survivorsAfter(GONE_MS), []);
  });

  it(`nothing survives ${KILLS} kills of the program`, async () => {
    let seen = 0;
    await inTurns(KILLS, KILLS_AT_ONCE, async (index) => {
      const folder = join(place, String(index));
      mkdirSync(join(folder, 'work'), { recursive: true });
      const rules = join(folder, 'rules.json');
      const calls = [{ name: 'bash', input: { command: commandOf(index), timeout: 60 } }];
      writeFileSync(rules, JSON.stringify({ rules: [{ calls }] }));
      const child = spawn(
        process.execPath,
        [
          MAIN,
          'run',
          '--model',
          `scripted:${rules}`,
          '--allow',
          'bash',
          '--database',
          `sqlite:${folder}/l.db`,
          'go',
        ],
        {
          cwd: join(folder, 'work'),
          env: { PATH: process.env.PATH, HOME: folder, COPPICE_SANDBOX: 'workspace' },
          stdio: ['ignore', 'ignore', 'pipe'],
        },
      );
      const ended = new Promise((resolve) => child.once('exit', resolve));
      await new Promise<void>((resolve) => {
        child.stderr.on('data', (chunk) => String(chunk).includes('bash') && resolve());
        child.once('exit', () => resolve());
      });
      await new Promise((resolve) => setTimeout(resolve, momentOf(index)));
      // On a busy machine all of them could be killed before anything runs: the first is not.
      while (index === 0 && child.exitCode === null && survivors().length === 0)
        await new Promise((resolve) => setTimeout(resolve, 20));
      seen += survivors().length;
      child.kill('SIGKILL');
      await ended;
    });
    assert.ok(seen > 0, 'they ran');
    assert.deepEqual(await survivorsAfter(GONE_MS), []);
  });
});
