import { budgetLines } from '../../documents/budget-json.ts';
import { parseSpending } from '../../records/agent/spending.ts';
import { CoppiceError } from '../../records/coppice-error.ts';
import { clean } from '../../render/clean.ts';
import { ask } from '../setup/ask-server.ts';
import type { Context } from '../setup/context.ts';
import { printResult } from '../setup/output.ts';
import { findAgent } from './find-agent.ts';

/** `coppice budget ID [usd=N] [tokens=N]`: prints what is left for an agent; with amounts, changes its budget first. */
export function budget(context: Context, text: string, amounts: readonly string[]): Promise<number> {
  const wanted = parseSpending(amounts);
  if (typeof wanted === 'string') throw new CoppiceError('E_USAGE', wanted);
  return ask(context, async (asked) => {
    const { id, root_id } = await findAgent(context, asked, text);
    const document = await (amounts.length === 0 ? asked.budget(id) : asked.changeBudget(id, wanted));
    printResult(context, document, () => budgetLines(document).map(clean));
    const { error, limit } = await asked.agent(id);
    if (amounts.length > 0 && (error?.kind === 'limit' || limit !== null))
      process.stderr.write(
        context.hint(
          `it had stopped at its limit; to continue: coppice resume ${root_id.slice(0, 8)} --retry\n`,
        ),
      );
    return 0;
  });
}
