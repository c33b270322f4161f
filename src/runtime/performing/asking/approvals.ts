import type { ProgramAnswer } from '../../../kernel/transition/effect.ts';
import { type AskedCall, type Grant, grantOf, reaches } from '../../../permissions/grants/grant.ts';
import { readRules } from '../../../permissions/grants/rules-file.ts';
import type { Agent } from '../../../records/agent/agent.ts';
import type { Call } from '../../../records/agent/state.ts';
import type { Ask, NewAsk } from '../../../records/conversation/ask.ts';
import { storable } from '../../../records/text/text.ts';
import { cutMiddle } from '../../../render/hidden-characters.ts';
import { shownId } from '../../../store/approvals/shown-digest.ts';
import type { Store } from '../../../store/store.ts';
import type { Cell } from '../../executor/cell.ts';
import type { Executor } from '../../executor/executor.ts';
import type { OpenOptions } from '../../runtime-options.ts';

export interface GrantContext extends Pick<OpenOptions, 'can_ask' | 'rules_file'> {
  readonly store: Pick<Store, 'grants'>;
}

export interface QueueContext extends Pick<OpenOptions, 'clock' | 'newId'> {
  readonly executor: Pick<Executor, 'happened'>;
}

/** Maximum characters of a difference kept with a question; the middle is cut, but never of a script. */
const DIFFERENCE_MAX = 60_000;
const SCRIPT_MAX = 2_000_000;

/** Whether people can be asked; otherwise calls that need approval are denied. */
export function mayAsk({ config }: Agent, { can_ask = false }: GrantContext): boolean {
  return typeof can_ask === 'function' ? can_ask(config) : can_ask !== false;
}

/** Grants of people that apply to this agent: those in its tree, and the permanent ones for its folder. */
export async function grantsFor(
  { id, root_id, state, config: { cwd } }: Agent,
  { store, rules_file }: GrantContext,
): Promise<readonly Grant[]> {
  const in_turn = 'turn' in state ? (state.turn.granted ?? []) : [];
  // Permanent grants are read from the rules file only, because a person may have removed them from it.
  const holds = (ask: Ask): boolean =>
    ask.scope !== 'always' &&
    reaches(ask.scope, ask, { agent_id: id, root_id, cwd }) &&
    (ask.scope !== 'turn' || in_turn.includes(ask.id));
  const given = (await store.grants({ root_id })).filter(holds).flatMap((ask) => grantOf(ask) ?? []);
  const kept = rules_file === undefined ? [] : readRules(rules_file);
  return [...given, ...kept.filter(({ folder }) => folder === cwd)];
}

/** What a person saw and allowed when this call asked. */
export async function shownFor(
  { id }: Agent,
  call_id: string,
  { store }: { readonly store: Pick<Store, 'asks'> },
): Promise<string | undefined> {
  const asks = await store.asks({ agent_id: id });
  return asks.findLast((ask) => ask.call_id === call_id && ask.verdict === 'allow')?.subject;
}

export function askOf(
  agent: Agent,
  call: Pick<Call, 'id' | 'input'>,
  { tool, subject, subject_kind, difference }: AskedCall & Pick<NewAsk, 'difference'>,
  rule: string,
  { clock, newId }: Pick<QueueContext, 'clock' | 'newId'>,
): NewAsk {
  const most = subject_kind === 'script' ? SCRIPT_MAX : DIFFERENCE_MAX;
  const ask = {
    id: newId(),
    root_id: agent.root_id,
    agent_id: agent.id,
    agent_name: agent.name,
    call_id: call.id,
    tool,
    subject: storable(subject),
    subject_kind,
    input: call.input,
    difference: difference === null ? null : storable(cutMiddle(difference, most)),
    cwd: agent.config.cwd,
    rule,
    asked_at: clock.now(),
  };
  return { ...ask, id: shownId(ask) };
}

/** Queues a question of a program or call that keeps running, and waits for its answer; null if it was withdrawn. */
export function answerTo(
  cell: Cell,
  ask: NewAsk,
  executor: QueueContext['executor'],
): Promise<ProgramAnswer | null> {
  return new Promise((resolve) => {
    cell.questions.set(ask.id, (given) => {
      cell.questions.delete(ask.id);
      resolve(given);
    });
    executor.happened(cell, { type: 'call-asked', at: ask.asked_at, ask });
  });
}
