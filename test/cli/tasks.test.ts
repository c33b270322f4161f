// Proves that agents share a task list: calls of one message take effect in order, a killed agent's task goes to another, and people see it all with
// `coppice tasks`. A list survives the process; an agent without the toolset does not see its tools.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { makeHome } from './run-cli.ts';

const call = (name: string, input: object = {}) => ({ name, input });
const RULES = {
  rules: [
    {
      when: { agent: 'main', step: 0 },
      calls: [
        call('task_add', { title: 'read the files' }),
        call('task_add', { title: 'write the page', depends_on: [1] }),
        call('task_add', { title: 'measure', blocks: [2] }),
        call('task_add', { title: '' }),
      ],
    },
    { when: { agent: 'main', step: 1 }, calls: [call('fork', { name: 'kid', prompt: 'claim one' })] },
    { when: { agent: 'main', step: 2 }, calls: [call('wait', { timeout: 30 })] },
    { when: { agent: 'main', step: 3 }, calls: [call('task_claim', { number: 1 }), call('task_claim')] },
    { when: { agent: 'main', step: 4 }, calls: [call('kill', { agent_id: '{{results.fork.0.agent_id}}' })] },
    { when: { agent: 'main', step: 5 }, calls: [call('task_done', { number: 3, result: '7 ms' })] },
    { when: { agent: 'main', step: 6 }, calls: [call('task_claim'), call('task_list')] },
    { when: { agent: 'main' }, say: 'done' },
    { when: { agent: 'kid', step: 0 }, calls: [call('task_claim')] },
    { when: { agent: 'kid', step: 1 }, calls: [call('send', { to: '{{parent_id}}', message: 'have it' })] },
    { say: 'idle' },
  ],
};

it('agents add, claim and finish tasks of one list, which people see', async () => {
  const home = makeHome();
  const rules = join(home.folder, 'rules.json');
  writeFileSync(rules, JSON.stringify(RULES));
  home.configure({ model: `scripted:${rules}` });
  const ran = await home.run(['run', '--toolset', 'process', '--toolset', 'tasks', 'go']);
  assert.equal(ran.code, 0, ran.stderr);
  const logs = (await home.run(['logs'])).stdout;
  for (const said of [
    /\{"task":1\}[\s\S]*\{"task":2\}[\s\S]*\{"task":3\}/,
    /the title must not be empty/,
    /task 1 is claimed by kid/,
    /"number":3,"title":"measure","state":"claimed","by":"main"/,
    /\{"done":3,"open":1,"blocked":1,"claimed":0,"all_done":1\}/,
    /"number":1,"title":"read the files","state":"claimed","by":"main"/,
  ])
    assert.match(logs, said);
  const shown = await home.run(['tasks']);
  assert.match(shown.stdout, /^TASK +STATE +AGENT +WHAT\n/);
  assert.match(shown.stdout, /^ +1 +claimed +main +read the files$/m);
  assert.match(shown.stdout, /^ +2 +blocked +write the page \(after 1, 3\)$/m);
  assert.match(shown.stdout, /^ +3 +done +main +measure → 7 ms$/m);
  const { schema, tasks } = JSON.parse((await home.run(['tasks', '--json'])).stdout);
  assert.deepEqual([schema, tasks.length, tasks[1].depends_on], ['coppice/tasks/v1', 3, [1, 3]]);
  assert.equal((await home.run(['run', 'go'])).code, 0);
  assert.match((await home.run(['logs'])).stdout, /there is no tool "task_add"/);
  assert.match((await home.run(['tasks'])).stdout, /^no tasks: agents with the toolset tasks add them/);
});
