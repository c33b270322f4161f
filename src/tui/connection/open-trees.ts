import { basename } from 'node:path';
import { titleOf } from '../../documents/tree-titles.ts';
import type { Agent } from '../../records/agent/agent.ts';
import { isWorking } from '../../records/agent/state.ts';
import type { ComposedText } from '../../records/conversation/attached-text.ts';
import type { PlacedMessage } from '../../records/conversation/message.ts';
import { CoppiceError } from '../../records/coppice-error.ts';
import { clean } from '../../render/clean.ts';
import type { RuntimeEvent } from '../../runtime/runtime-event.ts';
import type { ResumeOptions } from '../../runtime/runtime-face.ts';
import { type Lead, leadOf, leadOfNew } from '../../trees/leaders/leaders.ts';
import { releaseTree } from '../../trees/open-tree.ts';
import type { AppContext } from '../app-context.ts';
import type { AppOptions } from '../app-options.ts';
import { TreeConnection } from './tree-connection.ts';

interface OpenTreesListener {
  readonly onEvent: (event: RuntimeEvent) => void;
  /** Called when the tree of the first prompt is in view. */
  readonly onStarted: (root: Agent) => void;
  /** Called before another tree, or none, replaces the tree in view. */
  readonly onReplace: () => void;
}

/** The tree in view, and those that were in view before: agents at work there go on in this process. */
export class OpenTrees {
  readonly #app: AppContext;
  readonly #options: AppOptions;
  readonly #listener: OpenTreesListener;
  readonly #left: BackgroundTrees;
  #current: TreeConnection;
  /** Whether a tree is being started here: the next root to be created belongs to it. */
  #starting = false;
  /** Roots of trees out of view that this process leads. */
  readonly #held = new Set<string>();
  /** The last opening, starting or release of a tree: these never overlap. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(app: AppContext, options: AppOptions, listener: OpenTreesListener) {
    this.#app = app;
    this.#options = options;
    this.#listener = listener;
    this.#left = new BackgroundTrees(app.runtime.worker_id);
    this.#current = this.#connection({ by: 'here' });
  }

  get current(): TreeConnection {
    return this.#current;
  }

  /** The trees that were in view before. */
  get left(): BackgroundTrees {
    return this.#left;
  }

  /** Opens the first view: a tree, or an empty conversation (null). */
  async begin(root_id: string | null, resume: ResumeOptions): Promise<void> {
    if (root_id !== null) return this.#serial(() => this.#open(root_id, root_id, resume));
    this.#current = this.#connection(await this.#leadOf(null));
    this.#tell();
  }

  /** Opens the tree of an agent, with this agent in view; null: an empty conversation. If that fails, the view stays. */
  async open(agent_id: string | null): Promise<void> {
    const { store, state } = this.#app;
    if (agent_id === null) return this.#serial(() => this.#empty());
    const agent = await store.agent(agent_id);
    if (agent === null) throw new CoppiceError('E_AGENT_NOT_FOUND', `no agent with the id ${agent_id}`);
    if (agent.root_id === state.root_id) return this.#app.dispatch({ type: 'visit', agent_id });
    const title = await titleOf(store, { id: agent.root_id, name: agent.name });
    await this.#serial(async () => {
      await this.#open(agent.root_id, agent_id, {}, `conversation: ${title}, in ${clean(agent.config.cwd)}`);
    });
  }

  /** Starts a tree with the first prompt; null: without one. */
  async start(prompt: ComposedText | null, workflows = false): Promise<void> {
    await this.#serial(async () => {
      const { state, runtime } = this.#app;
      // An earlier message has already begun the tree.
      if (state.root_id === null) await this.#start(prompt, workflows);
      else if (prompt !== null) await runtime.send(state.root_id, prompt.text, prompt);
    });
  }

  /** Whether an agent that was created or has changed belongs to the tree in view; an agent of a tree that was left is recorded there. */
  shows(agent: Agent): boolean {
    const { root_id } = this.#app.state;
    if (this.#left.see(agent)) {
      this.#release(agent.root_id);
      return false;
    }
    return root_id === null ? this.#starting : agent.root_id === root_id;
  }

  /** Re-reads what a message may have changed, and tells the person if an agent of a tree out of view asks for approval. */
  async heard(agent_id: string, message: PlacedMessage): Promise<void> {
    this.#current.heard(message);
    if (message.kind !== 'event' || message.content.event !== 'asked') return;
    const { state, store, screen } = this.#app;
    if (state.agents.has(agent_id)) return;
    const agent = await store.agent(agent_id);
    if (agent === null) return;
    const { name, root_id } = agent;
    const title = await titleOf(store, { id: root_id, name });
    screen.attention(basename(agent.config.cwd), `${name} asks`);
    this.#app.say(`${name} of “${title}” waits for your answer: /resume ${root_id.slice(0, 8)}`);
  }

  async #start(prompt: ComposedText | null, workflows: boolean): Promise<void> {
    this.#starting = true;
    const root = await this.#current.start(prompt, workflows).finally(() => {
      this.#starting = false;
    });
    this.#listener.onStarted(root);
    await this.#current.followStarted(root);
  }

  async #open(root_id: string, agent_id: string, resume: ResumeOptions, heading?: string): Promise<void> {
    const next = this.#connection(await this.#leadOf(root_id));
    const tree = await next.resume(root_id, resume);
    const leave = this.#replace(next);
    if (heading !== undefined) this.#app.say(`\n${heading}\n`);
    this.#tell();
    this.#left.returnTo(root_id);
    this.#held.delete(root_id);
    await next.show(tree, agent_id);
    await leave();
  }

  async #empty(): Promise<void> {
    const { state, store } = this.#app;
    const root = state.root_id === null ? null : await store.agent(state.root_id);
    if (root === null) return this.#app.say('this is a new conversation: your first message begins it');
    const title = await titleOf(store, root);
    const leave = this.#replace(this.#connection(await this.#leadOf(null)));
    const stays = this.#left.isBusy(root.id) ? 'goes on here' : 'is kept';
    this.#app.say(
      `\na new conversation: your first message begins it. “${title}” ${stays}: /resume ${root.id.slice(0, 8)}`,
    );
    this.#tell();
    await leave();
  }

  /** Takes the tree in view out of view. The returned function closes its connection, and releases the tree if no agent works there. */
  #replace(next: TreeConnection): () => Promise<void> {
    const app = this.#app;
    const before = this.#current;
    const { root_id, agents } = app.state;
    if (root_id !== null) this.#left.leave(root_id, agents.values());
    this.#listener.onReplace();
    this.#current = next;
    app.dispatch({ type: 'opened', root_id: null, agents: [] });
    return async () => {
      await before.close();
      if (root_id === null || before.followed) return;
      this.#held.add(root_id);
      this.#release(root_id);
    };
  }

  /** Lets other processes lead a tree out of view in which no agent works. */
  #release(root_id: string): void {
    const isHeld = () => this.#held.has(root_id) && !this.#left.isBusy(root_id);
    const release = () =>
      this.#serial(async () => {
        if (!isHeld()) return true;
        const released = await this.#app.runtime.release(root_id);
        if (released) this.#held.delete(root_id);
        return released;
      });
    if (isHeld()) void releaseTree({ release }, root_id);
  }

  #tell(): void {
    for (const line of this.#current.told) this.#app.say(line);
  }

  /** Who leads the tree with this root, or with null, one that is started in this window. */
  #leadOf(root_id: string | null): Promise<Lead> {
    const { placement, unled } = this.#options;
    const { store } = this.#app;
    return root_id === null ? leadOfNew(store, placement) : leadOf(store, root_id, unled.env);
  }

  #connection(lead: Lead): TreeConnection {
    return new TreeConnection(this.#app, this.#options, lead, this.#listener.onEvent);
  }

  #serial<Result>(work: () => Promise<Result>): Promise<Result> {
    const next = this.#last.then(work, work);
    this.#last = next;
    return next;
  }
}

/** Trees that were in view before. Agents at work in them go on in this process. */
class BackgroundTrees {
  /** Ids of the agents at work, by root. */
  readonly #working = new Map<string, Set<string>>();
  readonly #worker_id: string;

  constructor(worker_id: string) {
    this.#worker_id = worker_id;
  }

  leave(root_id: string, agents: Iterable<Agent>): void {
    this.#working.set(root_id, new Set());
    for (const agent of agents) this.see(agent);
  }

  /** Forgets a tree that is in view again. */
  returnTo(root_id: string): void {
    this.#working.delete(root_id);
  }

  /** Records that an agent has changed; false if it belongs to none of these trees. */
  see({ id, root_id, state, worker }: Agent): boolean {
    const working = this.#working.get(root_id);
    if (working === undefined) return false;
    if (isWorking(state.type) && worker === this.#worker_id) working.add(id);
    else working.delete(id);
    return true;
  }

  isBusy(root_id: string): boolean {
    return (this.#working.get(root_id)?.size ?? 0) > 0;
  }

  get working(): number {
    return [...this.#working.values()].reduce((sum, agents) => sum + agents.size, 0);
  }

  /** Roots of the trees in which an agent is at work. */
  get busy(): readonly string[] {
    return [...this.#working.keys()].filter((root_id) => this.isBusy(root_id));
  }
}
