// Proves that a tree of each vocabulary can be cut at every message and goes on from there as it went on, with the laws of the ledger kept, on both databases:
// with letters on their way, waits open, and children that report later.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Agent } from '../../../src/records/agent/agent.ts';
import { onBothDatabases, stagesOn } from '../../runtime/both-databases.ts';
import { forked, type Play } from '../../runtime/stage.ts';
import { assertLawful, assertSameFrom, placesOf, story } from './cut-trees.ts';

const PLAYS: Readonly<Record<string, { readonly toolsets: readonly string[]; readonly play: Play }>> = {
  process: {
    toolsets: ['process'],
    play: (scene) => {
      if (scene.name !== 'main')
        return scene.step === 0 ? [['send', { to: scene.parent_id, message: `I am ${scene.name}` }]] : 'told';
      if (scene.step === 0)
        return [
          ['fork', { name: 'a', prompt: 'count' }],
          ['fork', { name: 'b', prompt: 'count' }],
        ];
      return scene.step === 1 ? [['wait', { timeout: 60, from_agents: forked(scene) }]] : 'both have told';
    },
  },
  fanout: {
    toolsets: ['fanout'],
    play: (scene) => {
      if (scene.name !== 'main') return [['submit_result', { result: `done by ${scene.name}` }]];
      const tasks = ['a', 'b', 'c'].map((label) => ({ task: `do ${label}`, label }));
      return scene.step === 0 ? [['spawn_agents', { tasks }]] : 'all are in';
    },
  },
  sessions: {
    toolsets: ['sessions'],
    play: (scene) => {
      if (scene.name !== 'main') return `done by ${scene.name}`;
      if (scene.step === 0) return [['sessions_spawn', { task: 'do a', label: 'a' }]];
      return `answer ${scene.step}`;
    },
  },
  delegate: {
    toolsets: ['delegate'],
    play: (scene) => {
      if (scene.name !== 'main') return `done by ${scene.name}`;
      if (scene.step === 0)
        return [
          ['subagent_spawn', { task: 'do a', description: 'a' }],
          ['subagent_spawn', { task: 'do b', description: 'b' }],
        ];
      return 'both are done';
    },
  },
  slash: {
    toolsets: ['slash'],
    play: (scene) => {
      if (scene.name !== 'main') return 'found it';
      if (scene.step === 0) return [['slash', { command: 'fork look for it' }]];
      if (scene.user.startsWith('got mail') && scene.last.length === 0)
        return [['slash', { command: 'check-mail' }]];
      return 'well';
    },
  },
  tasks: {
    toolsets: ['process', 'tasks'],
    play: (scene) => {
      const calls: readonly [string, object][] = [
        ['task_add', { title: 'one' }],
        ['task_add', { title: 'two', depends_on: [1] }],
        ['task_list', {}],
        ['task_add', { title: 'three', blocks: [2] }],
        ['task_claim', {}],
        ['task_release', { number: 1 }],
        ['task_list', {}],
        ['task_claim', {}],
        ['task_done', { number: 1, result: 'the first' }],
        ['task_claim', {}],
        ['task_done', { number: 3 }],
        ['task_claim', {}],
        ['task_done', { number: 2 }],
      ];
      const call = calls[scene.step];
      return call === undefined ? 'all is done' : [call];
    },
  },
};

onBothDatabases('a tree that is cut anywhere', (database) => {
  const setStage = stagesOn(database);
  for (const [name, { toolsets, play }] of Object.entries(PLAYS))
    it(`${name}: it becomes the same tree`, async () => {
      const stage = await setStage(play, { toolsets });
      const { root } = (await stage.perform()) as { root: Agent };
      await assertLawful(stage.store, root.id);
      const places = await placesOf(stage.store, root.id);
      assert.ok(places.length > 5, await story(stage.store, root.id));
      await assertSameFrom(stage, root.id, places);
    });
});
