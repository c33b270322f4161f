import { type Agent, type AgentConfig, isTask } from '../../records/agent/agent.ts';
import { payersOf, withMovedEnds } from '../../records/agent/budget.ts';
import { deedsLine, deedsOf } from '../../records/agent/deeds-line.ts';
import { deniedIn, deniedLine } from '../../records/agent/denied.ts';
import {
  type AgentState,
  type Call,
  type ChildOutcome,
  isResting,
  isTerminal,
  isWorking,
} from '../../records/agent/state.ts';
import type { Worktree } from '../../records/agent/task-terms.ts';
import { allTexts, saidIn } from '../../records/conversation/child-text.ts';
import type { Completion } from '../../records/conversation/facts/completion.ts';
import { type MailKind, type NewMail, WAKING_MAIL } from '../../records/conversation/mail.ts';
import type { EventContent, Message } from '../../records/conversation/message.ts';
import { deliveryId } from '../../records/run/delivery.ts';
import { goingOn, type Outcome, outcomeOfTree, textAlone } from '../../records/run/outcome.ts';
import { TakenMail } from '../mailbox/taken-mail.ts';
import { sameWaits, waitEdges, waitsUntil } from '../mailbox/wait-edges.ts';
import type { RequestRecord, Step, StepLists } from '../step.ts';
import { withWorkflows } from '../toolsets/workflow/workflow-toolset.ts';
import type { Effect } from '../transition/effect.ts';
import type { AgentEvent } from '../transition/event.ts';
import { transition } from '../transition/transition.ts';
import type { InvalidTransition, TransitionContext } from '../transition/transition-result.ts';
import type { Advance, DeferredCall, ParkedWait, WorldEffect } from './advance-result.ts';
import { countDeeds } from './count-deeds.ts';
import { doing } from './doing.ts';
import { type EndedTurn, endOfTurn, isOwed, noFailure, replyIn } from './ended-turn.ts';
import type { LedAgent } from './led-agent.ts';
import type { View } from './view.ts';

/**
 * A step under construction, used within one `advance`. Only its methods (`apply`, `write`, `park`, …) change its parts; the other files of this folder
 * decide which to call, and `result` returns the outcome as data.
 */
export class Draft {
  readonly led: LedAgent;
  readonly view: View;
  readonly mail: TakenMail;
  readonly calls: ToolsetCalls;
  readonly #context: TransitionContext;
  #state: AgentState;
  #config: AgentConfig;
  #reply: string | null;
  #sent_this_turn: boolean;
  #noticed: number;
  #at = 0;
  #moved_ms = 0;
  #ids = 0;
  /** Parts of the step that are committed unchanged. */
  readonly #parts: Omit<StepLists, 'consume'> = {
    messages: [],
    create: [],
    send: [],
    kill: [],
    remove: [],
    requests: [],
    asks: [],
    void_asks: [],
    deliver: [],
  };
  readonly #effects: WorldEffect[] = [];
  readonly #parked: ParkedWait[] = [];
  readonly #ended: EndedTurn[] = [];

  constructor(led: LedAgent, view: View) {
    const { agent } = led;
    this.led = led;
    this.view = view;
    this.mail = new TakenMail(led.inbox);
    this.calls = new ToolsetCalls(view.tools);
    this.#state = agent.state;
    this.#config = agent.config;
    this.#reply = agent.reply;
    this.#sent_this_turn = agent.sent_this_turn;
    this.#noticed = agent.noticed;
    const ends = agent.origin === 'cron' || agent.config.output?.agent_id === agent.id;
    const owed = () => ends && isOwed(agent, view, this.mail.left);
    const has_reported = () => this.#sent_this_turn;
    this.#context = { ...view.context, said: () => this.said('beginning'), owed, has_reported };
  }

  get state(): AgentState {
    return this.#state;
  }
  get config(): AgentConfig {
    return this.#config;
  }

  /** Seq of the newest message, including those of this step. */
  get last_seq(): number {
    return this.led.agent.last_seq + this.#parts.messages.length;
  }

  get isEmpty(): boolean {
    return (
      this.#state === this.led.agent.state &&
      this.#config === this.led.agent.config &&
      this.#parts.messages.length === 0 &&
      this.mail.placed.length === 0 &&
      this.#parts.send.length === 0
    );
  }

  newId(of?: 'agent'): string {
    return this.view.id(this.#ids++, of);
  }

  /** Applies an event. Returns null, or why the state does not admit it; then nothing changes. */
  apply(happened: AgentEvent, request?: RequestRecord): InvalidTransition | null {
    // The seq of the answer is known only here.
    const event = happened.type === 'response' ? { ...happened, seq: this.last_seq + 1 } : happened;
    const before = this.#state;
    const result = transition(before, event, this.#context);
    if (!result.ok) return result.invalid;
    this.#state = result.state;
    const happening = { before, after: result.state, event, effects: result.effects, request };
    this.#state = countDeeds(happening, this.led.agent.id, this.view);
    this.#at = event.at;
    if (request !== undefined) this.#parts.requests.push(request);
    if (event.type === 'input' || (event.type === 'retry' && isResting(before.type)))
      [this.#sent_this_turn, this.#reply] = [false, null];
    if (event.type === 'clock-moved') {
      this.#moved_ms += event.by_ms;
      this.#config = withMovedEnds(this.#config, event.by_ms);
    }
    if (event.type === 'response') this.#reply = replyIn(event, before, this.#state) ?? this.#reply;
    for (const effect of result.effects) this.#absorb(effect);
    const end = endOfTurn(before, this.#state, event.type === 'response', this.#reply);
    if (end !== null)
      this.#ended.push({ ...end, ...this.#did(), seq: this.last_seq, reported: this.#sent_this_turn });
    return null;
  }

  #absorb(effect: Effect): void {
    switch (effect.type) {
      case 'append':
        return this.#append(effect.message);
      case 'create-agents':
        this.#parts.create.push(...effect.agents);
        return;
      case 'deliver-mail': {
        const { mail } = effect;
        const is_report = mail.kind === 'letter' && mail.to_id === this.led.agent.parent_id;
        this.#parts.send.push(is_report ? { ...mail, ...this.#did() } : mail);
        this.#sent_this_turn ||= is_report;
        return;
      }
      case 'consume-mail':
        // What follows the parent's answer is a report again.
        if (
          this.mail.left.some(
            ({ id, from_id }) => effect.mail_ids.includes(id) && from_id === this.led.agent.parent_id,
          )
        )
          this.#sent_this_turn = false;
        for (const id of effect.mail_ids) this.mail.takeWithNext(id);
        return;
      case 'kill-agents':
        for (const id of effect.agent_ids) this.kill(id);
        return;
      case 'tell-people':
        return this.#tellPeople(effect);
      case 'enter-ask':
        this.#parts.asks.push(effect.ask);
        return;
      case 'void-asks':
        this.#parts.void_asks.push(...effect.ask_ids);
        return;
      case 'set-model':
        this.#config = {
          ...this.#config,
          model: effect.model,
          thinking: effect.thinking ?? this.#config.thinking,
        };
        return;
      case 'set-paused': {
        const { workflow, ...config } = this.#config;
        if (workflow === undefined) return;
        const { paused: _, ...terms } = workflow;
        this.#config = {
          ...config,
          workflow: effect.paused === null ? terms : { ...terms, paused: effect.paused },
        };
        return;
      }
      case 'add-workflows':
        this.#config = withWorkflows(this.#config);
        return;
      case 'set-mode':
        this.#config = { ...this.#config, permissions: { ...this.#config.permissions, mode: effect.mode } };
        return;
      case 'notify-parent': {
        const { id, parent_id, origin } = this.led.agent;
        if (parent_id === null) return;
        const { outcome } = effect;
        // Nobody awaits a fork: it reports.
        if (origin === 'fork') return this.#post(parent_id, 'report', completionOf(outcome));
        const body = { agent_id: id, outcome, ...this.#did() };
        return this.#post(parent_id, origin === 'session' ? 'announce' : 'outcome', body);
      }
      case 'cancel-agents':
        for (const id of effect.agent_ids)
          this.#post(id, 'control', { type: 'cancel', reason: effect.reason });
        return;
      case 'run-call':
        if (this.view.tools.has(effect.call.name)) this.calls.start(effect.call);
        else this.#effects.push(effect);
        return;
      case 'abort':
        // What this step was about to start must not start either; calls of toolsets check for themselves.
        this.#effects.length = 0;
        this.#effects.push(effect);
        return;
      default:
        this.#effects.push(effect);
        return;
    }
  }

  #append(message: Message): void {
    this.#parts.messages.push(this.mail.carry(this.last_seq + 1, message));
  }

  #post(to_id: string, kind: MailKind, body: object): void {
    // An agent that has ended reads no mail.
    const { state } = this.view.relatives.agent(to_id) ?? {};
    if (state === undefined || !isTerminal(state.type))
      this.write(to_id, kind, JSON.stringify(body), this.#at);
  }

  /** What the agent has said, including this step. */
  said(since: 'beginning' | 'spoken-to'): string {
    return allTexts(...this.led.prompt.said(since), ...saidIn(this.#parts.messages));
  }

  /** Adds a notice for people to the conversation. */
  tell(text: string, data?: EventContent['data']): void {
    const content = { event: 'notice', text, ...(data === undefined ? {} : { data }) } as const;
    this.#append({ kind: 'event', content });
  }

  #tellPeople({ cause, targets, text }: Extract<Effect, { type: 'tell-people' }>): void {
    const { id: agent_id, root_id } = this.led.agent;
    this.tell(text);
    for (const target of targets)
      this.deliver({
        id: deliveryId('notice', agent_id, cause, target),
        ...{ kind: 'notice', target, root_id, agent_id, about: null, body: text, created_at: this.view.now },
      });
  }

  /** Consumes mail with the newest message, for mail that adds no message of its own. */
  takeNow(mail_id: string): void {
    this.mail.takeAt(this.last_seq, mail_id);
  }

  write(to_id: string, kind: MailKind, body: string, sent_at: number, did: Pick<NewMail, 'did'> = {}): void {
    const { id: from_id, root_id, name: from_name } = this.led.agent;
    const id = this.newId();
    this.#parts.send.push({ id, root_id, to_id, from_id, from_name, kind, body, sent_at, ...did });
  }

  /** What the agent really did, which is added to what it tells its parent. */
  #did(): { readonly did?: string } {
    const did = deedsLine({ config: this.#config, state: this.#state }, this.view.now);
    return did === undefined ? {} : { did };
  }

  /** Whether this step sends the agent mail that will wake it. */
  wakes({ id }: Agent): boolean {
    return this.#parts.send.some(({ to_id, kind }) => to_id === id && WAKING_MAIL.has(kind));
  }

  kill(agent_id: string): void {
    this.#parts.kill.push(agent_id);
  }

  /** Deletes the conversation of a child with this step. */
  remove(agent_id: string): void {
    this.#parts.remove.push(agent_id);
  }

  deliver(delivery: Step['deliver'][number]): void {
    this.#parts.deliver.push(delivery);
  }

  get asks(): Step['asks'] {
    return this.#parts.asks;
  }

  /** How the agent stands after this step, of a root with those of its agents that rest, and which calls were denied. */
  get outcome(): Outcome {
    const { unread: _, ...agent } = this.led.agent;
    const { relatives } = this.view;
    const all = agent.parent_id === null ? relatives.members(agent.id) : [];
    const others = all.filter((one) => one.id !== agent.id && hasRest(one));
    const self = { ...agent, state: this.#state };
    const told = outcomeOfTree(agent.id, [self, ...others], relatives.tree(agent.id)?.total);
    const { outcome, outcome_text, how_on } = told;
    if (outcome_text.includes(this.denied)) return told;
    return goingOn({ outcome, outcome_text: `${textAlone(told)}, ${this.denied}` }, how_on);
  }

  /** Its denied calls and those below it, in words; empty without any. */
  get denied(): string {
    const { denied, denied_below } = deedsOf(this.#state) ?? {};
    return deniedLine(deniedIn(denied, denied_below)) ?? '';
  }

  get ended_turns(): readonly EndedTurn[] {
    return this.#ended;
  }

  /** Agents that the step creates or kills, and requests that ended in it. */
  get parts(): Pick<Step, 'create' | 'kill' | 'requests'> {
    return this.#parts;
  }

  /** Whether there is such an agent, also one that an earlier order of this step has created. */
  hasAgent(id: string): boolean {
    return (
      this.view.relatives.agent(id) !== undefined || this.#parts.create.some((one) => one.agent.id === id)
    );
  }

  get asksModel(): boolean {
    return this.#effects.some(({ type }) => type === 'request-model');
  }

  get noticed(): number {
    return this.#noticed;
  }

  /** Records that the agent has been notified of letters up to this number. */
  notice(number: number): void {
    this.#noticed = number;
  }

  park(call_id: string, from: readonly string[]): void {
    this.#parked.push({ call_id, from });
  }

  result(): Omit<Advance, 'wait_cursors' | 'run'> {
    return {
      step: this.isEmpty ? null : this.#step(),
      effects: this.#effects,
      deferred: this.calls.deferred,
      consumed: this.mail.ids,
      parked: this.#parked,
      answered: this.calls.answered,
      unused: this.calls.unused,
    };
  }

  #step(): Step {
    const [agent, state] = [this.led.agent, this.#state];
    return {
      ...{ agent_id: agent.id, epoch: agent.epoch, base_seq: agent.last_seq, at: this.view.now, state },
      ...this.#parts,
      ...(this.#config === agent.config ? {} : { config: this.#config }),
      ...payersOf(agent.config),
      consume: this.mail.placed,
      waits_for: sameWaits(agent.state, state) ? null : waitEdges(state),
      waits_until: waitsUntil(state),
      ...(this.#moved_ms === 0 ? {} : { moved_ms: this.#moved_ms }),
      doing: doing(state, this.view.argumentsOf),
      // Law 5: one result for each call, however it ended.
      calls: this.#parts.messages.filter(({ kind }) => kind === 'result').length,
      ...(isTask(agent.origin) && isTerminal(state.type) ? { outcome: this.outcome } : {}),
      ...{ reply: this.#reply, noticed: this.#noticed },
      sent_this_turn: this.#sent_this_turn,
    };
  }
}

function hasRest({ state: { type }, origin, unread }: Agent): boolean {
  return !isWorking(type) && unread !== true && (type !== 'idle' || !isTask(origin));
}

function completionOf(outcome: ChildOutcome): Completion {
  return outcome.type === 'success'
    ? { status: 'idle', success: true, summary: outcome.result }
    : { status: 'idle', success: false, ...noFailure(outcome.error_kind), error: outcome.error };
}

/** Calls of toolsets in one step: those to be decided, and those deferred. */
class ToolsetCalls {
  readonly #tools: View['tools'];
  readonly #started: Call[] = [];
  readonly #deferred: DeferredCall[] = [];
  readonly #answered: string[] = [];
  readonly #unused: Worktree[] = [];
  #has_read_schema = false;

  constructor(tools: View['tools']) {
    this.#tools = tools;
  }

  start(call: Call): void {
    this.#started.push(call);
  }

  /** The next call to decide; calls of tools that come last wait for the others. */
  next(): Call | undefined {
    const at = this.#started.findIndex(({ name }) => this.#tools.get(name)?.comes_last !== true);
    return this.#started.splice(Math.max(at, 0), 1)[0];
  }

  defer(call: Call, until: Partial<Omit<DeferredCall, 'call'>> = {}): void {
    this.#deferred.push({ call, look_up: [], needs: [], survey: false, ...until });
  }

  get deferred(): readonly DeferredCall[] {
    return this.#deferred;
  }

  /** Allows one call with schemas per step: compiling them may take long and blocks other agents. */
  mayReadSchema(): boolean {
    const is_first = !this.#has_read_schema;
    this.#has_read_schema = true;
    return is_first;
  }

  /** Drops the answer under this key; nobody will work in the worktree `unused`. */
  useAnswer(key: string, unused?: Worktree): void {
    this.#answered.push(key);
    if (unused !== undefined) this.#unused.push(unused);
  }

  get answered(): readonly string[] {
    return this.#answered;
  }

  get unused(): readonly Worktree[] {
    return this.#unused;
  }
}
