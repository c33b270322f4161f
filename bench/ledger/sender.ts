import { randomUUID } from 'node:crypto';
import type { NewMail } from '../../src/records/conversation/mail.ts';
import { openStore } from '../../src/store/open-store.ts';
import { StoreError } from '../../src/store/store-error.ts';
import { inLanes } from './in-lanes.ts';

/** Sends letters from a process of its own as soon as it is told to, so many at once; each counts when the ledger has acknowledged it. */
const [url = '', count = '', lanes = '', ...recipients] = process.argv.slice(2);
const store = await openStore(url);

/** Others may keep a file locked for long; the same letter again is the same letter. */
async function patiently<T>(work: () => Promise<T>): Promise<T> {
  for (;;)
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof StoreError && error.retryable)) throw error;
    }
}

const agents = await Promise.all(recipients.map((id) => store.agent(id)));
process.once('message', async () => {
  await inLanes(Array.from({ length: Number(count) }), Number(lanes), async (_, index) => {
    const to = agents[index % agents.length];
    if (to == null) throw new Error('nobody is there');
    const mail: NewMail = {
      id: randomUUID(),
      root_id: to.root_id,
      to_id: to.id,
      from_id: null,
      from_name: 'you',
      kind: 'letter',
      body: 'the next thing to do',
      sent_at: Date.now(),
    };
    const sent = await patiently(() => store.send(mail));
    if (!sent.ok) throw new Error(JSON.stringify(sent));
  });
  process.send?.('sent');
  await store.close();
  process.disconnect();
});
process.send?.('ready');
