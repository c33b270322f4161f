import assert from 'node:assert/strict';
import type { Effect } from '../../../src/kernel/transition/effect.ts';
import type { AgentEvent } from '../../../src/kernel/transition/event.ts';
import {
  type Transition,
  type TransitionContext,
  transition,
} from '../../../src/kernel/transition/transition.ts';
import { type AgentState, isTerminal } from '../../../src/records/agent/state.ts';
import { allTexts, saidIn } from '../../../src/records/conversation/child-text.ts';
import type { Message } from '../../../src/records/conversation/message.ts';

type Of<T extends Effect['type']> = Extract<Effect, { readonly type: T }>;

/** Deeply freezes the value, so that a kernel that writes to its input throws. */
export function frozen<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const part of Object.values(value)) frozen(part);
  }
  return value;
}

/** Law 12: the same input, once from memory and once as a ledger returns it, gives the same answer. */
export function decide(state: AgentState, event: AgentEvent, context: TransitionContext): Transition {
  const first = transition(frozen(state), frozen(event), frozen(context));
  const again = transition(JSON.parse(JSON.stringify(state)), structuredClone(event), context);
  // Cloned, so that only values count, not how the generators made them.
  assert.deepEqual(
    structuredClone(again),
    structuredClone(first),
    'law 12: same state and event, same effects',
  );
  return frozen(first);
}

/** One agent driven by events. After each event the laws are checked against what the run itself has counted. */
export class KernelRun {
  state: AgentState = { type: 'idle' };
  readonly context: TransitionContext;
  readonly events: AgentEvent[] = [];
  readonly messages: Message[] = [];
  /** Ids of the newest answer's calls, and of those without a result. */
  calls: string[] = [];
  open: string[] = [];
  readonly open_asks = new Set<string>();
  readonly #of_programs = new Set<string>();
  /** Children of this turn: all, those that reported, those asked to stop. */
  readonly spawned = new Map<string, string>();
  readonly reported = new Set<string>();
  readonly cancelled = new Set<string>();
  /** Children whose outcome a call waits for. */
  readonly delegated = new Set<string>();
  notified = 0;
  answered = 0;
  #started: string[] = [];

  constructor(context: TransitionContext) {
    this.context = { ...context, said: () => allTexts(...saidIn(this.messages)) };
  }

  apply(event: AgentEvent): Transition {
    const before = this.state;
    const result = decide(before, event, this.context);
    this.events.push(event);
    if (isTerminal(before.type)) assert.equal(result.ok, false, 'law 3: terminal states admit no event');
    this.#checkChild(event, result);
    if (!result.ok) return result;
    this.#count(before, event);
    for (const [index, effect] of result.effects.entries()) this.#perform(effect, index, result.effects);
    this.state = result.state;
    this.#checkStarts(before, event, result.effects);
    if (event.type === 'response' && event.refusal !== undefined)
      assert.ok(!result.effects.some(({ type }) => type === 'run-call'), 'a refused call never runs');
    if (event.type === 'ask-answered') this.open_asks.delete(event.ask_id);
    this.#checkAsks();
    this.#checkTurn();
    this.#checkMonotony(before, this.state);
    this.#checkFanIn(result.effects);
    this.#checkEnd(before, event, result.effects);
    return result;
  }

  /** Law 4: results are admitted only from children that are awaited and have not reported. */
  #checkChild(event: AgentEvent, result: Transition): void {
    if (event.type !== 'child-result') return;
    const id = event.child.agent_id;
    const awaits = ['executing', 'awaiting', 'cancelling'].includes(this.state.type);
    const admitted = (awaits && this.spawned.has(id) && !this.reported.has(id)) || this.#isDelegated(id);
    assert.equal(result.ok, admitted, `law 4: the result of ${id} in ${this.state.type}`);
  }

  #isDelegated(id: string): boolean {
    return this.state.type === 'executing' && this.state.running.some(({ child }) => child === id);
  }

  #count(before: AgentState, event: AgentEvent): void {
    if (event.type === 'input' || event.type === 'retry') this.answered = 0;
    if (event.type === 'response') {
      this.answered += 1;
      assert.ok(this.answered <= this.context.turns + 1, 'a turn has its requests and one for grace');
    }
    if (event.type === 'child-result' && !this.#isDelegated(event.child.agent_id))
      this.reported.add(event.child.agent_id);
    if (event.type === 'call-delegated') this.delegated.add(event.child);
    if (event.type === 'call-settled') {
      for (const { agent_id, task } of event.spawned ?? [])
        if (!this.spawned.has(agent_id)) this.spawned.set(agent_id, task);
    }
    assert.ok(before.type !== 'requesting' || this.open.length === 0);
  }

  #perform(effect: Effect, index: number, effects: readonly Effect[]): void {
    switch (effect.type) {
      case 'append':
        this.#append(effect);
        return;
      case 'request-model':
        assert.deepEqual(this.open, [], 'law 5: every call has its result before the next request');
        assert.equal(index, effects.length - 1, 'what is appended after a request is not part of it');
        return;
      case 'run-call':
        assert.ok(this.open.includes(effect.call.id), 'an answered call never runs');
        this.#started.push(effect.call.id);
        return;
      case 'abort': {
        const sooner = effects.slice(0, index).map(({ type }) => type);
        assert.ok(
          !sooner.includes('run-call') && !sooner.includes('request-model'),
          'an abort stops old work only',
        );
        return;
      }
      case 'cancel-agents':
        for (const id of effect.agent_ids) {
          assert.ok(
            this.delegated.has(id) || (this.spawned.has(id) && !this.reported.has(id)),
            'only children at work are asked to stop',
          );
          assert.ok(!this.cancelled.has(id), 'a child is asked once');
          this.cancelled.add(id);
        }
        return;
      case 'enter-ask':
        this.open_asks.add(effect.ask.id);
        if (this.state.type === 'requesting') this.#of_programs.add(effect.ask.id);
        return;
      case 'void-asks':
        for (const id of effect.ask_ids)
          assert.ok(this.open_asks.delete(id), 'only open questions are withdrawn');
        return;
      case 'answer-program':
        assert.ok(this.open_asks.has(effect.ask_id), 'a question is answered once');
        return;
      case 'notify-parent':
        this.notified += 1;
        return;
      default:
        return;
    }
  }

  #append({ message }: Of<'append'>): void {
    this.messages.push(message);
    if (message.kind === 'assistant') {
      assert.deepEqual(this.open, [], 'law 5: the answer before has all its results');
      this.calls = message.content.parts.flatMap((part) => (part.type === 'call' ? [part.id] : []));
      this.open = [...this.calls];
      this.#started = [];
    }
    if (message.kind === 'result') {
      const place = this.open.indexOf(message.content.call_id);
      assert.notEqual(place, -1, 'law 5: one result for each call, none for others');
      this.open.splice(place, 1);
    }
  }

  /** An ask of an agent program is open as long as its request waits for the answer; a kill withdraws it in the ledger. */
  #checkAsks(): void {
    const { state } = this;
    if (state.type === 'killed') return;
    const awaited = state.type === 'requesting' ? (state.asked ?? []).map(({ id }) => id) : [];
    const open = [...this.open_asks].filter((id) => this.#of_programs.has(id));
    assert.deepEqual(open.sort(), awaited.sort(), 'what a program asks is awaited');
  }

  /** Law 1 for calls, and the guarantees of call scheduling. */
  #checkTurn(): void {
    const { state } = this;
    if (state.type !== 'executing') return;
    const ids = [
      ...state.results,
      ...state.running.map(({ call }) => call.id),
      ...state.queued.map((call) => call.id),
    ];
    assert.deepEqual(ids.toSorted(), this.calls.toSorted(), 'law 1: running + queued + results = calls');
    const open = [...state.running.map(({ call }) => call.id), ...state.queued.map((call) => call.id)];
    assert.deepEqual(open.toSorted(), this.open.toSorted(), 'law 5: open calls are those without a result');
    assert.ok(state.running.length > 0, 'something runs');
    if (state.running.length > 1) assert.ok(state.running.every(({ call }) => call.side_by_side));
    const started = [...state.results, ...state.running.map(({ call }) => call.id)];
    assert.deepEqual(new Set(this.#started), new Set(started), 'what runs or has run was started');
    assert.equal(state.turn.grace, null, 'no call runs after a limit');
  }

  /** A call is started again only after a takeover or an approval; the results of stopped calls keep the order of the calls. */
  #checkStarts(before: AgentState, event: AgentEvent, effects: readonly Effect[]): void {
    if (before.type !== 'executing') return;
    const runs = effects.flatMap((effect) => (effect.type === 'run-call' ? [effect.call] : []));
    const known = before.running.map(({ call }) => call);
    if (event.type === 'ask-answered')
      assert.ok(
        event.verdict === 'allow' || !runs.some((call) => known.includes(call)),
        'only what was allowed runs',
      );
    else if (event.type !== 'resume')
      assert.ok(!runs.some((call) => known.includes(call)), 'a call is started once');
    else
      assert.ok(
        runs.every((call) => call.idempotent || !known.includes(call)),
        'never run again silently',
      );
    if (event.type !== 'cancel' && event.type !== 'limit' && event.type !== 'fault') return;
    const open = [...known, ...before.queued].map((call) => call.id);
    const answers = effects.flatMap((effect) =>
      effect.type === 'append' && effect.message.kind === 'result' ? [effect.message.content.call_id] : [],
    );
    assert.deepEqual(answers, open, 'law 5: every open call is answered, in order');
  }

  /** Law 2. */
  #checkMonotony(before: AgentState, after: AgentState): void {
    if (before.type === 'executing' && after.type === 'executing' && before.seq === after.seq) {
      assert.deepEqual(
        after.results.slice(0, before.results.length),
        before.results,
        'law 2: results only grow',
      );
      assert.deepEqual(after.early.slice(0, before.early.length), before.early, 'law 2: results only grow');
      assert.ok(after.queued.length <= before.queued.length);
    }
    if (!isFanIn(before) || !isFanIn(after)) return;
    assert.deepEqual(
      after.results.slice(0, before.results.length),
      before.results,
      'law 2: results only grow',
    );
    assert.ok(
      after.pending.every((id) => before.pending.includes(id)),
      'law 2: pending only shrinks',
    );
    assert.ok(before.type !== 'cancelling' || after.type === 'cancelling', 'a cancel is not taken back');
  }

  /** Law 1 for children: each is pending or has a result, until the model is told of all of them at once. */
  #checkFanIn(effects: readonly Effect[]): void {
    const { state } = this;
    if (state.type === 'executing') {
      assert.deepEqual(
        state.spawned.map((one) => one.agent_id).toSorted(),
        [...this.spawned.keys()].toSorted(),
      );
      assert.deepEqual(
        state.early.map((one) => one.agent_id),
        [...this.reported],
      );
      return;
    }
    if (isFanIn(state)) {
      const results = state.results.map((one) => one.agent_id);
      assert.deepEqual(
        [...state.pending, ...results].toSorted(),
        [...this.spawned.keys()].toSorted(),
        'law 1',
      );
      assert.deepEqual(results, [...this.reported], 'law 1: pending + results is constant');
      assert.ok(state.pending.length > 0, 'a fan-in without anybody to wait for has ended');
      return;
    }
    if (this.spawned.size > 0 && state.type !== 'killed') this.#checkTold(effects);
    this.spawned.clear();
    this.reported.clear();
    this.cancelled.clear();
  }

  #checkTold(effects: readonly Effect[]): void {
    const told = effects.flatMap((effect) =>
      effect.type === 'append' && effect.message.kind === 'user' ? [effect.message.content.text] : [],
    );
    const reports = told.filter((text) => text.startsWith('{"sub_agent_results"'));
    assert.equal(reports.length, 1, 'the model is told once');
    const { sub_agent_results } = JSON.parse(reports[0] as string);
    const rows = sub_agent_results as { agent_id: string; task: string; outcome: object }[];
    assert.deepEqual(
      rows.map((row) => [row.agent_id, row.task]),
      [...this.spawned],
      'all children, in order',
    );
    for (const { agent_id } of rows) {
      assert.ok(this.reported.has(agent_id) || this.cancelled.has(agent_id), 'none is left at work unasked');
    }
  }

  /** The parent of an agent that reports or submits gets exactly one outcome, at its end; no other parent gets any. */
  #checkEnd(before: AgentState, event: AgentEvent, effects: readonly Effect[]): void {
    const ended = this.state.type === 'completed' || this.state.type === 'failed';
    const ends = this.context.reports || this.context.submits;
    assert.equal(this.notified, ends && ended ? 1 : 0);
    if (!ends) assert.ok(!ended);
    if (isTerminal(this.state.type) || this.state.type === 'idle' || this.state.type === 'errored') {
      if (this.state.type !== 'killed')
        assert.deepEqual(this.open, [], 'law 5: nothing is left open by an end');
      assert.ok(!effects.some(({ type }) => type === 'run-call' || type === 'request-model'));
    }
    // After a crash nothing is running, so nothing is aborted.
    const left = before.type === 'executing' && this.state.type !== 'executing' && event.type !== 'resume';
    if (left && before.running.length > 1)
      assert.ok(
        effects.some(({ type }) => type === 'abort'),
        'what runs is stopped',
      );
  }
}

export function isFanIn(
  state: AgentState,
): state is Extract<AgentState, { type: 'awaiting' | 'cancelling' }> {
  return state.type === 'awaiting' || state.type === 'cancelling';
}
