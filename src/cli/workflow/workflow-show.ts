import { count } from '../../render/amounts.ts';
import { clean } from '../../render/clean.ts';
import { countsText, workflowRunDocument } from '../../trees/workflow/run-document.ts';
import { type Context, withStore } from '../setup/context.ts';
import { printResult } from '../setup/output.ts';
import { ledgerItself } from './workflow-args.ts';

/** `coppice workflow show RUN`: its agents by phase, failures first. */
export function workflowShow(context: Context, text: string): Promise<number> {
  ledgerItself(context);
  return withStore(context, async (store) => {
    const document = await workflowRunDocument(store, text);
    const { name, outcome_text, counts, phases, agents } = document;
    return printResult(context, document, () => [
      `${clean(name)}: ${clean(outcome_text)}; ${countsText(counts)}`,
      ...phases.map(
        (one) =>
          `  ${clean(one.title ?? '(no phase)')}  ${one.done}/${one.agents}${one.failed > 0 ? `, ${one.failed} failed` : ''}  ${count(one.tokens)} tokens${one.cost_usd > 0 ? `, $${one.cost_usd.toFixed(4)}` : ''}`,
      ),
      ...agents
        .filter(({ error, outcome }) => error !== null || outcome !== 'done')
        .map(({ id, label, outcome_text: how }) => `  ${id.slice(0, 8)}  ${clean(label)}  ${clean(how)}`),
    ]);
  });
}
