// Proves on both databases that a run that another process now leads takes no slot in the process that lost it: neither while it works there nor after a kill.
import { join } from 'node:path';
import { it } from 'node:test';
import { DEFAULT_TERMS } from '../../../src/kernel/toolsets/toolset-terms.ts';
import { openStore } from '../../../src/store/open-store.ts';
import { temporaryFolder } from '../../temporary-folder.ts';
import { until } from '../../until.ts';
import { onBothDatabases } from '../both-databases.ts';
import { type Line, setStage } from '../stage.ts';
import { playOf, spawn } from '../toolsets/sessions-play.ts';

const PLACES = { runs: { ...DEFAULT_TERMS.runs, max_concurrent: 1 } };

onBothDatabases('the place of a run that another process leads', (database) => {
  for (const then of ['works there', 'was killed there'])
    it(`is free while the run ${then}`, async () => {
      const url = (await database()) ?? `sqlite:${join(temporaryFolder(), 'ledger.db')}`;
      const answers: ((said: Line) => void)[] = [];
      const play = playOf([spawn('slow')], () => new Promise<Line>((resolve) => answers.push(resolve)));
      const options = { database: url, toolsets: ['sessions'], terms: PLACES };
      const [left, right] = [await setStage(play, options), await setStage(play, options)];
      const root = await left.start();
      await until(() => answers.length === 1, 'the run works');
      const [run] = await left.store.agents({ parent_id: root.id });

      const ledger = await openStore(url);
      await ledger.release(left.runtime.worker_id);
      await ledger.close();
      await right.runtime.resume(root.id);
      await until(() => answers.length === 2, 'it works in the other process');
      // The process that lost the run learns so from its next, refused write.
      answers[0]?.('too late');
      await until(
        () =>
          left.events.some(
            (event) =>
              event.type === 'agent' &&
              event.agent.id === run?.id &&
              event.agent.worker === right.runtime.worker_id,
          ),
        'it learns who leads the run',
      );
      if (then === 'was killed there') await right.runtime.kill(run?.id ?? '');

      await left.start();
      await until(() => answers.length === 3, 'the next run begins');
    });
});
