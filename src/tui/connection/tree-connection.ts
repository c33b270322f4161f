import { basename } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { budgetDocument } from '../../documents/budget-json.ts';
import { withWorkflows } from '../../kernel/toolsets/workflow/workflow-toolset.ts';
import { configIn } from '../../permissions/mode.ts';
import type { Agent } from '../../records/agent/agent.ts';
import type { ComposedText } from '../../records/conversation/attached-text.ts';
import type { PlacedMessage } from '../../records/conversation/message.ts';
import { excerpt } from '../../records/text/text.ts';
import type { RuntimeEvent } from '../../runtime/runtime-event.ts';
import type { ResumeOptions } from '../../runtime/runtime-face.ts';
import { withSameLedger } from '../../settings/suggested-command.ts';
import { type Lead, notLedYet } from '../../trees/leaders/leaders.ts';
import { unledOf, unledText } from '../../trees/leaders/unled-reason.ts';
import { OpenTree, type ResumedTree, startTree } from '../../trees/open-tree.ts';
import type { AppContext } from '../app-context.ts';
import type { AppOptions } from '../app-options.ts';
import { replacedIn } from '../state/question-in-view.ts';
import { needsHistory } from '../state/ui-store.ts';

/** Maximum messages of a conversation that are shown when it comes into view; those that follow are added. */
const MESSAGES_MAX = 2_000;

const MAIN = { name: 'main', session_key: 'agent:main:main' };

/** Connects the UI with one tree: opens it, follows the agents that other processes lead, loads what is in view. */
export class TreeConnection {
  readonly #app: AppContext;
  readonly #options: AppOptions;
  readonly #lead: Lead;
  readonly #tree: OpenTree;
  readonly #loading = new Set<string>();
  /** Null if the budget meter is switched off, or nothing is drawn. */
  readonly #budgets: BudgetReader | null;
  #unled: string | null = null;
  #tasks_changed = false;
  #reading_tasks: Promise<void> | null = null;

  constructor(app: AppContext, options: AppOptions, lead: Lead, onEvent: (event: RuntimeEvent) => void) {
    this.#app = app;
    this.#options = options;
    this.#lead = lead;
    this.#tree = new OpenTree({
      ...{ store: app.store, runtime: app.runtime, leads: lead.by === 'here', onEvent },
      onAsks: () => this.refresh(),
      onLook: (root_id) => void this.#watchLead(root_id),
    });
    this.#budgets = options.meters.budget && !options.line_mode ? new BudgetReader(app) : null;
  }

  /** Whether workers lead the tree: events are then read from the ledger, and leaving stops nothing. */
  get followed(): boolean {
    return !this.#tree.leads;
  }

  /** Lines that tell the person who leads the tree. */
  get told(): readonly string[] {
    if (this.#lead.by === 'here') return [];
    if (this.#lead.by === 'nobody') return [withSameLedger(this.#options.unled, notLedYet(this.#lead)), ''];
    return ['workers lead it: you see what they do, and may send, answer and leave as you like', ''];
  }

  resume(root_id: string, how: ResumeOptions): Promise<ResumedTree> {
    return this.#tree.resume(root_id, how);
  }

  /** Shows a resumed tree, with an agent in view. */
  async show(tree: ResumedTree, agent_id: string): Promise<void> {
    const app = this.#app;
    const { root_id, agents, report } = tree;
    app.dispatch({ type: 'opened', root_id, agents });
    app.dispatch({ type: 'visit', agent_id: root_id });
    app.dispatch({ type: 'visit', agent_id });
    for (const { agent, reason } of report?.broken ?? [])
      app.say(`${agent.name} cannot be restored: ${reason}`, 'bad');
    await this.#tree.follow(tree);
    this.refresh();
    this.#readTasks();
  }

  /** Starts a tree with the first prompt; resolves to its root, which is in view. */
  async start(prompt: ComposedText | null, workflows: boolean): Promise<Agent> {
    const { store, runtime, state, next_model, next_effort } = this.#app;
    const { placement } = this.#options;
    const begun = this.#options.begin(next_model);
    const own = { ...begun.config, ...(next_effort !== null && { thinking: next_effort }) };
    const config = configIn(state.next_mode, workflows ? withWorkflows(own) : own);
    const terms = { config, limits: begun.limits };
    const { text = '', ...pictures } = prompt ?? {};
    const root =
      prompt === null
        ? await runtime.begin({ ...terms, ...MAIN, placement: placement ?? [] })
        : await startTree({ store, runtime }, { prompt: text, ...pictures, ...terms }, placement);
    this.#app.dispatch({ type: 'opened', root_id: root.id, agents: [root] });
    this.#app.dispatch({ type: 'visit', agent_id: root.id });
    return root;
  }

  /** Follows a tree that was just started, if workers lead it. */
  async followStarted(root: Agent): Promise<void> {
    if (this.followed) await this.#tree.follow({ root_id: root.id, report: null, agents: [root] });
  }

  /** Tells the person when the last worker has gone and nobody leads the tree any more. */
  async #watchLead(root_id: string): Promise<void> {
    if (!this.followed) return;
    const unled = await unledOf(this.#options.unled, this.#app.store, root_id).catch(() => undefined);
    if (unled === undefined) return;
    const why = unled === null ? null : unledText(unled);
    if (why !== null && why !== this.#unled) this.#app.say(why, 'bad');
    this.#unled = why;
  }

  know(agent: Agent): void {
    this.#tree.know(agent);
  }

  /** Loads what is missing of the agent in view: its scrollback, what is left of its budget. */
  load(): void {
    const app = this.#app;
    this.#budgets?.look();
    const agent_id = needsHistory(app.state);
    if (agent_id === null || this.#loading.has(agent_id)) return;
    this.#loading.add(agent_id);
    app.attempt(async () => {
      try {
        // While the selection in the list moves on, nothing is read.
        if (agent_id !== app.state.view) await pause(RESTS_MS);
        if (needsHistory(app.state) !== agent_id) return;
        const last = app.state.agents.get(agent_id)?.last_seq ?? 0;
        const messages = await app.store.history(agent_id, Math.max(0, last - MESSAGES_MAX));
        const mail = await app.store.mail(agent_id);
        const [newest] = (await app.store.newestRequests(agent_id, 1)).map(({ usage }) => usage);
        const used = newest && { used: newest.input + newest.output };
        this.#loading.delete(agent_id);
        app.dispatch({ type: 'history', agent_id, messages, mail, ...used });
      } finally {
        this.#loading.delete(agent_id);
      }
    });
  }

  /** Re-reads from the ledger what a message may have changed. */
  heard({ kind, content }: PlacedMessage): void {
    if (kind === 'result' && content.name.startsWith('task_')) this.#readTasks();
    if (kind === 'assistant') this.#budgets?.spent();
  }

  /** Reads the task list, one read at a time; a change during a read causes another one. */
  #readTasks(): void {
    this.#tasks_changed = true;
    this.#reading_tasks ??= this.#tasks().finally(() => {
      this.#reading_tasks = null;
    });
  }

  async #tasks(): Promise<void> {
    const app = this.#app;
    while (this.#tasks_changed && app.state.root_id !== null) {
      this.#tasks_changed = false;
      const { root_id } = app.state;
      const tasks = await app.store.tasks(root_id).catch(() => null);
      if (tasks !== null && app.state.root_id === root_id) app.dispatch({ type: 'tasks', tasks });
    }
  }

  /** Re-reads the open approvals, the budgets, and the task list if there is one, which also changes when an agent ends. */
  refresh(): void {
    const app = this.#app;
    const { root_id } = app.state;
    if (root_id === null) return;
    if (app.state.tasks.length > 0) this.#readTasks();
    this.#budgets?.spent();
    void app.store
      .asks({ root_id, open: true })
      .then((open) => {
        // Another tree is in view by now.
        if (app.state.root_id !== root_id) return;
        const newest = open.at(-1);
        if (newest !== undefined && open.length > app.state.asks.length)
          app.screen.attention(
            basename(app.options.cwd),
            `${newest.agent_name} asks: ${excerpt(newest.subject)}`,
          );
        app.dispatch({ type: 'tick', now: Date.now() });
        const before = app.state;
        const words = before.question?.saying ?? '';
        app.dispatch({ type: 'asks', asks: open });
        const replaced = replacedIn(before, app.state);
        if (replaced !== null)
          app.say(
            `${replaced.agent_name} no longer asks: ${excerpt(replaced.subject)}; another question has its place`,
          );
        // The approval is gone: the reason typed for its denial goes into the draft.
        if (words !== '' && app.state.question?.saying == null && app.acceptsInput)
          app.editor.setText(`${app.editor.text}${words}`);
      })
      .catch(() => undefined);
  }

  async close(): Promise<void> {
    this.#budgets?.close();
    await this.#tree.close();
  }
}

/** How long an agent is selected in the list before its scrollback is read. */
const RESTS_MS = 150;
/** Throttle: minimum time between two reads while agents spend. */
const READ_MS = 1_000;

/** Reads what is left of the budgets of the root and of the agent in view, for the meter, soon after something was spent. */
class BudgetReader {
  readonly #app: AppContext;
  #timer: NodeJS.Timeout | null = null;
  /** The agent in view at the last read. */
  #view: string | null = null;

  constructor(app: AppContext) {
    this.#app = app;
  }

  /** Reads at once if another agent has come into view. */
  look(): void {
    const { view } = this.#app.state;
    if (view === this.#view) return;
    this.#view = view;
    void this.#read();
  }

  /** Schedules a read: something was spent, or a budget may have changed. */
  spent(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = null;
      void this.#read();
    }, READ_MS).unref();
  }

  close(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
  }

  async #read(): Promise<void> {
    const { store, state } = this.#app;
    const { view, root_id } = state;
    const [root, agent] = [root_id, view].map((id) => (id === null ? undefined : state.agents.get(id)));
    if (root === undefined) return;
    const read = agent === undefined || agent === root ? [root] : [root, agent];
    const budgets = await Promise.all(read.map((one) => budgetDocument(store, one))).catch(() => null);
    const is_current = this.#app.state.root_id === root_id && this.#app.state.view === view;
    if (budgets !== null && is_current) this.#app.dispatch({ type: 'budgets', budgets });
  }
}
