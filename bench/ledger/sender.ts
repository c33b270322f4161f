import { randomUUID } from 'node:crypto';
import type { NewMail } from '../../src/records/conversation/mail.ts';
import { openStore } from '../../src/store/open-store.ts';
import { StoreError } from '../../src/store/store-error.ts';
import { inParallel } from './in-parallel.ts';

/** A process that sends letters on a message of its parent, `concurrency` at a time; each counts once the ledger has acknowledged it. */
const [url = '', count = '', concurrency = '', ...recipients] = process.argv.slice(2);
const store = await openStore(url);

/** Retries without limit: another process may lock the file for long, and sending is idempotent. */
async function retried<T>(work: () => Promise<T>): Promise<T> {
  for (;;)
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof StoreError && error.retryable)) throw error;
    }
}

const agents = await Promise.all(recipients.map((id) => store.agent(id)));
process.once('message', async () => {
  await inParallel(Array.from({ length: Number(count) }), Number(concurrency), async (_, index) => {
    const to = agents[index % agents.length];
    if (to == null) throw new Error('no recipient');
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
    const sent = await retried(() => store.send(mail));
    if (!sent.ok) throw new Error(JSON.stringify(sent));
  });
  process.send?.('sent');
  await store.close();
  process.disconnect();
});
process.send?.('ready');
