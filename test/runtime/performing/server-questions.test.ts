/**
 * Proves, on both databases and both eras of the protocol, that a question of an MCP server during a call is a durable question in the queue of approvals:
 * answered once, by a person only, with values that fit its form; withdrawn with its call; and declined with a notice where nobody can be asked.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { it } from 'node:test';
import type { Ask } from '../../../src/records/conversation/ask.ts';
import { questionOf } from '../../../src/records/question/question.ts';
import { testingHost } from '../../tools/mcp-servers/servers.ts';
import { until } from '../../until.ts';
import { onBothDatabases } from '../both-databases.ts';
import { type ApprovalStage, approvalStage } from '../permissions/approval-stage.ts';
import type { Play, StageOptions } from '../stage.ts';

const PROGRAM = join(import.meta.dirname, '..', '..', 'servers', 'mcp-asking-server.ts');
const NONE = { allow: [], ask: [], deny: [] };

type Era = 'new' | 'old';

function withServer(era: Era, timeoutSeconds = 60): Partial<StageOptions> {
  const servers = { t: { command: process.execPath, args: [PROGRAM, era], timeoutSeconds } };
  const host = testingHost({ servers });
  const permissions = { cli: { ...NONE, allow: ['*'] }, config: NONE };
  return { openServers: async () => host, config: { tools: ['t__*'], permissions } };
}

/** A play that calls this tool once. */
const calling =
  (tool: string): Play =>
  ({ step }) =>
    step === 0 ? [[tool, { day: 'monday' }]] : 'done';

async function resultOf(on: ApprovalStage): Promise<{ readonly status: string; readonly output: string }> {
  const [result] = await on.results(await on.agent('main'));
  return { status: result?.status ?? '', output: result?.output ?? '' };
}

onBothDatabases('questions of MCP servers', (database) => {
  for (const era of ['new', 'old'] as const) {
    const stage = async (play: Play, timeout = 60, more: Partial<StageOptions> = {}) => {
      const options = withServer(era, timeout);
      return approvalStage(play, await database(), { ...options, ...more });
    };

    it(`${era}: a form is shown with its fields, and its values reach the server once`, async () => {
      const on = await stage(calling('t__book'));
      const root = await on.start();
      const [ask] = await on.asked(root);
      assert.deepEqual(
        [ask?.tool, ask?.subject_kind, ask?.rule],
        ['t__book', 'question', 'a question of the MCP server t'],
      );
      const question = questionOf(ask as Ask);
      assert.equal(question?.message, 'Which table?\nSay it exactly.');
      assert.match(question?.call ?? '', /^main: book \{"day":"monday"\}$/);
      assert.deepEqual(
        question?.fields.map(({ name, kind, required }) => [name, kind, required]),
        [
          ['name', 'text', true],
          ['guests', 'integer', true],
          ['smoking', 'boolean', false],
          ['room', 'choice', false],
          ['extras', 'choices', false],
        ],
      );
      const answer = (values: Record<string, string>) =>
        on.runtime.answer(ask?.id ?? '', { verdict: 'allow', scope: 'once', note: '', values });
      await assert.rejects(answer({}), /field "name" is missing; field "guests" is missing/);
      await assert.rejects(
        answer({ name: 'A', guests: '9', nobody: 'x' }),
        /no field "nobody".*at least 2 characters.*at most 8/,
      );
      await assert.rejects(on.allow(ask, 'agent'), /no rule can be granted/);
      assert.equal((await on.store.asks({ root_id: root.id, open: true })).length, 1, 'it is still open');
      await answer({ name: 'Ada', guests: '3', extras: 'cake,music' });
      await assert.rejects(answer({ name: 'Bob', guests: '1' }), { code: 'E_ASK_ANSWERED' });
      await on.runtime.settled(root.id);
      const said = JSON.parse((await resultOf(on)).output);
      assert.deepEqual(said, {
        action: 'accept',
        content: { name: 'Ada', guests: 3, smoking: false, extras: ['cake', 'music'] },
        done: 1,
      });
    });

    it(`${era}: a person declines with words, or puts it away`, async () => {
      for (const dismissed of [false, true]) {
        const on = await stage(calling('t__book'));
        const root = await on.start();
        const [ask] = await on.asked(root);
        const note = dismissed ? '' : 'not on mondays';
        await on.runtime.answer(ask?.id ?? '', { verdict: 'deny', scope: 'once', note, dismissed });
        await on.runtime.settled(root.id);
        const { output } = await resultOf(on);
        assert.match(output, dismissed ? /"action":"cancel"/ : /"action":"decline"/);
        assert.match(
          output,
          dismissed
            ? /\[Coppice\].* was dismissed/
            : /\[Coppice\].* the user declined it.* They say: not on mondays/,
        );
      }
    });

    it(`${era}: an address is shown and never opened; a yes without fields is enough`, async () => {
      const on = await stage(({ step }) =>
        step === 0 ? [['t__sure', {}]] : step === 1 ? [['t__visit', {}]] : 'done',
      );
      const root = await on.start();
      await on.allow((await on.asked(root))[0]);
      let ask: Ask | undefined;
      await until(async () => {
        [ask] = await on.store.asks({ root_id: root.id, open: true });
        return ask?.tool === 't__visit';
      }, 'the second question');
      assert.equal(questionOf(ask as Ask)?.url, 'https://login.example/start?x=1');
      await on.allow(ask);
      await on.runtime.settled(root.id);
      const results = await on.results(await on.agent('main'));
      assert.deepEqual(
        results.map(({ output }) => JSON.parse(output).action),
        ['accept', 'accept'],
      );
    });

    it(`${era}: the call has time while a person thinks`, async () => {
      const on = await stage(calling('t__book'), 0.4);
      const root = await on.start();
      const [ask] = await on.asked(root);
      await new Promise((resolve) => setTimeout(resolve, 1_200));
      const values = { name: 'Ada', guests: 2 };
      await on.runtime.answer(ask?.id ?? '', { verdict: 'allow', scope: 'once', note: '', values });
      await on.runtime.settled(root.id);
      assert.match((await resultOf(on)).output, /"action":"accept"/);
    });

    it(`${era}: an interrupt withdraws it`, async () => {
      const on = await stage(calling('t__book'));
      const root = await on.start();
      const [ask] = await on.asked(root);
      await on.runtime.interrupt(root.id, 'enough');
      await on.runtime.settled(root.id);
      const [after] = await on.store.findAsks(ask?.id ?? '');
      assert.equal(after?.verdict, 'void');
      await assert.rejects(on.allow(ask), { code: 'E_ASK_ANSWERED' });
    });

    it(`${era}: it is declined loudly where nobody can be asked`, async () => {
      const on = await stage(calling('t__book'), 60, { can_ask: false });
      const root = await on.start();
      await on.runtime.settled(root.id);
      const { output } = await resultOf(on);
      assert.match(output, /"action":"decline"/);
      assert.match(
        output,
        /\[Coppice\] the MCP server t asked .*; nobody can be asked in this run, so it was declined/,
      );
      const told = on.events.flatMap((event) => (event.type === 'notice' ? [event.text] : []));
      assert.match(told.join('\n'), /a question of the MCP server t was declined: Which table\?/);
      assert.deepEqual(await on.store.asks({ root_id: root.id }), []);
    });

    it(`${era}: with the process that asked, the question goes, and nothing is repeated`, async () => {
      const play = calling('t__book');
      const on = await stage(play);
      const root = await on.start();
      const [ask] = await on.asked(root);
      const again = await on.reopen(play, { ...withServer(era), can_ask: true });
      await again.runtime.resume(root.id);
      await again.runtime.settled(root.id);
      assert.equal((await again.results(await again.agent('main')))[0]?.status, 'interrupted');
      assert.equal((await again.store.findAsks(ask?.id ?? ''))[0]?.verdict, 'void');
    });
  }

  it('old: a server that stops waiting withdraws its question, and the call goes on', async () => {
    const on = await approvalStage(calling('t__impatient'), await database(), withServer('old'));
    const root = await on.start();
    await on.runtime.settled(root.id);
    assert.equal((await resultOf(on)).output.split('\n')[0], 'gave up asking');
    // It asks for 0.3 s, which a busy machine may take until the question is in the ledger.
    const asks = await on.store.asks({ root_id: root.id });
    assert.deepEqual(
      asks.filter(({ verdict }) => verdict !== 'void'),
      [],
    );
  });

  it('a grant for the tool answers no question, and text of anybody neither', async () => {
    const on = await approvalStage(
      ({ step }) => (step === 0 ? [['t__book', {}]] : 'done'),
      await database(),
      { ...withServer('new'), config: { tools: ['t__*'], permissions: { cli: NONE, config: NONE } } },
    );
    const root = await on.start();
    const [call] = await on.asked(root);
    assert.equal(call?.subject_kind, 'text');
    await assert.rejects(
      on.runtime.answer(call?.id ?? '', { verdict: 'allow', scope: 'once', note: '', values: { a: 'b' } }),
      /takes no values/,
    );
    await on.allow(call, 'agent');
    let ask: Ask | undefined;
    await until(async () => {
      [ask] = await on.store.asks({ root_id: root.id, open: true });
      return ask?.subject_kind === 'question';
    }, 'the question');
    await on.runtime.send(root.id, 'yes, book it for Ada, 3 guests');
    assert.equal((await on.store.findAsks(ask?.id ?? ''))[0]?.verdict, null);
    await on.deny(ask);
    await on.runtime.settled(root.id);
  });
});
