// Proves a background run end to end, with delivery to a channel: the call, its result, the announcement, the history row, the deleted session.
import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { openStore } from '../../../src/store/open-store.ts';
import { bare } from '../../runtime/stage.ts';
import { until } from '../../until.ts';
import { makeHome } from '../run-cli.ts';

const TASK =
  'Research the history of the XFS filesystem. Cover: origin, key developers, major milestones, adoption.';
const FOUND = 'XFS was developed by Silicon Graphics (SGI) in 1993 for their IRIX operating system.';
const DONE = `[Subagent: xfs-research] Complete.\n\n${FOUND}`;

it('a run with cleanup delete and delivery', { timeout: 60_000 }, async () => {
  const home = makeHome();
  const log = join(home.folder, 'results.md');
  home.configure({ channels: { file: { results: log } } });
  const input = {
    task: TASK,
    label: 'xfs-research',
    model: 'scripted:rules.json',
    timeoutSeconds: 120,
    cleanup: 'delete',
    deliver: 'file:results',
  };
  const rules = [
    { when: { root: true, step: 0 }, calls: [{ name: 'sessions_spawn', input }] },
    {
      when: { root: true, user: '^\\[Subagent' },
      say: "The research is complete! Here's what the subagent found.",
    },
    { when: { root: true }, say: "I've spawned a research subagent. I'll let you know when it completes." },
    { when: { user: '^Research' }, say: FOUND },
  ];
  writeFileSync(join(home.work, 'rules.json'), JSON.stringify({ rules }));
  const asked = "What's the history of XFS? Use a subagent to research it.";
  const ran = await home.run(['run', asked, '--toolset', 'sessions', '--model', 'scripted:rules.json']);
  assert.equal(ran.code, 0, ran.stderr);
  assert.match(ran.stdout, /The research is complete!/);

  const store = await openStore(home.database);
  const [root] = await store.agents({ conversations: true });
  assert.ok(root);
  const history = await store.history(root.id);
  const results = history.flatMap((message) => (message.kind === 'result' ? [message.content.output] : []));
  const accepted = JSON.parse(results[0] ?? '') as { status: string; runId: string; sessionKey: string };
  assert.deepEqual(Object.keys(accepted), ['status', 'runId', 'sessionKey', 'timeoutSeconds']);
  assert.equal(accepted.status, 'accepted');
  assert.match(accepted.sessionKey, /^agent:main:subagent:[\da-f-]{36}$/);
  const told = history.flatMap((message) =>
    message.kind === 'user' && message.content.origin === 'system' ? [message.content.text] : [],
  );
  assert.deepEqual(told.map(bare), [DONE], 'its announcement in the session of the requester');

  const [run] = await store.findRuns(accepted.runId);
  assert.ok(run);
  assert.deepEqual(
    [run.status, run.result, run.task, run.label, run.cleanup, run.deliver],
    ['completed', FOUND, TASK, 'xfs-research', 'delete', ['file:results']],
  );
  assert.ok((await store.agent(run.agent_id)) !== null, 'the session stays until the channel has the result');

  const server = home.start(['serve', '--model', 'scripted:rules.json']);
  await until(() => existsSync(log) && readFileSync(log, 'utf8').includes(FOUND), 'the result was delivered');
  await until(async () => (await store.agent(run.agent_id)) === null, 'the session is deleted');
  server.child.kill('SIGTERM');
  assert.equal((await server.ended).code, 0);
  assert.ok(readFileSync(log, 'utf8').includes(DONE));
  assert.equal((await store.findRuns(run.id))[0]?.result, FOUND, 'its row stays');
  const listed = await home.run(['subagent', 'history']);
  assert.match(listed.stdout, /xfs-research +subagent +✓ completed/);
  await store.close();
});
