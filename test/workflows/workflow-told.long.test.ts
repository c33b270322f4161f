/** Proves that whoever started a workflow run is told, once each, that a person stopped it and that it was killed. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { until } from '../until.ts';
import { META } from './played-script.ts';
import { RULES, workflowHome } from './run-workflow.ts';

const SCRIPT = `${META.replace("'test'", "'long'")}return agent('hang')`;
const home = workflowHome([
  { when: { user: '^long', step: 0 }, calls: [{ name: 'workflow', input: { script: SCRIPT } }] },
  { when: { user: 'stopped this workflow run' }, say: 'told: {{user}}' },
  { when: { user: 'Subagent: ' }, say: 'heard: {{user}}' },
  { when: { tool: 'workflow' }, say: 'called: {{result}}' },
  ...RULES,
]);

it('tells whoever started a run once that a person has stopped it, and that it was killed', async () => {
  const { ended } = home.start([
    'run',
    'long',
    '--toolset',
    'workflow',
    '--allow',
    'workflow:long',
    '--json',
  ]);
  const counts = async () => (await home.json('workflow', 'show', 'long')).counts as { running: number };
  await until(async () => (await counts().catch(() => null))?.running === 1, 'the agent of the run');
  for (const order of ['pause', 'stop', 'stop']) await home.run(['workflow', order, 'long']);
  const { stdout, stderr } = await ended;
  const { reply: said, id: root_id } = JSON.parse(stdout || '{}');
  assert.match(said, /^told: [\s\S]*from long[\s\S]*A person stopped this workflow run/, stdout + stderr);
  const { stdout: log } = await home.run(['logs', root_id]);
  assert.equal(log.split('A person stopped this workflow run').length, 3, `once, and said once: ${log}`);
  await home.run(['kill', 'long']);
  const { stdout: after } = await home.run(['resume', root_id, '--json']);
  assert.match(JSON.parse(after).reply, /^heard: \[Subagent: long, .*\] Cancelled:/);
});
