import { setTimeout as sleep } from 'node:timers/promises';
import { clean } from '../../render/clean.ts';
import { paint } from '../../render/style.ts';
import { ask } from '../setup/ask-server.ts';
import type { Context } from '../setup/context.ts';
import { printResult } from '../setup/output.ts';

/** Pause between requests: each indexes a part of what was written since the last search. */
const PAUSE_MS = 50;

/** `coppice search WORDS…`: messages of all trees, newest first. */
export function search(context: Context, words: readonly string[]): Promise<number> {
  const q = words.join(' ');
  return ask(context, async (asked) => {
    let document = await asked.search({ q });
    while (!document.complete) {
      await sleep(PAUSE_MS);
      document = await asked.search({ q });
    }
    return printResult(context, document, () => [
      ...document.hits.map(({ title, agent, agent_id, seq, text }) => {
        const place = `${clean(agent)} ${agent_id.slice(0, 8)} #${seq} · ${clean(title)}`;
        return `${paint(context.out, 'dim', place)}\n  ${clean(text)}`;
      }),
      ...(document.hits.length === 0 ? ['nothing was found'] : []),
      ...(document.next === null ? [] : ['and more: add words']),
    ]);
  });
}
