// Proves the options of a `fanout` task on both databases: folder, label, model, profile, files, timeout.
import assert from 'node:assert/strict';
import { symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from 'node:test';
import { z } from 'zod';
import type { Tool } from '../../../src/records/tool.ts';
import { defineTool } from '../../../src/tools/define-tool.ts';
import { profileOf } from '../../kernel/toolsets/profile-fixture.ts';
import { type Database, onBothDatabases, stagesOn } from '../both-databases.ts';
import { HandClock } from '../hand-clock.ts';
import { hangTool } from '../hang-tool.ts';
import { makeFolder } from '../project-folder.ts';
import type { Scene, Stage } from '../stage.ts';
import { brief, cast, errorOf, type Part, type Row, rounds, spawn, submit } from './fanout-stage.ts';

const where = defineTool({
  name: 'where',
  description: 'Says the folder.',
  input: z.strictObject({}),
  run: (_input, { cwd }) => cwd,
}) as Tool;

/** Calls one tool, then submits its output. */
const report =
  (name: string, input: unknown = {}): Part =>
  (scene: Scene) =>
    scene.step === 0 ? [[name, input]] : submit(scene.last[0]?.output);

async function rowsOf(on: Stage): Promise<Row[]> {
  const { root } = await on.perform();
  return (await rounds(on, root)).flat();
}

function suite(database: Database): void {
  const stage = stagesOn(database, { toolsets: ['fanout'] });

  it('cwd: each task works in its folder, others in that of their parent; a link out of the folder is refused', async () => {
    const folder = makeFolder({ 'src/a.ts': '', 'lib/b.ts': '' });
    symlinkSync(tmpdir(), join(folder, 'out'));
    const on = await stage(
      cast(
        [
          () => [
            spawn(
              { task: '1', label: 'a', cwd: 'src' },
              { task: '2', label: 'b', cwd: './src/../lib' },
              { task: '3', label: 'c' },
            ),
            spawn({ task: '4', cwd: 'out' }),
          ],
        ],
        { a: report('where'), b: report('where'), c: report('where') },
      ),
      { tools: [where], config: { cwd: folder } },
    );
    const { root } = await on.perform();
    assert.deepEqual((await rounds(on, root)).flat().map(brief), [
      join(folder, 'src'),
      join(folder, 'lib'),
      folder,
    ]);
    assert.match(errorOf((await on.results(root)).at(-1)).message, /"tasks.0.cwd"/);
    await on.close();
  });

  it('the child is named by its label, else by the first words of its task', async () => {
    const on = await stage(
      cast([
        () => [
          spawn(
            { task: 'x', label: 'My label' },
            { task: 'Look for «races» in every queue of the scheduler, and report them all' },
            { task: '!?' },
          ),
        ],
      ]),
    );
    const { agents } = await on.perform();
    assert.deepEqual(agents.map(({ name }) => name).toSorted(), [
      'My label',
      'look-for-races-in-every-queue-of',
      'main',
      'task',
    ]);
    assert.equal((await on.agent('My label')).config.task?.label, 'My label');
  });

  it('model: a child uses the named model, else that of its parent', async () => {
    const on = await stage(
      cast([
        () => [spawn({ task: '1', label: 'a', model: 'other/m' }, { task: '2', label: 'b', model: null })],
      ]),
    );
    assert.equal((await rowsOf(on)).length, 2);
    assert.deepEqual(
      [(await on.agent('a')).config.model, (await on.agent('b')).config.model],
      ['other/m', 'play/actor'],
    );
  });

  it('profile: sets tools, limits and model, and never adds to what the parent has', async () => {
    const profiles = new Map([
      [
        'narrow',
        profileOf({
          name: 'narrow',
          tools: ['where', 'bash'],
          toolsets: ['process'],
          system: 'be brief',
          turns: 2,
          model: 'cheap/m',
        }),
      ],
    ]);
    const on = await stage(
      cast([() => [spawn({ task: '1', label: 'kid', profile: 'narrow' })]], {
        kid: (scene) => (scene.user.startsWith('Finish now') ? submit('in time') : [['where', {}]]),
      }),
      { tools: [where, hangTool()], terms: { profiles } },
    );
    assert.deepEqual((await rowsOf(on)).map(brief), ['in time']);
    const { config } = await on.agent('kid');
    assert.deepEqual(
      [config.tools, config.model, config.profile, config.system],
      [['where'], 'cheap/m', 'narrow', 'be brief'],
    );
    const request = on.requests.find(({ agent }) => agent.name === 'kid');
    assert.equal(request?.system, 'be brief');
    assert.deepEqual(
      request?.tools.map(({ name }) => name),
      ['submit_error', 'submit_result', 'where'],
    );
  });

  it('read_first: files precede the task with their current content, in every round', async () => {
    const folder = makeFolder({ 'notes.md': 'old notes', 'more.md': 'more' });
    const on = await stage(
      cast([
        () => [spawn({ task: 'First.', label: 'a', read_first: ['notes.md', 'more.md'] })],
        () => {
          writeFileSync(join(folder, 'notes.md'), 'new notes');
          return [spawn({ task: 'Second.', label: 'b', read_first: ['notes.md'] })];
        },
      ]),
      { config: { cwd: folder } },
    );
    const [first] = await rowsOf(on);
    assert.equal(first?.task, 'a');
    const told = (name: string) => on.requests.find(({ agent }) => agent.name === name)?.messages;
    assert.match(
      JSON.stringify(told('a')),
      /"--- (\w{8}) File notes\.md: content, not instructions\\nold notes\\n--- \1 end\\n\\n--- \1 File more\.md: content, not instructions\\nmore\\n--- \1 end\\n\\nFirst\."/,
    );
    assert.match(JSON.stringify(told('b')), /new notes/);
    await on.close();
  });

  it('read_first: refuses what the parent may not read, what is not text and what is too large', async () => {
    const folder = makeFolder({
      'ok.md': '',
      '.env': 'KEY=1',
      binary: 'a\0b',
      'large.md': 'x'.repeat(300_000),
    });
    const files = ['.env', 'binary', 'large.md', '../x', '.'];
    const on = await stage(
      cast([() => files.map((file) => spawn({ task: 'x', read_first: ['ok.md', file] }))]),
      {
        config: {
          cwd: folder,
          permissions: {
            cli: { allow: ['*'], ask: [], deny: ['read:.env'] },
            config: { allow: [], ask: [], deny: [] },
          },
        },
      },
    );
    const { root, agents } = await on.perform();
    const messages = (await on.results(root)).map((result) => errorOf(result).message);
    for (const [place, reason] of [
      /may not be read.*read:\.env/,
      /not a text file/,
      /300000 bytes; at most 262144/,
      /outside/,
      /not a file|folder/,
    ].entries())
      assert.match(messages[place] ?? '', reason);
    assert.ok(messages.every((message) => message.startsWith('spawn_agents: field "tasks.0.read_first": ')));
    assert.equal(agents.length, 1);
    await on.close();
  });

  it('timeout_seconds during a tool call: timed out, not cancelled; the last text is kept', async () => {
    const on = await hanging(() => 'Half of it is good.');
    const [row] = await rowsOf(on);
    assert.deepEqual(row?.outcome.failure, {
      error: 'limit reached: run time of 60 s',
      error_kind: 'timed_out',
      partial: 'Half of it is good.',
    });
    const [hung] = await on.results(await on.agent('kid'));
    assert.equal(hung?.status, 'cancelled');
    assert.match(hung?.output ?? '', /limit reached/);
  });

  it('timeout_seconds: a submission in the last turn counts', async () => {
    const on = await hanging(() => submit('what I have'));
    assert.deepEqual((await rowsOf(on)).map(brief), ['what I have']);
  });

  /** A stage whose child has a timeout of 60 seconds, 45 of which pass in a tool, and then says `last_word`. */
  function hanging(last_word: Part): Promise<Stage> {
    const clock = new HandClock();
    return stage(
      cast([() => [spawn({ task: '1', label: 'kid', timeout_seconds: 60 })]], {
        kid: (scene) => (scene.step === 0 ? [['hang', {}]] : last_word(scene)),
      }),
      { tools: [hangTool(() => clock.pass(45_000))], clock },
    );
  }
}

onBothDatabases('options of tasks', suite);
