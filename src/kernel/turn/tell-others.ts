import { framedName } from '../../records/agent/agent-name.ts';
import { deniedIn, deniedLine } from '../../records/agent/denied.ts';
import { isTerminal, isWorking } from '../../records/agent/state.ts';
import { allTexts } from '../../records/conversation/child-text.ts';
import { type Completion, completionFrom } from '../../records/conversation/facts/completion.ts';
import { deliveryId } from '../../records/run/delivery.ts';
import { type Outcome, outcomeOf, storedOutcome, textAlone } from '../../records/run/outcome.ts';
import { endText } from '../../records/run/run-end.ts';
import { storable } from '../../records/text/text.ts';
import type { Draft } from './draft.ts';
import { type EndedTurn, isOwed } from './ended-turn.ts';

/** Notifies everybody concerned of the end of a turn, in the same step. */
export function tellOthers(draft: Draft): void {
  tellDenied(draft);
  reportToParent(draft);
  tellOutside(draft);
  endTreeOfRun(draft);
}

/** Says of a turn that ended with calls that failed, or with children, which calls were denied. */
function tellDenied(draft: Draft): void {
  for (const { deeds: { calls = {}, children, denied, denied_below } = {} } of draft.ended_turns) {
    const line = deniedLine(deniedIn(denied, denied_below));
    const is_new = children !== undefined || Object.values(calls).some(({ failed }) => failed > 0);
    if (is_new && line !== null) draft.tell(line, { about: 'denied' });
  }
}

/**
 * A fork reports by mail, and may fail to: its model fails, a limit disables its tools, or it answers with text only. Then its parent gets a report
 * on its behalf, once, by which a rest or a wait of the parent ends; it never wakes the child (docs/decisions/0044-no-report-is-lost.md).
 */
function reportToParent(draft: Draft): void {
  const { led, view } = draft;
  const { parent_id } = led.agent;
  const parent = parent_id === null ? undefined : view.relatives.agent(parent_id);
  if (parent === undefined || isTerminal(parent.state.type)) return;
  for (const turn of draft.ended_turns) {
    // Who interrupts an agent goes on with it, but a run on a timer would rest for ever.
    if (turn.stopped && draft.config.task === undefined) continue;
    const completion = completionOf(turn, draft);
    const did = turn.did === undefined ? {} : { did: turn.did };
    if (completion !== null)
      draft.write(parent.id, 'report', storable(JSON.stringify(completion)), view.now, did);
  }
}

function completionOf({ text, cause, outcome, reported }: EndedTurn, draft: Draft): Completion | null {
  if (cause !== null) {
    const said = draft.said('spoken-to');
    const partial = said === '' ? {} : { partial: said };
    return { status: 'idle', success: false, ...(outcome && { outcome }), error: cause, ...partial };
  }
  if (reported) return null;
  // Some write the report that they could have sent.
  const written = completionFrom(text.replace(/^\s*```\w*\n([\s\S]*)\n```\s*$/, '$1'));
  return written ?? { status: 'idle', success: true, summary: text };
}

/**
 * Sends to the tree's chat: approvals to give, and the root's replies; and its results to where its person wants them. They enter the outbox in the
 * transaction of the step, so they are neither lost nor duplicated.
 */
function tellOutside(draft: Draft): void {
  const { agent } = draft.led;
  const { id, root_id, parent_id, config } = agent;
  const { channel: target, replies_to = [], deliver = [], workflow } = config;
  const common = { root_id, agent_id: id, created_at: draft.view.now };
  if (target !== undefined)
    for (const { id: about } of draft.asks)
      draft.deliver({ ...common, target, id: deliveryId('ask', about), kind: 'ask', about, body: null });
  // The end of a run is delivered from the run history.
  if (parent_id !== null || config.task !== undefined) return;
  const tell = (to: string, text: string, cause: readonly (string | number)[], ended?: Outcome) => {
    const reply = { kind: 'reply', about: null, body: text.trim() === '' ? '(no answer)' : text } as const;
    draft.deliver({
      ...common,
      target: to,
      id: deliveryId('reply', id, ...cause),
      ...reply,
      ...(ended && storedOutcome(ended)),
    });
  };
  for (const ended of draft.ended_turns) {
    const { seq, text, stopped } = ended;
    if (stopped) continue;
    for (const [at, to] of [...(target === undefined ? [] : [target]), ...replies_to].entries())
      tell(to, text, [seq, ...(at === 0 ? [] : [at])]);
    if (isWorking(draft.state.type) || isOwed(agent, draft.view, draft.mail.left)) continue;
    if (deliver.length === 0) continue;
    const told = draft.outcome;
    const own = textAlone(outcomeOf({ ...agent, state: draft.state }));
    const result = workflow === undefined ? text : endOfWorkflow(workflow.name, ended);
    // The text of a workflow names its agents that failed.
    const but = workflow === undefined ? textAlone(told).slice(own.length + 2) : draft.denied;
    const whole = allTexts(result, but === '' ? '' : `(${but})`);
    for (const [at, to] of deliver.entries()) if (to !== target) tell(to, whole, [seq, 'result', at], told);
  }
}

function endOfWorkflow(name: string, { text, cause: error }: EndedTurn): string {
  const how =
    error === null
      ? { status: 'completed' as const, result: text }
      : { status: 'failed' as const, result: null };
  return endText(`[Workflow: ${framedName(name)}]`, { ...how, error });
}

/** A scheduled run ends with its turn, and a workflow with its script; descendants are killed, since nobody would receive their results. */
function endTreeOfRun(draft: Draft): void {
  const { agent } = draft.led;
  if (agent.origin !== 'cron' && agent.config.workflow === undefined) return;
  if (!isTerminal(draft.state.type) || isTerminal(agent.state.type)) return;
  for (const one of draft.view.relatives.subtree(agent)) if (one.parent_id === agent.id) draft.kill(one.id);
}
