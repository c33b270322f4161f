import { randomUUID } from 'node:crypto';
import { CoppiceError } from '../../records/coppice-error.ts';
import { storable } from '../../records/text/text.ts';
import { clean } from '../../render/clean.ts';
import { livingWorkers } from '../../serve/leading/leaders.ts';
import { unledOf, unledText } from '../../serve/leading/unled.ts';
import type { Store } from '../../store/store.ts';
import { type Context, fromEither } from '../setup/context.ts';
import { printJson } from '../setup/output.ts';
import { readText } from '../setup/standard-input.ts';
import { findAgent } from './find-agent.ts';

/** `coppice send ID TEXT`: mail from the human; the process that leads the agent is woken. */
export async function send(context: Context, text: string, given: string | undefined): Promise<number> {
  const { name, unled, ...mail } = await fromEither(
    context,
    (store) => sendHere(context, store, text, given),
    async (client) => {
      const { id, name } = await client.agent(text);
      const { schema: _, ...sent } = await client.send(id, {
        text: storable(await readText(given, 'message')),
      });
      return { ...sent, name, unled: sent.running ? null : (await client.agent(id)).unled };
    },
  );
  if (context.json) printJson({ schema: 'coppice/mail/v1', ...mail });
  else if (mail.running) process.stdout.write(`sent to ${clean(name)}\n`);
  else
    process.stdout.write(
      `kept in the mailbox of ${clean(name)}; ${unled === null ? 'whoever serves takes it' : unledText(unled)}\n`,
    );
  return 0;
}

async function sendHere(context: Context, store: Store, text: string, given: string | undefined) {
  const agent = await findAgent(context, store, text, { living: true });
  const result = await store.send({
    id: randomUUID(),
    root_id: agent.root_id,
    to_id: agent.id,
    from_id: null,
    from_name: 'you',
    kind: 'letter',
    body: storable(await readText(given, 'message')),
    sent_at: Date.now(),
  });
  if (!result.ok) {
    throw new CoppiceError('E_AGENT_DEAD', `${agent.name} has ended and reads no mail`, {
      hint: 'See the living ones: coppice ps',
    });
  }
  const running = (await livingWorkers(store)).some((worker) => worker.id === agent.worker);
  const unled = running ? null : await unledOf(context, store, agent.root_id);
  return { id: result.mail.id, to: agent.id, number: result.mail.number, running, name: agent.name, unled };
}
