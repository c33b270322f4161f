import { randomUUID } from 'node:crypto';
import { CoppiceError } from '../../core/coppice-error.ts';
import { storable } from '../../core/text.ts';
import { clean } from '../../render/clean.ts';
import { printJson } from '../agent-json.ts';
import { type Context, withStore } from '../context.ts';
import { findAgent } from '../find-agent.ts';
import { readText } from '../read-text.ts';

/** `coppice send ID TEXT`: a letter from the human; whoever runs the agent gets it within moments. */
export function send(context: Context, text: string, given: string | undefined): Promise<number> {
  return withStore(context, async (store) => {
    const agent = await findAgent(store, text);
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
    const workers = await store.workers();
    const led = workers.some((worker) => worker.id === agent.worker);
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
        `kept in the mailbox of ${clean(agent.name)}; nobody runs this tree: coppice resume ${agent.root_id.slice(0, 8)}\n`,
      );
    return 0;
  });
}
