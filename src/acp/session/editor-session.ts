import type {
  ContentBlock,
  NewSessionResponse,
  PlanEntry,
  PromptResponse,
  SessionUpdate,
  StopReason,
} from '@agentclientprotocol/sdk';
import { type Agent, descendantsOf } from '../../records/agent/agent.ts';
import { failureOf, isWorking } from '../../records/agent/state.ts';
import type { PlacedMessage } from '../../records/conversation/message.ts';
import { outcomeOf, outcomeOfTree } from '../../records/run/outcome.ts';
import { cutText } from '../../records/text/cut-text.ts';
import { storable } from '../../records/text/text.ts';
import { statusWord } from '../../render/agent-status.ts';
import { clean } from '../../render/clean.ts';
import type { RuntimeEvent } from '../../runtime/runtime-event.ts';
import { failureError } from '../protocol-error.ts';
import { ConversationFeed } from '../updates/conversation-feed.ts';
import type { EditorTree, TreeSession } from './editor-tree.ts';
import { promptContent } from './prompt-content.ts';
import { configOptions, modeState, readChange, readMode, type Settings } from './session-settings.ts';

/** Minimum time between two plans. */
const PLAN_MS = 400;

/** One agent of an open tree, as a session of the editor. */
export class EditorSession implements TreeSession {
  readonly id: string;
  readonly send: (update: SessionUpdate) => void;
  readonly #tree: EditorTree;
  readonly #feed: ConversationFeed;
  /** Prompts that have not been answered; a later one joins the turn of the first, or waits for its end if that was cancelled. */
  readonly #prompts = new Set<{ cancelled: boolean; readonly answered: Promise<void> }>();
  /** Prompt texts of this session that have not come back as messages. */
  readonly #own: string[] = [];
  /** Events that arrive while the conversation is read from the ledger; null otherwise. */
  #early: RuntimeEvent[] | null = null;
  /** Ids of agents that were interrupted and have not stopped yet. */
  readonly #stopping = new Set<string>();
  #plan = '[]';
  #plan_timer: NodeJS.Timeout | null = null;
  /** The settings that the editor was last sent. */
  #known: Settings;

  constructor(
    tree: EditorTree,
    agent: Pick<Agent, 'id' | 'config'>,
    send: (update: SessionUpdate) => void,
    notices: boolean,
  ) {
    this.id = agent.id;
    this.#tree = tree;
    this.send = send;
    this.#feed = new ConversationFeed({
      agent,
      send,
      isOwn: (text) => this.#isOwn(text),
      tellsFailures: () => this.#prompts.size > 0,
      notices,
    });
    this.#known = this.settings;
  }

  get settings(): Settings {
    return this.#tree.settingsOf(this.id);
  }

  /** The part of the answers to new, load and resume that describes the session. */
  describe(): Pick<NewSessionResponse, 'modes' | 'configOptions'> {
    const { settings } = this;
    this.#known = settings;
    return { modes: modeState(settings), configOptions: configOptions(settings, this.#tree.place.models()) };
  }

  callId(call_id: string): string | null {
    return this.#feed.callId(call_id);
  }

  /** Starts from the conversation in the ledger, which `read` resolves to. `shows`: all of it is sent to the editor. */
  async open(read: () => Promise<readonly PlacedMessage[]>, shows: boolean): Promise<void> {
    this.#early = [];
    const history = await read();
    const under_way = this.#tree.agent(this.id)?.state.type === 'requesting';
    if (shows) this.#feed.replay(history, under_way);
    else this.#feed.skip(history, under_way);
    const early = this.#early;
    this.#early = null;
    for (const event of early) this.see(event);
    this.#sendPlan();
  }

  async prompt(blocks: readonly ContentBlock[]): Promise<PromptResponse> {
    const stopping = [...this.#prompts].filter(({ cancelled }) => cancelled);
    const { promise: answered, resolve } = Promise.withResolvers<void>();
    const prompt = { cancelled: false, answered };
    this.#prompts.add(prompt);
    try {
      const content = await promptContent(blocks);
      await Promise.all(stopping.map((one) => one.answered));
      if (prompt.cancelled) return { stopReason: 'cancelled' };
      this.#own.push(storable(content.text));
      await this.#tree.say(this.id, content);
      const agent = await this.#tree.settled(this.id);
      this.#sendPlan();
      const stopReason = stopReasonOf(agent, prompt.cancelled);
      const told = outcomeOfTree(this.id, this.#within());
      return told.outcome_text === 'done' ? { stopReason } : { stopReason, _meta: { coppice: told } };
    } finally {
      this.#prompts.delete(prompt);
      resolve();
      if (this.#prompts.size === 0) {
        this.#own.length = 0;
        this.#stopping.clear();
      }
    }
  }

  /** Interrupts this agent and all below it, including turns that they are about to begin. Nothing is killed. */
  cancel(): void {
    for (const prompt of this.#prompts) prompt.cancelled = true;
    const all = this.#within();
    this.#tree.permissions.withdraw(new Set(all.map(({ id }) => id)));
    for (const agent of all) this.#stop(agent);
  }

  async setMode(id: string): Promise<void> {
    await this.#tree.change(this.id, { mode: readMode(id) });
    this.#known = this.settings;
  }

  async setOption(id: string, value: unknown): Promise<ReturnType<typeof configOptions>> {
    await this.#tree.change(this.id, readChange(id, value, this.settings));
    const { settings } = this;
    this.#known = settings;
    return configOptions(settings, this.#tree.place.models());
  }

  /** Handles an event of the tree. */
  see(event: RuntimeEvent): void {
    if (this.#early !== null) return void this.#early.push(event);
    switch (event.type) {
      case 'agent':
        return this.#agentChanged(event.agent);
      case 'message':
        if (event.agent_id === this.id) this.#feed.see(event.message);
        return;
      case 'delta':
        if (event.agent_id === this.id) this.#feed.delta(event.delta);
        return;
      case 'output':
        if (event.agent_id === this.id) this.#feed.output(event.call_id, event.text);
        return;
    }
  }

  close(): void {
    this.cancel();
    this.end();
  }

  /** Stops sending updates. */
  end(): void {
    if (this.#plan_timer !== null) clearTimeout(this.#plan_timer);
    this.#feed.close();
  }

  #agentChanged(agent: Agent): void {
    if (agent.id === this.id || agent.parent_id === null) this.#tellSettings();
    if (agent.id !== this.id && this.#below().some(({ id }) => id === agent.id))
      this.#plan_timer ??= setTimeout(() => this.#sendPlan(), PLAN_MS);
    if (!isWorking(agent.state.type)) this.#stopping.delete(agent.id);
    else if (
      [...this.#prompts].some((one) => one.cancelled) &&
      this.#within().some(({ id }) => id === agent.id)
    )
      this.#stop(agent);
  }

  #stop({ id, state }: Agent): void {
    if (!isWorking(state.type) || this.#stopping.has(id)) return;
    this.#stopping.add(id);
    this.#tree.interrupt(id);
  }

  /** Sends the settings if they were changed elsewhere. */
  #tellSettings(): void {
    const { settings } = this;
    const known = this.#known;
    if (JSON.stringify(settings) === JSON.stringify(known)) return;
    this.#known = settings;
    if (settings.mode !== known.mode)
      this.send({ sessionUpdate: 'current_mode_update', currentModeId: settings.mode });
    this.send({
      sessionUpdate: 'config_option_update',
      configOptions: configOptions(settings, this.#tree.place.models()),
    });
  }

  #sendPlan(): void {
    if (this.#plan_timer !== null) clearTimeout(this.#plan_timer);
    this.#plan_timer = null;
    const entries = planEntries(this.#below());
    const plan = JSON.stringify(entries);
    if (plan === this.#plan) return;
    this.#plan = plan;
    this.send({ sessionUpdate: 'plan', entries });
  }

  #below(): Agent[] {
    return descendantsOf(this.id, this.#tree.agents);
  }

  #within(): Agent[] {
    const own = this.#tree.agent(this.id);
    return own === undefined ? [] : [own, ...this.#below()];
  }

  #isOwn(text: string): boolean {
    const at = this.#own.indexOf(text);
    if (at !== -1) this.#own.splice(at, 1);
    return at !== -1;
  }
}

/** Returns why a turn ended. Throws an error of the protocol if it failed. */
export function stopReasonOf(agent: Agent, cancelled: boolean): StopReason {
  const told = outcomeOf(agent);
  const { outcome } = told;
  if (cancelled || outcome === 'stopped') return 'cancelled';
  if (outcome === 'declined') return 'refusal';
  const failure = failureOf(agent.state);
  if (failure?.kind === 'cut') return 'max_tokens';
  if (failure !== null) throw failureError(failure, told);
  return outcome === 'cut_short' ? 'max_turn_requests' : 'end_turn';
}

/** Maximum agents that a plan names; the others are only counted. */
const NAMED_MAX = 60;
const TEXT_MAX = 160;

/** The agents below one, in order of creation, as entries of its plan: what each is doing, or its outcome. */
export function planEntries(below: readonly Agent[]): PlanEntry[] {
  const named = below.slice(0, NAMED_MAX).map(entryOf);
  const more = below.slice(NAMED_MAX);
  if (more.length === 0) return named;
  const status = more.every((agent) => statusOf(agent) === 'completed') ? 'completed' : 'in_progress';
  return [...named, { content: `and ${more.length} more agents`, priority: 'medium', status }];
}

function entryOf(agent: Agent): PlanEntry {
  const about = aboutOf(agent);
  const content = about === '' ? clean(agent.name) : `${clean(agent.name)}: ${about}`;
  return { content, priority: 'medium', status: statusOf(agent) };
}

function statusOf(agent: Agent): PlanEntry['status'] {
  const word = statusWord(agent);
  if (word === 'queued' || (word === 'idle' && agent.unread === true)) return 'pending';
  return word === 'running' || word === 'waiting' ? 'in_progress' : 'completed';
}

function aboutOf(agent: Agent): string {
  const { outcome, outcome_text } = outcomeOf(agent);
  const done = agent.state.type === 'completed' ? agent.state.result : (agent.reply ?? '');
  const label = agent.config.task?.label ?? '';
  const text =
    statusOf(agent) !== 'completed' ? (agent.doing ?? label) : outcome === 'done' ? done : outcome_text;
  const line = clean(text.trim().split('\n', 1)[0] ?? '');
  return cutText(line, TEXT_MAX, ' …');
}
