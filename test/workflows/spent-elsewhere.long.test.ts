// Proves, on both databases, that `budget.spent()` counts what an agent of the script has spent in another operating-system process as soon as its end is told.
import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, it } from 'node:test';
import type { AgentConfig } from '../../src/records/agent/agent.ts';
import { isWorking } from '../../src/records/agent/state.ts';
import { openStore } from '../../src/store/open-store.ts';
import { alwaysOnBothDatabases } from '../runtime/both-databases.ts';
import { WITHOUT_POLLS } from '../runtime/no-polls.ts';
import { setStage } from '../runtime/stage.ts';
import { LeaderProcess } from '../runtime/waits/apart/leader-process.ts';
import { ToldLedger } from '../runtime/waits/told-ledger.ts';
import { memoryFolder } from '../temporary-folder.ts';
import { until } from '../until.ts';
import { termsOf, workflowHost } from './staged-workflow.ts';

const WORKFLOW = termsOf(
  "const before = budget.spent(); await agent('slow'); return [before, budget.spent()]",
);
/** What a played model says that it used. */
const SPENT = 12;
const BUDGETS: Readonly<Record<string, Partial<AgentConfig>>> = {
  'of its tree': {},
  'of its own': { budgets: [{ agent_id: '', tokens: 100_000 }] },
};

alwaysOnBothDatabases('what was spent elsewhere', (database) => {
  const folder = memoryFolder('spent');
  let url: string;
  let run: LeaderProcess;
  let agents: LeaderProcess;
  let ledger: ToldLedger;
  before(async () => {
    url = (await database()) ?? `sqlite:${join(folder, 'ledger.db')}`;
    ledger = await ToldLedger.open(url);
    [run, agents] = await Promise.all([LeaderProcess.start(url, folder), LeaderProcess.start(url, folder)]);
  });
  after(async () => {
    await Promise.all([run.end(), agents.end()]);
    await ledger.close();
    rmSync(folder, { recursive: true, force: true });
  });

  for (const [whose, config] of Object.entries(BUDGETS))
    for (const is_led of [true, false])
      it(`the budget ${whose}, ${is_led ? 'while the run is led' : 'while the run is taken over'}`, async () => {
        const store = await openStore(url, { polls: false });
        const first = await setStage(() => Promise.withResolvers<string>().promise, {
          ...{ ground: { store, folder }, clock: WITHOUT_POLLS, workflows: workflowHost() },
          config: { ...config, workflow: WORKFLOW },
        });
        const { id } = await first.start();
        const child = async () => (await store.agents({ root_id: id })).find((one) => one.id !== id);
        await until(async () => (await child())?.state.type === 'requesting', 'its agent asks its model');
        const { id: child_id } = (await child()) ?? assert.fail('it has no agent');
        await ledger.lend(id, run.worker_id);
        await ledger.lend(child_id, agents.worker_id);
        const claimed = is_led ? null : run.hold({ what: 'claim', id }, 'acknowledged');
        const resumed = run.act('resume', id);
        await (claimed?.reached ?? resumed);
        await agents.act('resume', id);
        await agents.answer(child_id, 'done');
        await until(async () => !isWorking((await child())?.state.type ?? 'idle'), 'its agent has ended');
        claimed?.go();
        await resumed;
        await until(async () => (await store.agent(id))?.state.type === 'idle', 'the run has ended');
        const told = (await store.history(id)).findLast(({ kind }) => kind === 'assistant');
        const text =
          told?.kind === 'assistant' ? told.content.parts.find(({ type }) => type === 'text') : null;
        assert.deepEqual(text?.type === 'text' && JSON.parse(text.text), [0, SPENT]);
        await first.close();
        await store.close();
      });
});
