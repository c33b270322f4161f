// Proves that a child whose profile requires evidence cannot submit without it, and that only a recorded call after the last file change is evidence.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { missingEvidence } from '../../../src/records/agent/deeds-line.ts';
import { createBuiltInTools } from '../../../src/tools/tool-registry.ts';
import { profileOf } from '../../kernel/toolsets/profile-fixture.ts';
import { temporaryFolder } from '../../temporary-folder.ts';
import { unframed } from '../../unframed.ts';
import { onBothDatabases } from '../both-databases.ts';
import { forked, type Line, parsed, type Scene, type Stage, setStage } from '../stage.ts';
import { brief, rounds, submit } from './fanout-stage.ts';
import { announced } from './sessions-play.ts';

const profile = profileOf({ name: 'tester', require: ['bash:./check exit 0'] });
const terms = { profiles: new Map([['tester', profile]]) };
const run = (command: string): Line => [['bash', { command }]];
const write = (path: string): Line => [['write', { path, content: '' }]];
const MISSING = 'required evidence missing: bash:./check exit 0';

onBothDatabases('required evidence', (database) => {
  /** The root makes one call; its child says these lines, then repeats the last one. `./check` succeeds if the file `fixed` exists. */
  async function perform(
    toolset: string,
    call: readonly [string, unknown],
    lines: readonly Line[],
    next: (scene: Scene) => Line = () => 'done',
  ): Promise<Stage> {
    const cwd = temporaryFolder();
    writeFileSync(join(cwd, 'check'), '#!/bin/sh\ntest -e fixed\n', { mode: 0o755 });
    const on = await setStage(
      (scene) => {
        if (scene.name === 'main') return scene.step === 0 ? [call] : next(scene);
        return lines[scene.step] ?? (lines.at(-1) as Line);
      },
      {
        toolsets: [toolset],
        tools: createBuiltInTools(),
        terms,
        config: { cwd },
        database: await database(),
      },
    );
    await on.perform();
    return on;
  }
  const spawn = ['spawn_agents', { tasks: [{ task: 't', profile: 'tester', label: 'kid' }] }] as const;
  const fanout = async (...lines: Line[]) => {
    const on = await perform('fanout', spawn, lines);
    const [row] = (await rounds(on, await on.agent('main'))).flat();
    assert.ok(row);
    const answers = (await on.results(await on.agent('kid'))).filter(({ name }) => name === 'submit_result');
    return { said: brief(row), row, refusals: answers.filter(({ status }) => status === 'error') };
  };

  it('a submission is refused until the call was made and ended as required; nothing else proves it', async () => {
    const { said, row, refusals } = await fanout(
      write('fixed'),
      submit('too early'),
      run('./check || true'),
      run('echo ./check'),
      submit('not proved'),
      run('./check'),
      submit('proved'),
    );
    assert.equal(said, 'proved');
    assert.equal(refusals.length, 2);
    assert.match(
      refusals[0]?.output ?? '',
      new RegExp(`^${MISSING}\\. Make these calls after your last change`),
    );
    assert.doesNotMatch(row.did, /missing/);
  });

  it('a call that failed, or that came before a change of a file by a tool or by a command, proves nothing', async () => {
    for (const spoiling of [write('other'), run('echo x > other'), run('rm fixed; ./check')]) {
      const { said, row } = await fanout(write('fixed'), run('./check'), spoiling, submit('done'));
      assert.equal(said, `no_evidence: ${MISSING}`);
      assert.equal(row.outcome.failure?.partial, 'done', 'what it had is kept');
      assert.match(row.did, new RegExp(MISSING));
    }
    const { said } = await fanout(run('./check'), submit('done'));
    assert.equal(said, `no_evidence: ${MISSING}`);
    const harmless = await fanout(
      write('fixed'),
      run('./check'),
      run('cat fixed 2> /dev/null'),
      submit('done'),
    );
    assert.equal(harmless.said, 'done');
  });

  it('the third submission without it ends the child, and so do mere words', async () => {
    const { said, refusals } = await fanout(submit('one'), submit('two'), submit('three'), submit('four'));
    assert.deepEqual([said, refusals.length], [`no_evidence: ${MISSING}`, 3]);
    assert.equal((await fanout('It works.')).said, `no_evidence: ${MISSING}`);
  });

  it('a child that submits nothing ends with its words, and its result says what is missing', async () => {
    const sessions = await perform(
      'sessions',
      ['sessions_spawn', { task: 't', profile: 'tester' }],
      ['It works.'],
    );
    const [told] = await announced(sessions, await sessions.agent('main'), unframed);
    assert.match(told ?? '', new RegExp(`Complete\\.\n\nIt works\\.\n\n\\[Did: 0 tool calls; ${MISSING}; `));
    const waits = (scene: Scene): Line =>
      scene.step === 1 ? [['wait', { timeout: 60, from_agents: forked(scene) }]] : 'done';
    const fork = ['fork', { name: 'kid', prompt: 't', profile: 'tester' }] as const;
    for (const [lines, missing] of [
      [['It works.'], true],
      [[write('fixed'), run('./check'), 'It works.'], false],
    ] as const) {
      const on = await perform('process', fork, lines, waits);
      const [row] = parsed((await on.results(await on.agent('main')))[1]).results as { did: string }[];
      assert.equal(row?.did.includes(MISSING), missing, row?.did);
      const kid = await on.agent('kid');
      assert.equal(
        missingEvidence(kid.config, 'deeds' in kid.state ? kid.state.deeds : {}).length,
        missing ? 1 : 0,
      );
    }
  });
});
