/**
 * Proves on both databases that one rule decides how the end of a child is reported in every vocabulary: an end by a limit says so
 * everywhere, an empty end is never a success, and a failure includes everything that the child said.
 */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { z } from 'zod';
import { runText } from '../../../src/records/run/run-end.ts';
import type { Tool } from '../../../src/records/tool.ts';
import { defineTool } from '../../../src/tools/define-tool.ts';
import { profileOf } from '../../kernel/toolsets/profile-fixture.ts';
import { onBothDatabases } from '../both-databases.ts';
import { bare, forked, type Line, type Play, parsed, type Scene, type Stage, setStage } from '../stage.ts';
import { type Row, rounds } from './fanout-stage.ts';
import { announced } from './sessions-play.ts';

const look = defineTool({
  name: 'look',
  description: 'Looks.',
  input: z.strictObject({}),
  run: () => 'nothing yet',
}) as Tool;

const LIMIT = 'limit reached: 2 model requests in one turn';
/** Calls `look` until it is told to finish. */
const eager = (scene: Scene): Line => (scene.user.startsWith('Finish now') ? 'Two so far.' : [['look', {}]]);
/** Makes a call, then ends with an empty answer. */
const silent = (scene: Scene): Line => (scene.step === 0 ? [['look', {}]] : '');

interface Letter {
  readonly message?: string;
  readonly completion?: { readonly summary?: string; readonly error?: string };
}

onBothDatabases('the end of a child', (database) => {
  async function perform(toolset: string, play: Play): Promise<Stage> {
    const on = await setStage(play, {
      toolsets: [toolset],
      tools: [look],
      terms: { profiles: new Map([['brief', profileOf({ name: 'brief', turns: 2 })]]) },
      database: await database(),
    });
    await on.perform();
    return on;
  }

  async function root(on: Stage) {
    const [agent] = await on.store.agents({ conversations: true });
    assert.ok(agent);
    return agent;
  }

  /** A play in which the root makes one call, and ends when it has been told of its child's end. */
  const calling =
    (call: readonly [string, unknown], child: Play): Play =>
    (scene) => {
      if (scene.name !== 'main') return child(scene);
      return scene.step === 0 ? [call] : 'done';
    };

  const tasks = [{ task: 't', label: 'kid', profile: 'brief' }];

  it('spawn_agents: the result names the limit', async () => {
    const on = await perform('fanout', calling(['spawn_agents', { tasks }], eager));
    const [row] = (await rounds(on, await root(on))).flat() as [Row];
    assert.deepEqual(row.outcome, { success: { result: 'Two so far.', limit: LIMIT } });
  });

  it('sessions_spawn: the announcement, the history and what is delivered name the limit', async () => {
    const call = ['sessions_spawn', { task: 't', label: 'kid', profile: 'brief' }] as const;
    const on = await perform('sessions', calling(call, eager));
    const text = `[Subagent: kid] Cut short: ${LIMIT}\n\nWhat it had by then:\nTwo so far.`;
    assert.deepEqual(await announced(on, await root(on)), [text]);
    const [run] = await on.store.runs({});
    assert.ok(run);
    assert.deepEqual([run.status, run.result, run.error], ['completed', 'Two so far.', LIMIT]);
    assert.equal(runText(run), text);
  });

  it('subagent_spawn: the result and the history name the limit', async () => {
    const call = ['subagent_spawn', { task: 't', description: 'kid', maxTurns: 2 }] as const;
    const on = await perform('delegate', calling(call, eager));
    const [result] = await on.results(await root(on));
    assert.equal(
      bare(result?.output ?? ''),
      `the sub-agent was cut short: ${LIMIT}\n\nWhat it had by then:\nTwo so far.`,
    );
    const [run] = await on.store.runs({});
    assert.deepEqual([run?.status, run?.error], ['completed', LIMIT]);
  });

  it('fork: the row of wait names the limit once; the next turn of the child is not affected', async () => {
    const waitFor = (scene: Scene): Line => [['wait', { timeout: 60, from_agents: forked(scene) }]];
    const on = await perform('process', (scene) => {
      if (scene.name === 'kid') return scene.user.includes('again') ? 'All of it.' : eager(scene);
      if (scene.step === 0) return [['fork', { name: 'kid', prompt: 'look', profile: 'brief' }]];
      if (scene.step === 1 || scene.step === 3) return waitFor(scene);
      if (scene.step === 2) return [['send', { to: forked(scene)[0], message: 'again' }]];
      return 'done';
    });
    const waits = (await on.results(await root(on))).filter(({ name }) => name === 'wait').map(parsed);
    const rows = waits.map(({ results }) => (results as Record<string, unknown>[])[0]);
    assert.deepEqual([rows[0]?.last_reply, rows[0]?.limit], ['Two so far.', LIMIT]);
    assert.deepEqual([rows[1]?.last_reply, rows[1]?.limit], ['All of it.', undefined]);
  });

  it('slash: a child that a limit stopped is reported as cut short, with all its text of that turn', async () => {
    const mail: string[] = [];
    await perform('slash', (scene) => {
      if (scene.name !== 'main') return eager(scene);
      if (scene.last[0]?.output.includes('completion') === true) mail.push(scene.last[0].output);
      if (scene.step === 0) return [['slash', { command: 'fork --profile brief' }]];
      return scene.user.startsWith('got mail') && mail.length === 0
        ? [['slash', { command: 'check-mail' }]]
        : 'done';
    });
    const [letter] = JSON.parse(mail[0] ?? '[]') as { readonly completion: object }[];
    assert.deepEqual(letter?.completion, {
      status: 'idle',
      success: false,
      outcome: 'cut_short',
      error: LIMIT,
      partial: 'Two so far.',
    });
  });

  /** Runs a `slash` parent that forks once by `command` and checks its mail at each notice; returns the stage and the letters that the parent read. */
  async function letters(command: string, child: Play, more: Play = () => 'done') {
    const read: Letter[] = [];
    const on = await perform('slash', (scene) => {
      if (scene.name.startsWith('sibling')) return 'I wait.';
      if (scene.name !== 'main') return child(scene);
      const reads = scene.request.messages.at(-1)?.role === 'results';
      const shown = reads ? (scene.last[0]?.output ?? '') : '';
      if (shown.startsWith('[{')) read.push(...(JSON.parse(shown) as Letter[]));
      if (scene.step === 0) return [['slash', { command }]];
      return scene.user.startsWith('got mail') && !shown.startsWith('[{')
        ? [['slash', { command: 'check-mail' }]]
        : more(scene);
    });
    return { on, read };
  }

  it('slash: a child that was forked with a prompt and ends in text is reported with it, once', async () => {
    const { on, read } = await letters('fork do it', (scene) =>
      scene.step === 0 ? [['look', {}]] : 'Nothing is there.',
    );
    const told = { status: 'idle', success: true, summary: 'Nothing is there.' };
    assert.deepEqual(
      read.map(({ completion }) => completion),
      [told],
    );
    const child = (await on.store.agents({})).find(({ name }) => name === 'do-it');
    assert.ok(child);
    await on.runtime.send(child.id, 'and you, how are you?');
    await on.runtime.settled(child.root_id);
    assert.equal((await on.store.mail(child.root_id, true)).length, 2, 'every end of a turn is told');
  });

  it('slash: a letter to the parent is a report, one to a sibling is not', async () => {
    for (const target of ['parent', 'sibling'] as const) {
      const { read } = await letters(
        'fork sibling',
        (scene) => {
          const to =
            target === 'parent'
              ? scene.parent_id
              : (/UUID of your sibling: (\S+)/.exec(scene.user)?.[1] ?? '');
          return scene.step === 0 ? [['slash', { command: `send ${to} It is 7.` }]] : 'Told them.';
        },
        (scene) =>
          scene.step === 1
            ? [['slash', { command: `fork do it. UUID of your sibling: ${scene.results[0]?.output}` }]]
            : 'done',
      );
      const said = read.map(({ message, completion }) => message ?? completion?.summary);
      const expected = target === 'parent' ? ['I wait.', 'It is 7.'] : ['I wait.', 'I wait.', 'Told them.'];
      assert.deepEqual(said.toSorted(), expected);
    }
  });

  it('slash: the last words of every turn are told, and only those of the child itself', async () => {
    const { read } = await letters('fork do it', (scene) => {
      if (scene.name === 'part') return 'A part.';
      if (scene.step === 0) return [['slash', { command: 'fork part' }]];
      if (scene.last[0]?.output.startsWith('[{')) return 'The whole.';
      return scene.user.startsWith('got mail')
        ? [['slash', { command: 'check-mail' }]]
        : 'My child is at it.';
    });
    assert.deepEqual(
      read.map(({ completion }) => completion?.summary),
      ['My child is at it.', 'The whole.'],
    );
  });

  it('slash: the end of a task is reported, even if a letter for the next turn has already arrived', async () => {
    for (const [command, first] of [
      ['fork do it', { summary: 'Two so far.' }],
      ['fork --profile brief do it', { error: LIMIT }],
    ] as const) {
      const { promise: written, resolve: wrote } = Promise.withResolvers<void>();
      const { read } = await letters(
        command,
        async (scene) => {
          if (scene.user.startsWith('got mail')) return 'Thanks.';
          await written;
          return 'error' in first ? eager(scene) : 'Two so far.';
        },
        (scene) => {
          if (scene.step === 1) return [['slash', { command: `send ${scene.results[0]?.output} go on` }]];
          wrote();
          return 'done';
        },
      );
      const told = read.map(({ completion }) => completion?.error ?? completion?.summary);
      assert.deepEqual(told, [...Object.values(first), 'Thanks.']);
    }
  });

  it('a child that ends without text is a failure in every vocabulary', async () => {
    const fanout = await perform('fanout', calling(['spawn_agents', { tasks: [{ task: 't' }] }], silent));
    const [row] = (await rounds(fanout, await root(fanout))).flat();
    assert.equal(row?.outcome.failure?.error_kind, 'no_result');

    const sessions = await perform('sessions', calling(['sessions_spawn', { task: 't' }], silent));
    assert.match(
      (await announced(sessions, await root(sessions)))[0] ?? '',
      /Failed: the model answered with nothing/,
    );

    const call = ['subagent_spawn', { task: 't', description: 'kid' }] as const;
    const delegate = await perform('delegate', calling(call, silent));
    const [result] = await delegate.results(await root(delegate));
    assert.deepEqual(
      [result?.status, bare(result?.output ?? '')],
      ['error', 'the sub-agent failed (empty): the model answered with nothing, twice'],
    );

    const process = await perform('process', (scene) => {
      if (scene.name === 'kid') return silent(scene);
      if (scene.step === 0) return [['fork', { name: 'kid', prompt: 'look' }]];
      return scene.step === 1 ? [['wait', { timeout: 60, from_agents: forked(scene) }]] : 'done';
    });
    const waited = parsed((await process.results(await root(process))).at(-1));
    const [idle] = waited.results as Record<string, unknown>[];
    assert.deepEqual(
      [idle?.status, idle?.error, idle?.last_reply],
      ['idle', 'the model answered with nothing, twice', undefined],
    );
  });
});
