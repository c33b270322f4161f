/**
 * Proves the sandbox from a user's point of view: on by default, reported by `doctor`, never silently omitted where it is unavailable, and off where a
 * person says so.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { NO_SANDBOX } from '../processes/sandbox/test-sandbox.ts';
import { makeHome } from './run-cli.ts';

// Outside /tmp, which commands cannot see.
const outside = realpathSync(mkdtempSync('/var/tmp/coppice-test-'));
after(() => rmSync(outside, { recursive: true }));

const home = makeHome();
const rules = join(home.folder, 'rules.json');
writeFileSync(
  rules,
  JSON.stringify({
    rules: [
      {
        when: { step: 0 },
        calls: [{ name: 'bash', input: { command: `echo inside > in; echo outside > ${outside}/out` } }],
      },
      { say: 'It says: {{result}}' },
    ],
  }),
);
const run = (env: NodeJS.ProcessEnv) =>
  home.run(['run', '--model', `scripted:${rules}`, '--allow', 'bash', 'go'], { env });
const wrote = () => [existsSync(join(home.work, 'in')), existsSync(join(outside, 'out'))];
const clean = () => {
  rmSync(join(home.work, 'in'), { force: true });
  rmSync(join(outside, 'out'), { force: true });
};

describe('where the machine can', { skip: NO_SANDBOX }, () => {
  it('commands write in their folder only, without a word of configuration', async () => {
    clean();
    const { code, stdout } = await run({ COPPICE_SANDBOX: '' });
    assert.equal(code, 0);
    assert.match(stdout, /Read-only file system/);
    assert.match(stdout, /In the sandbox, commands write only in your folder and \/tmp, /);
    assert.deepEqual(wrote(), [true, false]);
    assert.match(
      (await home.run(['doctor'], { env: { COPPICE_SANDBOX: '' } })).stdout,
      /sandbox +workspace: commands of agents are sandboxed/,
    );
  });

  it('the configuration opens more, and the environment goes before it', async () => {
    clean();
    home.configure({ sandbox: { write: [outside] } });
    await run({ COPPICE_SANDBOX: '' });
    assert.deepEqual(wrote(), [true, true]);
    clean();
    home.configure({ sandbox: { mode: 'off' } });
    await run({ COPPICE_SANDBOX: 'strict' });
    assert.deepEqual(wrote(), [true, false]);
    home.configure({});
  });
});

it('where it cannot stand, no command runs, the way out is told, and doctor fails', async () => {
  clean();
  const env = { COPPICE_SANDBOX: '', PATH: outside };
  const { stdout } = await run(env);
  assert.match(
    stdout,
    /the sandbox cannot start: bubblewrap \(bwrap\) is not installed\. Install it .*apt install bubblewrap.*COPPICE_SANDBOX=off/s,
  );
  assert.deepEqual(wrote(), [false, false]);
  const doctor = await home.run(['doctor'], { env });
  assert.match(doctor.stdout, /sandbox +the sandbox cannot start/);
  assert.equal(doctor.code, 1);
});

it('where it cannot stand, the demo shows what it finds nevertheless: its commands are not those of a model', async () => {
  // All programs except bubblewrap.
  const programs = join(home.folder, 'programs');
  mkdirSync(programs);
  for (const name of [
    'bash',
    'find',
    'head',
    'tr',
    'wc',
    'awk',
    'sed',
    'du',
    'cut',
    'sort',
    'uniq',
    'xargs',
    'cat',
    'uname',
  ])
    symlinkSync(
      execFileSync('sh', ['-c', `command -v ${name}`], { encoding: 'utf8' }).trim(),
      join(programs, name),
    );
  const demo = home.start(['demo', '--fast'], { env: { COPPICE_SANDBOX: '', PATH: programs } });
  const { code, stdout } = await demo.ended;
  assert.equal(code, 0);
  assert.match(stdout, /\d+ files/);
  assert.doesNotMatch(stdout, /sandbox/);
});

it('switched off, commands have the rights of the user, and doctor says so', async () => {
  clean();
  await run({ COPPICE_SANDBOX: 'off' });
  assert.deepEqual(wrote(), [true, true]);
  assert.match((await home.run(['doctor'])).stdout, /sandbox +off: commands of agents have all your rights/);
});

it('a mode that is none is an error before anything runs', async () => {
  const { code, stderr } = await run({ COPPICE_SANDBOX: 'none' });
  assert.notEqual(code, 0);
  assert.match(stderr, /COPPICE_SANDBOX is "none": use off, workspace, strict/);
  home.configure({ sandbox: { hosts: ['http://example.com'] } });
  assert.match((await run({ COPPICE_SANDBOX: '' })).stderr, /sandbox\.hosts.*must be a name/s);
  home.configure({});
});
