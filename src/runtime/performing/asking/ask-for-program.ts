import { deniedText } from '../../../kernel/transition/asking.ts';
import type { AskPerson, HostTerms, ModelHost } from '../../../models/model-host.ts';
import { isCovered } from '../../../permissions/grants/grant.ts';
import type { PermissionMode } from '../../../records/agent/agent.ts';
import { RULE_BREAK } from '../../../records/conversation/ask.ts';
import type { Cell } from '../../executor/cell.ts';
import type { OpenOptions } from '../../runtime-options.ts';
import { answerTo, askOf, type GrantContext, grantsFor, mayAsk, type QueueContext } from './approvals.ts';

const ENDED = 'the prompt has ended';

type AskContext = GrantContext & QueueContext;

export type ProgramContext = HostTerms & Pick<OpenOptions, 'openHost'>;

/** The host for the agent program behind a request, which asks people where rules say so; undefined if programs get none here. */
export function hostFor(
  cell: Cell,
  request: AbortController,
  mode: PermissionMode,
  context: ProgramContext & AskContext,
): Promise<ModelHost> | undefined {
  return context.openHost?.(cell.agent, context, mode, askerFor(cell, request, context));
}

/** Asks a person as for a tool call, in the same queue and with the same grants, while the program's request continues. */
function askerFor(cell: Cell, request: AbortController, context: AskContext): AskPerson {
  return async ({ rules, input, difference, ...asked }, refused) => {
    const { agent } = cell;
    if (!mayAsk(agent, context)) return refused;
    if (isCovered(await grantsFor(agent, context), rules, asked)) return null;
    if (cell.request !== request || cell.gone) return ENDED;
    const call = { id: context.newId(), input };
    const ask = askOf(agent, call, { ...asked, difference }, rules.join(RULE_BREAK), context);
    const answer = await answerTo(cell, ask, context.executor);
    if (answer === null) return ENDED;
    return answer.verdict === 'allow' ? null : deniedText(asked.tool, answer);
  };
}
