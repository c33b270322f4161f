/** Proves that no process of a command without a sandbox survives: whatever it did to its session, its parents and its environment, it ends with its call, or, if this program was killed, when one starts again. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { killProcessesOfDeadRuntimes } from '../../src/processes/stray-processes.ts';
import { createBashTool } from '../../src/tools/bash.ts';
import { call, eventually, makeWorkspace } from '../tools/tool-fixture.ts';

const fork = (then: string) => `python3 -c '
import os
if os.fork() == 0:
  os.setsid()
  if os.fork() == 0: ${then}
  os._exit(0)'`;

/** Ways for a program to leave, all of which hold no output open. */
const WAYS: Readonly<Record<string, (program: string) => string>> = {
  'in the background': (program) => `${program} &`,
  nohup: (program) => `nohup ${program} & disown -a`,
  setsid: (program) => `setsid ${program} &`,
  'a double fork': (program) => `(setsid sh -c '${program} &' &)`,
  'without the environment': (program) => `setsid env -i $(command -v sleep) ${program.split(' ')[1]} &`,
  'without the mark': (program) => `setsid env -u COPPICE_CALL ${program} &`,
  'with another mark': (program) => `COPPICE_CALL=1 setsid env -u COPPICE_CALL ${program} &`,
  'a daemon': (program) =>
    `${fork(`os.closerange(0, 64); os.chdir("/"); os.umask(0); os.execve("/usr/bin/env", ["env", "-i", "${program.split(' ')[0]}", "${program.split(' ')[1]}"], {})`)} &`,
  'in another namespace, where there may be one': (program) => `setsid env -i unshare -Ur ${program} &`,
  'with lower limits': (program) => `(ulimit -n 64; ulimit -c 0; setsid env -i ${program} &)`,
  'with another name and priority': (program) =>
    `setsid nice -n 5 env -i bash -c 'exec -a other ${program}' &`,
};

const options = { skip: process.platform === 'linux' ? false : 'reads /proc' };

/** The numbers of seconds for which processes sleep. */
function sleeping(): string[] {
  return readdirSync('/proc').flatMap((pid) => {
    try {
      const [, seconds = ''] = /^\d+$/.test(pid)
        ? readFileSync(`/proc/${pid}/cmdline`, 'latin1').split('\0')
        : [];
      return seconds;
    } catch {
      return [];
    }
  });
}

function commandOf(): { readonly command: string; readonly alive: () => string[] } {
  const first = randomInt(100_000, 900_000);
  const ways = Object.entries(WAYS).map(([name, way], at) => ({ name, seconds: `${first + at}.5`, way }));
  const lines = ways.map(
    ({ way, seconds }) => `{ ${way(`sleep ${seconds}`)}\n} < /dev/null > /dev/null 2>&1`,
  );
  return {
    command: `${lines.join('\n')}\nsleep 1; echo begun`,
    alive: () => {
      const all = new Set(sleeping());
      return ways.filter(({ seconds }) => all.has(seconds)).map(({ name }) => name);
    },
  };
}

describe('no process of a command survives', options, () => {
  it('the call', async () => {
    const { command, alive } = commandOf();
    const result = await call(createBashTool(null), { command }, makeWorkspace());
    assert.match(result.output, /begun/);
    assert.ok(await eventually(() => alive().length === 0), `still there: ${alive()}`);
  });

  it('the next start, if this program was killed', async (t) => {
    const { command, alive } = commandOf();
    const source = new URL('../../src/tools/bash.ts', import.meta.url).href;
    const script = `import { createBashTool } from '${source}';
      const context = { cwd: '/', spill_dir: '/nonexistent', signal: new AbortController().signal,
        agent: { id: 'a', name: 'a', root_id: 'a' }, env_allow: [], onOutput: (text) => process.stdout.write(text) };
      await createBashTool(null).run({ command: process.argv[1] + '; sleep 60' }, context);`;
    const runtime = spawn(process.execPath, ['--input-type=module', '-e', script, '--', command], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    t.after(() => runtime.kill('SIGKILL'));
    await new Promise((resolve) => runtime.stdout.once('data', resolve));
    assert.ok(alive().length >= Object.keys(WAYS).length - 1, `only ${alive()} began`);
    killProcessesOfDeadRuntimes();
    assert.ok(alive().length >= Object.keys(WAYS).length - 1, 'those of a living runtime stay');
    const ended = new Promise((resolve) => runtime.once('exit', resolve));
    runtime.kill('SIGKILL');
    await ended;
    killProcessesOfDeadRuntimes();
    assert.ok(await eventually(() => alive().length === 0), `still there: ${alive()}`);
  });
});
