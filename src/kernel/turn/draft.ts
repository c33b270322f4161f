import type { Agent, AgentConfig } from '../../core/agent.ts';
import type { NewAsk } from '../../core/ask.ts';
import { allTexts, saidIn, textOf } from '../../core/child-text.ts';
import type { NewDelivery } from '../../core/delivery.ts';
import type { Effect } from '../../core/effect.ts';
import type { AgentEvent } from '../../core/event.ts';
import type { NewMail } from '../../core/mail.ts';
import type { Message } from '../../core/message.ts';
import type { NewAgent } from '../../core/new-agent.ts';
import type { AgentState, Call } from '../../core/state.ts';
import type { RequestRecord, Step } from '../../core/step.ts';
import type { Worktree } from '../../core/task-terms.ts';
import { transition } from '../../core/transition.ts';
import type { TransitionContext } from '../../core/transition-context.ts';
import type { InvalidTransition } from '../../core/transition-result.ts';
import { sameWaits, waitEdges, waitsUntil } from '../../core/wait-edges.ts';
import type { Need } from '../../toolsets/need.ts';
import { type EndedTurn, endOfTurn } from './ended-turn.ts';
import type { LedAgent } from './led-agent.ts';

/** Effects that are performed after the commit. */
export type WorldEffect = Extract<Effect, { type: 'request-model' | 'run-call' | 'start-timer' | 'abort' }>;

/**
 * A step in the making: events go in, one `Step` for the ledger and the effects to perform after it come out. Nothing
 * outside sees anything of it before the ledger has acknowledged.
 */
export class Draft {
  readonly before: Agent;
  readonly messages: Message[] = [];
  readonly create: NewAgent[] = [];
  readonly send: NewMail[] = [];
  readonly kill: string[] = [];
  /** Ids of letters that this step takes out of the mailbox. */
  readonly consumed = new Set<string>();
  readonly world: WorldEffect[] = [];
  /** Started calls of toolsets, to be decoded in this step. */
  readonly toolset_calls: Call[] = [];
  /** Calls of toolsets that must see this step committed, or names looked up, before they are decoded. */
  readonly deferred: {
    readonly call: Call;
    readonly look_up: readonly string[];
    readonly needs: readonly Need[];
    /** Everybody of the tree must be looked up. */
    readonly survey: boolean;
    /** The others are decided before it. */
    readonly last?: true;
  }[] = [];
  /** A call that brings schemas was decided in this step. */
  read_schema = false;
  /** An order waits for a look at the ledger: letters and orders that came after it wait too. */
  holds_mail = false;
  /** Keys of what was found out for calls that are decided now: the world changes, so the next call asks anew. */
  readonly answered: string[] = [];
  /** Worktrees that were made for calls which then were not admitted. */
  readonly unused: Worktree[] = [];
  /** Children whose conversations go with this step. */
  readonly remove: string[] = [];
  readonly asks: NewAsk[] = [];
  readonly void_asks: string[] = [];
  /** What people outside are told. */
  readonly deliver: NewDelivery[] = [];
  readonly ended_turns: EndedTurn[] = [];
  /** Fan-in waits that this step parks. */
  readonly parked: { readonly call_id: string; readonly from: readonly string[] }[] = [];
  state: AgentState;
  config: AgentConfig;
  reply: string | null;
  sent_this_turn: boolean;
  noticed: number;
  readonly #prompt: LedAgent['prompt'];
  readonly #context: TransitionContext;
  readonly #isToolsetCall: (call: Call) => boolean;
  readonly #newId: () => string;
  readonly #isAlive: (agent_id: string) => boolean;
  readonly #requests: RequestRecord[] = [];
  readonly #consume: { mail_id: string; seq: number }[] = [];
  readonly #unplaced: string[] = [];
  #settled = 0;
  #at = 0;

  constructor(
    agent: Agent,
    prompt: LedAgent['prompt'],
    context: TransitionContext,
    isToolsetCall: (call: Call) => boolean,
    newId: () => string,
    isAlive: (agent_id: string) => boolean,
  ) {
    this.before = agent;
    this.state = agent.state;
    this.config = agent.config;
    this.reply = agent.reply;
    this.sent_this_turn = agent.sent_this_turn;
    this.noticed = agent.noticed;
    this.#prompt = prompt;
    this.#context = { ...context, said: () => this.said('beginning') };
    this.#isToolsetCall = isToolsetCall;
    this.#newId = newId;
    this.#isAlive = isAlive;
  }

  /** Seq of the newest message, those of this step included. */
  get last_seq(): number {
    return this.before.last_seq + this.messages.length;
  }

  get isEmpty(): boolean {
    return (
      this.state === this.before.state &&
      this.messages.length === 0 &&
      this.#consume.length === 0 &&
      this.send.length === 0
    );
  }

  /** Returns what was wrong, or null; an event that the state does not admit changes nothing. */
  apply(happened: AgentEvent, request?: RequestRecord): InvalidTransition | null {
    // Only here it is known which place the answer takes.
    const event = happened.type === 'response' ? { ...happened, seq: this.last_seq + 1 } : happened;
    const before = this.state;
    const result = transition(this.state, event, this.#context);
    if (!result.ok) return result.invalid;
    this.state = result.state;
    this.#at = event.at;
    if (request !== undefined) this.#requests.push(request);
    if (event.type === 'input' || event.type === 'retry') {
      this.sent_this_turn = false;
      this.reply = null;
    }
    if (event.type === 'call-settled') this.#settled += 1;
    if (event.type === 'response' && (event.calls.length === 0 || this.state.type === 'idle'))
      this.reply = unfinishedText(before) + textOf(event.content);
    for (const effect of result.effects) this.#absorb(effect);
    const end = endOfTurn(before, this.state, event.type === 'response', this.reply);
    if (end !== null) this.ended_turns.push({ ...end, seq: this.last_seq, reported: this.sent_this_turn });
    return null;
  }

  /** What the agent has said, this step included. */
  said(since: Parameters<LedAgent['prompt']['said']>[0]): string {
    return allTexts(...this.#prompt.said(since), ...saidIn(this.messages));
  }

  /** Takes a letter out of the mailbox with the message that comes next. */
  consumeWithNext(mail_id: string): void {
    this.#unplaced.push(mail_id);
    this.consumed.add(mail_id);
  }

  /** Takes a letter out of the mailbox with the newest message, for mail that brings no message of its own. */
  consumeNow(mail_id: string): void {
    this.#consume.push({ mail_id, seq: this.last_seq });
    this.consumed.add(mail_id);
  }

  append(message: Message): void {
    this.messages.push(message);
    for (const mail_id of this.#unplaced.splice(0)) this.#consume.push({ mail_id, seq: this.last_seq });
  }

  #absorb(effect: Effect): void {
    switch (effect.type) {
      case 'append':
        this.append(effect.message);
        return;
      case 'create-agents':
        this.create.push(...effect.agents);
        return;
      case 'deliver-mail':
        this.send.push(effect.mail);
        if (effect.mail.kind === 'letter' && effect.mail.to_id === this.before.parent_id)
          this.sent_this_turn = true;
        return;
      case 'consume-mail':
        for (const id of effect.mail_ids) this.consumeWithNext(id);
        return;
      case 'kill-agents':
        this.kill.push(...effect.agent_ids);
        return;
      case 'enter-ask':
        this.asks.push(effect.ask);
        return;
      case 'void-asks':
        this.void_asks.push(...effect.ask_ids);
        return;
      case 'set-model':
        this.config = { ...this.config, model: effect.model };
        return;
      case 'notify-parent':
        if (this.before.parent_id !== null) {
          const kind = this.before.origin === 'session' ? 'announce' : 'outcome';
          this.#post(this.before.parent_id, kind, { agent_id: this.before.id, outcome: effect.outcome });
        }
        return;
      case 'cancel-agents':
        for (const id of effect.agent_ids)
          this.#post(id, 'control', { type: 'cancel', reason: effect.reason });
        return;
      case 'run-call':
        if (this.#isToolsetCall(effect.call)) this.toolset_calls.push(effect.call);
        else this.world.push(effect);
        return;
      case 'abort':
        // Whatever this very step wanted to start must not start either.
        this.world.length = 0;
        this.toolset_calls.length = 0;
        this.world.push(effect);
        return;
      case 'request-model':
      case 'start-timer':
        this.world.push(effect);
        return;
    }
  }

  #post(to_id: string, kind: 'outcome' | 'announce' | 'control', body: object): void {
    // Who ended in the meantime reads no mail, and needs none.
    if (!this.#isAlive(to_id)) return;
    const { id, root_id, name } = this.before;
    this.send.push({
      id: this.#newId(),
      root_id,
      to_id,
      from_id: id,
      from_name: name,
      kind,
      body: JSON.stringify(body),
      sent_at: this.#at,
    });
  }

  step(at: number, doing: string | null): Step {
    return {
      agent_id: this.before.id,
      epoch: this.before.epoch,
      base_seq: this.before.last_seq,
      at,
      state: this.state,
      ...(this.config === this.before.config ? {} : { config: this.config }),
      messages: this.messages,
      create: this.create,
      send: this.send,
      consume: this.#consume,
      kill: this.kill,
      waits_for: sameWaits(this.before.state, this.state) ? null : waitEdges(this.state),
      waits_until: waitsUntil(this.state),
      requests: this.#requests,
      calls: this.#settled,
      doing,
      reply: this.reply,
      sent_this_turn: this.sent_this_turn,
      noticed: this.noticed,
      remove: this.remove,
      asks: this.asks,
      void_asks: this.void_asks,
      deliver: this.deliver,
    };
  }
}

/** What an answer that was cut had said: its continuation joins it. */
function unfinishedText(state: AgentState): string {
  return state.type === 'requesting' ? (state.turn.unfinished ?? '') : '';
}
