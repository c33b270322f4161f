import { modeOf } from '../../permissions/mode.ts';
import { type Agent, descendantsOf, isActive, pathUp } from '../../records/agent/agent.ts';
import type { ComposedText } from '../../records/conversation/attached-text.ts';
import { CoppiceError } from '../../records/coppice-error.ts';
import { storable } from '../../records/text/text.ts';
import { treeTitle } from '../../render/tree-title.ts';
import type { RuntimeEvent } from '../../runtime/runtime-event.ts';
import type { Store } from '../../store/store.ts';
import { leadOf, notLedYet } from '../../trees/leaders/leaders.ts';
import { OpenTree, releaseTree } from '../../trees/open-tree.ts';
import { lookUntil } from '../../trees/rest.ts';
import type { EditorFolder, SessionDraft } from '../acp-options.ts';
import {
  type AskedSession,
  PermissionRequests,
  type PermissionRequestsOptions,
} from './permission-requests.ts';
import type { Change, Settings } from './session-settings.ts';

/** A session in which the editor has an agent of the tree open. */
export interface TreeSession extends AskedSession {
  see(event: RuntimeEvent): void;
  /** Stops sending updates. */
  end(): void;
}

export interface EditorTreeOptions {
  readonly root_id: string;
  readonly place: EditorFolder;
  readonly store: Store;
  readonly env: NodeJS.ProcessEnv;
  /** The settings of a conversation that has not begun; null if it has. */
  readonly draft: SessionDraft | null;
  readonly request: PermissionRequestsOptions['request'];
  readonly log: (line: string) => void;
}

/** A tree that the editor has open, in one session or several. */
export class EditorTree {
  readonly root_id: string;
  readonly place: EditorFolder;
  readonly permissions: PermissionRequests;
  readonly sessions = new Map<string, TreeSession>();
  readonly #options: EditorTreeOptions;
  readonly #agents = new Map<string, Agent>();
  #draft: SessionDraft | null;
  /** Settings that were changed but are not in the ledger's agents yet; models by agent id. */
  readonly #ordered: { mode: Settings['mode'] | null; readonly models: Map<string, string> } = {
    mode: null,
    models: new Map(),
  };
  #beginning: Promise<unknown> | null = null;
  #open: OpenTree;

  constructor(options: EditorTreeOptions) {
    const { root_id, place, store, draft, log } = options;
    this.root_id = root_id;
    this.place = place;
    this.#options = options;
    this.#draft = draft;
    this.#open = this.#opened(true);
    this.permissions = new PermissionRequests({
      ...{ root_id, store, log },
      runtime: place.runtime,
      sessionFor: (id) => this.#nearestSession(id),
      request: options.request,
    });
  }

  get agents(): Iterable<Agent> {
    return this.#agents.values();
  }

  agent(id: string): Agent | undefined {
    return this.#agents.get(id);
  }

  /** Takes over agents of a tree in the ledger that nobody leads, unless workers do so; follows those that others lead. */
  async resume(): Promise<void> {
    const { store, log, env } = this.#options;
    const lead = await leadOf(store, this.root_id, env);
    if (lead.by === 'nobody') log(`${this.root_id}: ${notLedYet(lead)}`);
    this.#open = this.#opened(lead.by === 'here');
    const tree = await this.#open.resume(this.root_id);
    for (const { agent, reason } of tree.report?.broken ?? [])
      log(`${agent.name} cannot be restored: ${reason}`);
    for (const agent of tree.agents) if (!this.#agents.has(agent.id)) this.#agents.set(agent.id, agent);
    await this.#open.follow(tree);
  }

  #opened(leads: boolean): OpenTree {
    return new OpenTree({
      store: this.#options.store,
      runtime: this.place.runtime,
      leads,
      onEvent: (event) => this.see(event),
      onAsks: () => this.permissions.refresh(),
    });
  }

  settingsOf(agent_id: string): Settings {
    const root = this.agent(this.root_id);
    if (root === undefined) return this.#draft ?? { model: '', mode: 'ask', thinking: null };
    const { mode, models } = this.#ordered;
    const model = models.get(agent_id) ?? (this.agent(agent_id) ?? root).config.model;
    return { model, mode: mode ?? modeOf(root.config), thinking: null };
  }

  /** Sends a message of the person; the first one begins the tree. */
  async say(agent_id: string, content: ComposedText): Promise<void> {
    const { runtime } = this.place;
    if (this.#draft === null) {
      await runtime.send(agent_id, content.text, content);
      return;
    }
    // An earlier message is beginning the tree.
    if (this.#beginning !== null) {
      await this.#beginning;
      return this.say(agent_id, content);
    }
    const { text: prompt, ...pictures } = content;
    const { config, limits } = this.place.begin(this.#draft);
    this.#beginning = runtime.start({ id: this.root_id, prompt, ...pictures, config, limits });
    try {
      await this.#beginning;
      this.#draft = null;
    } finally {
      this.#beginning = null;
    }
    const message = { kind: 'user', content: { origin: 'human', text: storable(prompt) } } as const;
    const title = treeTitle([{ ...message, agent_id, seq: 1, at: Date.now() }]);
    this.sessions.get(agent_id)?.send({
      sessionUpdate: 'session_info_update',
      title,
      updatedAt: new Date().toISOString(),
    });
  }

  /** Resolves to the agent when it and all agents below it rest, with nothing pending that would wake them. */
  async settled(agent_id: string): Promise<Agent> {
    const { store } = this.#options;
    if (agent_id === this.root_id) await this.place.runtime.settled(agent_id, 'tree');
    const { agent, within } = await lookUntil(
      { store, runtime: this.place.runtime },
      async () => {
        const all = await store.agents({ root_id: this.root_id });
        const found = all.find(({ id }) => id === agent_id);
        if (found === undefined) throw new CoppiceError('E_AGENT_NOT_FOUND', 'its conversation was deleted');
        return { agent: found, within: [found, ...descendantsOf(agent_id, all)] };
      },
      (now) => !now.within.some(isActive),
    );
    for (const one of within) this.#agents.set(one.id, one);
    return agent;
  }

  async change(agent_id: string, change: Change): Promise<void> {
    const { runtime } = this.place;
    await this.#beginning;
    if (this.#draft !== null) {
      const draft = { ...this.#draft, ...change };
      const { config, limits } = this.place.begin(draft);
      await runtime.checked(config, limits);
      this.#draft = draft;
      return;
    }
    if ('mode' in change) {
      await runtime.switchMode(this.root_id, change.mode);
      if (modeOf(this.#root.config) !== change.mode) this.#ordered.mode = change.mode;
    } else if ('model' in change) {
      await runtime.switchModel(agent_id, change.model);
      if (this.agent(agent_id)?.config.model !== change.model)
        this.#ordered.models.set(agent_id, change.model);
    }
  }

  interrupt(agent_id: string): void {
    this.place.runtime
      .interrupt(agent_id, 'cancelled in the editor')
      .catch((error: unknown) => this.#options.log(`cannot be cancelled: ${String(error)}`));
  }

  /** Handles an event from the place's runtime or from the ledger. */
  see(event: RuntimeEvent): void {
    switch (event.type) {
      case 'agent':
        if (event.agent.root_id !== this.root_id) return;
        this.#know(event.agent);
        this.#open.know(event.agent);
        break;
      case 'message':
        if (!this.#agents.has(event.agent_id)) return;
        this.permissions.heard(event.agent_id, event.message);
        break;
      case 'removed':
        for (const id of event.ids) this.#agents.delete(id);
        return;
    }
    for (const session of this.sessions.values()) session.see(event);
  }

  end(): void {
    this.permissions.close();
    for (const session of this.sessions.values()) session.end();
    void this.#open.close();
  }

  /** Ends all sessions and releases the tree to other processes as soon as no work is in progress; best effort. */
  async close(): Promise<void> {
    this.end();
    if (this.#draft !== null) return;
    await releaseTree(this.place.runtime, this.root_id);
  }

  get #root(): Agent {
    const root = this.agent(this.root_id);
    if (root === undefined)
      throw new CoppiceError('E_AGENT_NOT_FOUND', `no tree with the root ${this.root_id}`);
    return root;
  }

  #know(agent: Agent): void {
    this.#agents.set(agent.id, agent);
    const { models } = this.#ordered;
    if (models.get(agent.id) === agent.config.model) models.delete(agent.id);
    if (agent.id === this.root_id && modeOf(agent.config) === this.#ordered.mode) this.#ordered.mode = null;
  }

  #nearestSession(agent_id: string): TreeSession | null {
    const path = pathUp(agent_id, (id) => this.agent(id));
    return path.map((id) => this.sessions.get(id)).find((session) => session !== undefined) ?? null;
  }
}
