import { randomUUID } from 'node:crypto';
import { CoppiceError } from '../../records/coppice-error.ts';
import { storable } from '../../records/text/text.ts';
import { clean } from '../../render/clean.ts';
import { livingWorkers } from '../../serve/leading/leaders.ts';
import { unledOf, unledText } from '../../serve/leading/unled.ts';
import { type Context, withStore } from '../setup/context.ts';
import { printJson } from '../setup/output.ts';
import { readText } from '../setup/standard-input.ts';
import { findAgent } from './find-agent.ts';

/** `coppice send ID TEXT`: mail from the human; the process that leads the agent is woken. */
export function send(context: Context, text: string, given: string | undefined): Promise<number> {
  return withStore(context, async (store) => {
    const agent = await findAgent(context, store, text, { living: true });
    const body = storable(await readText(given, 'message'));
    const result = await store.send({
      id: randomUUID(),
      root_id: agent.root_id,
      to_id: agent.id,
      from_id: null,
      from_name: 'you',
      kind: 'letter',
      body,
      sent_at: Date.now(),
    });
    if (!result.ok) {
      throw new CoppiceError('E_AGENT_DEAD', `${agent.name} has ended and reads no mail`, {
        hint: 'See the living ones: coppice ps',
      });
    }
    const led = (await livingWorkers(store)).some((worker) => worker.id === agent.worker);
    const unled = led ? null : await unledOf(context, store, agent.root_id);
    if (context.json)
      printJson({
        schema: 'coppice/mail/v1',
        id: result.mail.id,
        to: agent.id,
        number: result.mail.number,
        running: led,
      });
    else if (led) process.stdout.write(`sent to ${clean(agent.name)}\n`);
    else
      process.stdout.write(
        `kept in the mailbox of ${clean(agent.name)}; ${unled === null ? 'whoever serves takes it' : unledText(unled)}\n`,
      );
    return 0;
  });
}
