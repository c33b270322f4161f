/** Proves that scheduled jobs run workflows: added where a rule allows it, with the script as it was then, fired by a server, delivered with what `notify` told. */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { until } from '../until.ts';
import { type WorkflowHome, workflowHome } from '../workflows/run-workflow.ts';

const META = "export const meta = { name: 'nightly', description: 'Looks at night' };\n";

describe('coppice cron with workflows', () => {
  let home: WorkflowHome;
  let log = '';
  const save = (body: string) =>
    writeFileSync(join(home.work, '.coppice', 'workflows', 'nightly.js'), META + body);
  const refusal = async (...args: readonly string[]) => (await home.run(['cron', ...args])).stderr;
  const EVERY = ['--every', '1h', '--workflow', 'nightly'];

  before(async () => {
    home = workflowHome();
    log = join(home.folder, 'log.md');
    home.configure({ model: 'scripted:rules.json', channels: { file: { log } } });
    mkdirSync(join(home.work, '.coppice', 'workflows'), { recursive: true });
    save(
      "await notify('half'); await workflow({ scriptPath: './inner.js' }); return [await agent('say ' + args.who), Date.now()]",
    );
    writeFileSync(join(home.work, 'inner.js'), `${META}await notify('inner'); return 1`);
    assert.match(await refusal('add', 'a', ...EVERY, '--yes'), /not trusted as it is now/);
    await home.run(['trust', '--yes']);
  });

  it('refuses what no rule allows, what would be ignored, and scripts that are none', async () => {
    assert.match(
      await refusal('add', 'a', ...EVERY),
      /not started: no rule allows it.*--allow "workflow:nightly"/s,
    );
    assert.match(await refusal('add', 'a', ...EVERY, '--yes', '--deny', 'workflow:*'), /denied by/);
    assert.match(await refusal('add', 'a', ...EVERY, '--yes', '--task', 'x'), /a task or a workflow/);
    assert.match(
      await refusal('add', 'a', ...EVERY, '--yes', '--session', 'main'),
      /workflow needs an isolated/,
    );
    assert.match(
      await refusal('add', 'a', '--every', '1h', '--args', '1', '--yes'),
      /give one of name and script/,
    );
    assert.match(await refusal('add', 'a', ...EVERY, '--yes', '--args', '{'), /--args is not JSON/);
    assert.match(
      await refusal('add', 'a', '--every', '1h', '--workflow', 'none', '--yes'),
      /no workflow "none"/,
    );
    assert.deepEqual((await home.json('cron', 'list')).jobs, []);
  });

  it('keeps the script, and runs it each time with a clock and chance of its own', async () => {
    const job = await home.json(
      ...['cron', 'add', 'job', '--every', '1s', '--workflow', 'nightly', '--args', '{"who":"me"}'],
      ...['--allow', 'workflow:nightly', '--deliver', 'file:log'],
    );
    assert.deepEqual([job.workflow, job.args], ['nightly', '{"who":"me"}']);
    assert.equal(job.task, 'Workflow nightly: Looks at night\n\nargs: {"who":"me"}');
    save('return "another script"');
    const { child, ended } = home.start(['serve']);
    const delivered = () => (existsSync(log) ? readFileSync(log, 'utf8') : '');
    await until(() => delivered().split('Complete.').length > 2);
    child.kill('SIGTERM');
    await ended;
    const results = [...delivered().matchAll(/\[Cron: job\] Complete\.\n\n\["me",(\d+)\]/g)].map(
      ([, at]) => at,
    );
    assert.ok(results.length >= 2 && new Set(results).size === results.length, delivered());
    assert.ok(delivered().split('[Workflow nightly] half').length > results.length);
    assert.ok(delivered().split('[Workflow nightly] inner').length > results.length);
  });

  it('changes args alone, the script where a rule allows it, and back to a task', async () => {
    const changed = await home.json('cron', 'update', 'job', '--args', '"z"');
    assert.deepEqual([changed.workflow, changed.args], ['nightly', '"z"']);
    await home.run(['trust', '--yes']);
    const other = await home.json('cron', 'update', 'job', '--workflow', 'nightly', '--thinking', 'low');
    assert.deepEqual([other.args, other.thinking], ['"z"', 'low']);
    assert.match(await refusal('update', 'job', '--session', 'main', '--no-deliver'), /workflow needs/);
    assert.match((await home.run(['cron', 'show', 'job'])).stdout, /workflow +nightly/);
    await home.json('cron', 'add', 'other', ...EVERY, '--yes');
    const { stdout, code } = await home.run(['cron', 'run', 'other']);
    assert.deepEqual([code, stdout], [0, 'another script\n']);
    const plain = await home.json('cron', 'update', 'job', '--task', 'say x');
    assert.deepEqual([plain.workflow, plain.args, plain.task], [null, null, 'say x']);
  });
});
