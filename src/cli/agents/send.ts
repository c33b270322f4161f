import { storable } from '../../records/text/text.ts';
import { clean } from '../../render/clean.ts';
import { unledText } from '../../trees/leaders/unled-reason.ts';
import { ask } from '../setup/ask-server.ts';
import type { Context } from '../setup/context.ts';
import { printResult } from '../setup/output.ts';
import { readText } from '../setup/standard-input.ts';
import { findAgent } from './find-agent.ts';

/** `coppice compact ID`: orders the process that leads the agent to summarise its conversation. */
export function compact(context: Context, text: string, { keep = '' }: { keep?: string }): Promise<number> {
  return ask(context, async (asked) => {
    const { id, name } = await findAgent(context, asked, text);
    const ordered = await asked.compact(id, { keep: storable(keep) });
    return printResult(context, ordered, () => [
      `the conversation of ${clean(name)} is summarised before its next request`,
    ]);
  });
}

/** `coppice send ID TEXT`: sends mail from the human, and wakes the process that leads the agent. */
export function send(context: Context, text: string, given: string | undefined): Promise<number> {
  return ask(context, async (asked) => {
    const { id, name } = await findAgent(context, asked, text);
    const sent = await asked.send(id, { text: storable(await readText(given, 'message')) });
    const unled = sent.running ? null : (await asked.agent(id)).unled;
    const who = unled === null ? 'a server or worker takes over its tree' : unledText(unled);
    return printResult(context, sent, () => [
      sent.running ? `sent to ${clean(name)}` : `kept in the mailbox of ${clean(name)}; ${who}`,
    ]);
  });
}
