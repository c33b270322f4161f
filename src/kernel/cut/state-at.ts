import {
  type AgentState,
  type Call,
  type ChildResult,
  newTurn,
  type RunningCall,
  type SpawnedChild,
} from '../../records/agent/state.ts';
import type { CallPart, PlacedMessage } from '../../records/conversation/message.ts';

/** How the calls of a tool run: beside each other, alone, or decided with their result (those of toolsets); undefined: unknown here. */
export type HowCallsRun = (name: string) => 'decided' | 'beside' | 'alone' | undefined;

/** What the ledger says of an agent at a cut, besides its messages. */
export interface AtCut {
  /** Ids of calls that waited for an answer of a person, and so had not begun. */
  readonly asked: ReadonlySet<string>;
  /** Children that it had delegated to and whose outcome it had not read, oldest first. */
  readonly delegated: readonly string[];
  /** The name of an agent that exists at the cut. */
  readonly nameOf: (id: string) => string | undefined;
  readonly how: HowCallsRun;
}

const DELEGATING = /^subagent_/;

/** The state after these messages, the first of which begins a turn, as far as messages tell it: what else was known of the turn is forgotten. */
export function stateAt(tail: readonly PlacedMessage[], known: AtCut): AgentState {
  let phase: 'rest' | 'asking' | 'calls' = 'rest';
  let rest: AgentState = { type: 'idle' };
  let [started_at, requests, seq] = [0, 0, 0];
  let open: CallPart[] = [];
  let results: string[] = [];
  let spawned: SpawnedChild[] = [];
  let is_stopped = false;
  for (const message of tail) {
    if (message.kind === 'user') {
      if (message.content.facts?.fan_in !== undefined) spawned = [];
      else is_stopped = false;
      if (is_stopped) continue;
      if (phase === 'rest') [started_at, requests, spawned] = [message.at, 0, []];
      phase = 'asking';
    } else if (message.kind === 'assistant') {
      const { parts, finish } = message.content;
      if (phase === 'rest') [started_at, requests, spawned] = [message.at, 0, []];
      open = finish === undefined ? parts.filter((part) => part.type === 'call') : [];
      [requests, seq, results, rest] = [requests + 1, message.seq, [], { type: 'idle' }];
      phase = open.length > 0 ? 'calls' : 'rest';
    } else if (message.kind === 'result') {
      const { call_id, name, facts } = message.content;
      const at = open.findIndex(({ id }) => id === call_id);
      if (at < 0) continue;
      open = open.toSpliced(at, 1);
      results.push(call_id);
      if (name === 'spawn_agents')
        spawned.push(
          ...(facts?.created ?? []).map((agent_id) => ({
            agent_id,
            task: known.nameOf(agent_id) ?? agent_id,
          })),
        );
      if (open.length === 0) phase = 'asking';
    } else if (message.kind === 'event') {
      const { event, text, data } = message.content;
      if (event === 'killed') return { type: 'killed', by: String(data?.by ?? '') };
      if (event === 'retried') [phase, is_stopped] = ['asking', false];
      if (event === 'error' && phase !== 'rest')
        rest = { type: 'errored', failure: { kind: 'internal', error: text, retryable: true } };
      if (event === 'interrupted')
        rest = { type: 'idle', stopped_by: /^interrupted by (.*?):/.exec(text)?.[1] ?? 'you' };
      if (event === 'interrupted' || (event === 'error' && phase !== 'rest'))
        [phase, is_stopped] = ['rest', true];
    }
  }
  if (phase === 'rest') return rest;
  const turn = { ...newTurn(started_at), requests };
  if (phase === 'calls')
    return { type: 'executing', seq, ...begun(open, known), results, spawned, early: [], turn };
  if (spawned.length === 0) return { type: 'requesting', attempt: 1, turn };
  const pending = spawned.flatMap(({ agent_id }) => (known.nameOf(agent_id) === undefined ? [] : [agent_id]));
  // Nothing else would wake it.
  if (pending.length === 0) return { type: 'requesting', attempt: 1, turn };
  const gone = spawned.filter(({ agent_id }) => known.nameOf(agent_id) === undefined).map(lost);
  return { type: 'awaiting', pending, results: gone, spawned, turn };
}

function lost({ agent_id }: SpawnedChild): ChildResult {
  const error = 'its conversation had been removed when the tree was taken back';
  return { agent_id, outcome: { type: 'failure', error, error_kind: 'lost' } };
}

/** Which calls without a result had begun. One that may have begun did: it is never run again. */
function begun(open: readonly CallPart[], { asked, delegated, how }: AtCut) {
  const running: RunningCall[] = [];
  const queued: Call[] = [];
  const children = [...delegated];
  let may_begin = true;
  for (const [place, { id, read, ...part }] of open.entries()) {
    const { name, input } = read ?? part;
    const runs = how(name);
    const harmless = runs === 'decided';
    const call: Call = { id, name, input, side_by_side: harmless || runs === 'beside', idempotent: harmless };
    const child = DELEGATING.test(name) ? children.shift() : undefined;
    const has_begun = may_begin && !harmless && !asked.has(id) && (runs !== 'alone' || place === 0);
    if (child !== undefined) running.push({ call, child });
    else if (has_begun) running.push({ call });
    else queued.push(call);
    if (runs === 'alone') may_begin = false;
  }
  return { running, queued };
}
