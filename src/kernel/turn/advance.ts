import type { Failure } from '../../records/agent/failure.ts';
import { storable } from '../../records/text/text.ts';
import type { Advance } from './advance-result.ts';
import { decideCalls, faultText } from './decide-calls.ts';
import { Draft } from './draft.ts';
import type { Input, LedAgent } from './led-agent.ts';
import { beginQueuedRun, takeMail, warnOfSuspiciousMail } from './take-mail.ts';
import { takeOrders, takeOutcomes } from './take-orders.ts';
import { tellOthers } from './tell-others.ts';
import type { View } from './view.ts';
import { cancel, endHumanWait, endWaits, NO_CURSORS } from './waits.ts';

/**
 * Decides what an agent does next: makes one step of everything that is pending for it, in this order: events, with the calls of toolsets
 * that they start; orders and outcomes; waits that may end; mail. It is pure: it changes none of its arguments, and equal arguments give equal results.
 * Never throws: a fault ends the turn of this agent, and the other agents of the round get their steps.
 */
export function advance(led: LedAgent, inputs: readonly Input[], view: View): Advance {
  try {
    return advanced(new Draft(led, view), inputs);
  } catch (error) {
    const text = `a fault in Coppice ended this turn: ${faultText(error)}`;
    return faulted(led, view, { kind: 'internal', error: storable(text), retryable: true });
  }
}

function advanced(draft: Draft, inputs: readonly Input[]): Advance {
  if (inputs.length > 0) takeOutcomes(draft);
  for (const input of inputs) {
    if (input.type === 'toolset-call') draft.calls.start(input.call);
    else if (input.event.type === 'cancel') cancel(draft, input.event);
    else draft.apply(input.event, input.request);
    decideCalls(draft);
  }
  takeOrders(draft);
  decideCalls(draft);
  const wait_cursors = endWaits(draft);
  endHumanWait(draft);
  decideCalls(draft);
  const run = beginQueuedRun(draft);
  takeMail(draft);
  warnOfSuspiciousMail(draft);
  tellOthers(draft);
  return { ...draft.result(), wait_cursors, run };
}

/** Replaces a step that threw: ends the turn and tells agents that await it, unless telling them is what threw. */
function faulted(led: LedAgent, view: View, failure: Failure): Advance {
  const ended = (isTold: boolean): Advance => {
    const draft = new Draft(led, view);
    draft.apply({ type: 'fault', at: view.now, failure });
    if (isTold) tellOthers(draft);
    return { ...draft.result(), wait_cursors: NO_CURSORS, run: null };
  };
  try {
    return ended(true);
  } catch {
    return ended(false);
  }
}
