/**
 * Proves that an agent program is confined to the sandbox of its folder, whatever it does without asking, that it works inside it, and that it never starts
 * without a sandbox that was requested. Real programs, real sandboxes.
 */
import assert from 'node:assert/strict';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { after, before, beforeEach, describe, it } from 'node:test';
import type { AcpServerConfig } from '../../src/models/agent-programs/acp-config.ts';
import type { SandboxSettings } from '../../src/processes/sandbox/sandbox.ts';
import { agentPrograms } from '../../src/settings/agent-programs.ts';
import type { SandboxConfig } from '../../src/settings/settings.ts';
import { bundledProgram } from '../processes/sandbox/bundled-program.ts';
import { NO_SANDBOX, testSandbox } from '../processes/sandbox/test-sandbox.ts';
import { eventually } from '../tools/tool-fixture.ts';
import { acpStage, failed, PROGRAM, said } from './acp-stage.ts';

const SECRET = 'canary-5d11';
/** The duration of a sleep that is unique to each run, so that a surviving process can be found. */
const SECONDS = `${100_000 + process.pid}.125`;

// Not below /tmp, because a sandbox has its own /tmp.
const place = realpathSync(mkdtempSync('/var/tmp/coppice-test-'));
const [home, cwd, other, outside] = ['home', 'work', 'other', 'outside'].map((name) => join(place, name)) as [
  string,
  string,
  string,
  string,
];
const folders = { cwd, outside };
let program: readonly [string, string];
const own_home = process.env.HOME;
const server = createServer((_, answer) => answer.end(SECRET));
let port = 0;

function put(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
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

function folderOf(pid: number): string | null {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    return null; // ended in the meantime
  }
}

before(async () => {
  program = await bundledProgram(PROGRAM, place);
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  port = (server.address() as AddressInfo).port;
});
beforeEach(() => {
  for (const folder of [home, cwd, other, outside]) rmSync(folder, { recursive: true, force: true });
  put(join(home, '.ssh/id_rsa'), SECRET);
  put(join(home, '.agent/login'), 'logged in');
  put(join(outside, 'file'), 'theirs');
  put(join(cwd, 'inside'), 'mine');
  put(join(other, 'inside'), 'yours');
  process.env.HOME = home;
});
after(() => {
  server.close();
  process.env.HOME = own_home;
  rmSync(place, { recursive: true, force: true });
});

describe('an agent program in the sandbox', { skip: NO_SANDBOX }, () => {
  const stage = (test: Parameters<typeof acpStage>[0], settings: Partial<SandboxSettings> = {}) =>
    acpStage(test, [], { program, own_sandbox: testSandbox(settings), folders, rules: { allow: ['*'] } });

  it('works in its folder, with its own state and the host that it needs', async (test) => {
    const { ask } = await stage(test, { write: [join(home, '.agent')], hosts: [`127.0.0.1:${port}`] });
    const own = async (command: string) => said((await ask(`own ${command}`)).outcome);
    assert.equal(
      await own('pwd; cat inside; echo new > new; cat ~/.agent/login; echo x > ~/.agent/session'),
      `${cwd}\nminelogged in`,
    );
    assert.equal(readFileSync(join(cwd, 'new'), 'utf8'), 'new\n');
    assert.equal(readFileSync(join(home, '.agent/session'), 'utf8'), 'x\n');
    assert.match(await own(`curl -s -m 5 --noproxy "" http://127.0.0.1:${port}/`), new RegExp(SECRET));
    assert.equal(said((await ask(`read ${cwd}/inside`)).outcome), 'mine');
    assert.equal(said((await ask(`write ${cwd}/asked yes`)).outcome), 'written');
  });

  it('gets out by nothing that it does without asking', async (test) => {
    const { ask } = await stage(test, { hosts: ['127.0.0.1:1'] });
    const own = async (command: string) => said((await ask(`own ${command}`)).outcome);
    await own(
      `echo x > ${outside}/file; echo x > ${outside}/new; ln -s ${outside} d; echo x > d/new; echo x > ~/.agent/login`,
    );
    await own(
      'mkdir .coppice && echo x > .coppice/config.json; mkdir -p .git/hooks && echo x > .git/hooks/pre-commit',
    );
    assert.deepEqual(
      readdirSync(outside).filter((name) => name !== 'spill'),
      ['file'],
    );
    assert.equal(readFileSync(join(outside, 'file'), 'utf8'), 'theirs');
    assert.equal(readFileSync(join(home, '.agent/login'), 'utf8'), 'logged in');
    assert.deepEqual(
      ['.coppice', '.git'].flatMap((name) => readdirSync(join(cwd, name))),
      [],
    );
    for (const command of [
      'cat ~/.ssh/id_rsa; cp -r ~/.ssh copy; cat copy/*; cat /proc/1/root$HOME/.ssh/id_rsa',
      `curl -s -m 5 --noproxy "*" http://127.0.0.1:${port}/; curl -s -m 5 --noproxy "" http://127.0.0.1:${port}/`,
      `curl -s -m 5 --noproxy "" http://127.0.0.2:${port}/; curl -s -m 5 --noproxy "" http://localhost:${port}/`,
      `cat /proc/${process.pid}/environ; cat /proc/[0-9]*/environ | tr "\\0" "\\n"`,
    ])
      assert.doesNotMatch(await own(command), new RegExp(`${SECRET}|COPPICE_SANDBOX`), command);
  });

  it('leaves no daemon behind, neither at its end nor when it is killed', async (test) => {
    for (const end of ['close', 'crash'] as const) {
      const { model, ask } = await stage(test);
      await ask(
        'own (setsid env -i /bin/sleep $S >/dev/null 2>&1 & trap "" TERM; setsid env -i /bin/sleep $S >/dev/null 2>&1 &)'.replaceAll(
          '$S',
          SECONDS,
        ),
      );
      assert.ok(await eventually(() => sleepers().length === 2));
      if (end === 'close') await model.close?.();
      else
        assert.match(
          failed((await ask('crash')).outcome),
          /ended with exit code 7; last output on stderr: fatal/,
        );
      assert.ok(
        await eventually(() => sleepers().length === 0),
        'what it started in the background has ended',
      );
      await model.close?.();
      assert.deepEqual(readdirSync(cwd), ['inside']);
    }
  });

  it('agents in two folders have two sandboxes, and those of one folder share a process', async (test) => {
    const { ask } = await stage(test);
    const at = async (name: string, folder: string, command: string) =>
      said((await ask(`own ${command}`, { name, cwd: folder })).outcome);
    await at('a', cwd, `echo x > ${other}/inside; echo a > mine`);
    await at('b', other, `echo x > ${cwd}/inside; echo b > mine`);
    assert.deepEqual(
      [cwd, other].map((folder) => readFileSync(join(folder, 'inside'), 'utf8')),
      ['mine', 'yours'],
    );
    assert.deepEqual(
      [cwd, other].map((folder) => readFileSync(join(folder, 'mine'), 'utf8')),
      ['a\n', 'b\n'],
    );
    await at('a', cwd, 'echo shared > /tmp/note');
    assert.equal(await at('c', cwd, 'cat /tmp/note'), 'shared\n');
    assert.match(await at('b', other, 'cat /tmp/note'), /No such file/);
  });

  it('of many folders the processes that were idle longest end', async (test) => {
    const { ask, processes } = await stage(test);
    const many = Array.from({ length: 7 }, (_, at) => join(place, `many-${at}`));
    for (const folder of many) {
      put(join(folder, 'name'), folder);
      assert.equal(said((await ask('own cat name', { name: folder, cwd: folder })).outcome), folder);
    }
    const left = () => many.filter((folder) => processes().some((pid) => folderOf(pid) === folder));
    assert.ok(await eventually(() => left().length === 5));
    assert.deepEqual(left(), many.slice(-5));
    assert.equal(
      said((await ask('own cat name', { name: many[0] as string, cwd: many[0] as string })).outcome),
      many[0],
    );
    for (const folder of many) rmSync(folder, { recursive: true });
  });

  it('its commands in a terminal are in the sandbox of commands, also in a folder below', async (test) => {
    const { ask } = await stage(test);
    mkdirSync(join(cwd, 'below'));
    put(
      join(cwd, 'go.sh'),
      `pwd; echo x > ${outside}/new; cat ~/.ssh/id_rsa; echo in > made; setsid sleep ${SECONDS} >/dev/null 2>&1 &`,
    );
    const output = said((await ask('run sh go.sh')).outcome);
    assert.match(output, new RegExp(`^${cwd}\\n`));
    assert.doesNotMatch(output, new RegExp(SECRET));
    assert.deepEqual(readdirSync(outside), ['file', 'spill']);
    assert.equal(readFileSync(join(cwd, 'made'), 'utf8'), 'in\n');
    assert.ok(await eventually(() => sleepers().length === 0), 'what it started in the background has ended');
    assert.equal(said((await ask('run-in below pwd > here; echo up > ../up')).outcome), ' [0]');
    assert.equal(readFileSync(join(cwd, 'below/here'), 'utf8'), `${cwd}/below\n`);
    assert.equal(existsSync(join(cwd, 'up')), true);
  });
});

describe('the sandbox of agent programs', () => {
  const sandboxFor = (config: Partial<AcpServerConfig>, sandbox: SandboxConfig = {}, env = {}) => {
    const entry = { command: 'some-agent', ...config };
    return agentPrograms({ acp: { a: entry }, sandbox }, env, null).sandboxFor('a', entry);
  };

  it('are those of commands, and opened for what its entry says', async () => {
    const some = await sandboxFor(
      { hosts: ['api.example.com'], writable: ['~/.agent'] },
      { mode: 'strict', hosts: ['registry.example'], write: ['/srv'], hide: ['/srv/secret'] },
    );
    assert.deepEqual(
      [some?.settings.mode, some?.settings.hosts],
      ['strict', ['registry.example', 'api.example.com']],
    );
    assert.deepEqual(some?.settings.write, ['/srv', join(home, '.agent')]);
    assert.ok(some?.settings.hidden.includes('/srv/secret'));
  });

  it('of known programs are open for what these need, unless the entry says it', async () => {
    mkdirSync(join(home, '.codex'));
    const codex = await sandboxFor({ command: '/opt/bin/codex-acp' });
    assert.ok(codex?.settings.hosts.includes('api.openai.com:443'));
    assert.deepEqual(codex?.settings.write, [join(home, '.codex')]);
    const own = await sandboxFor({ command: 'codex-acp', hosts: ['proxy.example'], writable: [] });
    assert.deepEqual([own?.settings.hosts, own?.settings.write], [['proxy.example'], []]);
    await assert.rejects(sandboxFor({ command: 'gemini' }), {
      code: 'E_CONFIG',
      message: 'acp.a needs to write to ~/.gemini, which does not exist',
    });
  });

  it('of others must say what they reach, before anything starts', async () => {
    await assert.rejects(sandboxFor({}), {
      code: 'E_CONFIG',
      hint: /"hosts": \["api\.example\.com"\].*"sandbox": "off"/,
    });
    assert.deepEqual((await sandboxFor({ hosts: [] }))?.settings.hosts, []);
  });

  it('are off where a person says so, for all or for one program', async () => {
    assert.equal(await sandboxFor({ sandbox: 'off' }), null);
    assert.equal(await sandboxFor({}, { mode: 'off' }), null);
    assert.equal(await sandboxFor({}, {}, { COPPICE_SANDBOX: 'off' }), null);
    assert.notEqual(await sandboxFor({ hosts: [] }, { mode: 'off' }, { COPPICE_SANDBOX: 'workspace' }), null);
  });

  it('switched off, the program has the rights of the user', async (test) => {
    const { ask } = await acpStage(test, [], { program, own_sandbox: null, folders });
    const { outcome } = await ask(`own cat ~/.ssh/id_rsa; echo x > ${outside}/new`);
    assert.equal(said(outcome), SECRET);
    assert.equal(existsSync(join(outside, 'new')), true);
  });

  it('that cannot stand keep the program from starting, and the way out is told', async (test) => {
    const { ask } = await acpStage(test, [], { program, own_sandbox: testSandbox(), folders });
    const path = process.env.PATH;
    process.env.PATH = outside;
    try {
      assert.match(
        failed((await ask('own echo ran > ran')).outcome),
        /^no_model: acp:test: the agent program could not be started: the sandbox cannot start: bubblewrap \(bwrap\) is not installed\. Install it .*"sandbox": "off" in acp\.test/,
      );
    } finally {
      process.env.PATH = path;
    }
    assert.equal(existsSync(join(cwd, 'ran')), false);
  });
});
