import { count } from '../../render/amounts.ts';
import { clean } from '../../render/clean.ts';
import { countsText } from '../../trees/workflow/run-document.ts';
import { ask } from '../setup/ask-server.ts';
import type { Context } from '../setup/context.ts';
import { printResult } from '../setup/output.ts';

/** `coppice workflow show RUN`: its agents by phase, failures first. */
export async function workflowShow(context: Context, text: string): Promise<number> {
  const document = await ask(context, (asked) => asked.workflowRun(text));
  const { name, outcome_text, counts, phases, refused, agents } = document;
  return printResult(context, document, () => [
    `${clean(name)}: ${clean(outcome_text)}; ${countsText(counts)}`,
    ...phases
      .filter((one) => one.agents > 0)
      .map(
        (one) =>
          `  ${clean(one.title ?? '(no phase)')}  ${one.done}/${one.agents}${one.failed > 0 ? `, ${one.failed} failed` : ''}  ${count(one.tokens)} tokens${(one.cost_usd ?? 0) > 0 ? `, $${(one.cost_usd ?? 0).toFixed(4)}` : ''}`,
      ),
    ...refused.map(({ label, reason }) => `  refused   ${clean(label)}  ${clean(reason)}`),
    ...agents
      .filter(({ error, outcome }) => error !== null || outcome !== 'done' || document.outcome !== 'done')
      .map((agent) => `  ${agent.id.slice(0, 8)}  ${clean(agent.label)}  ${clean(agent.outcome_text)}`),
  ]);
}
