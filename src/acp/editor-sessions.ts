import { randomUUID } from 'node:crypto';
import { isAbsolute } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import {
  type ListSessionsResponse,
  type McpServer,
  type NewSessionResponse,
  RequestError,
  type SessionInfo,
  type SessionUpdate,
} from '@agentclientprotocol/sdk';
import { isoTime } from '../documents/iso-time.ts';
import { titlesOf } from '../documents/tree-titles.ts';
import { type Agent, descendantsOf } from '../records/agent/agent.ts';
import { placeText, readPlace } from '../records/text/list-place.ts';
import { statusWord } from '../render/agent-status.ts';
import { clean } from '../render/clean.ts';
import type { AcpOptions, EditorFolder } from './acp-options.ts';
import { invalidParams } from './protocol-error.ts';
import { EditorSession } from './session/editor-session.ts';
import { EditorTree, type EditorTreeOptions } from './session/editor-tree.ts';

/** Maximum conversations per page of the list. */
const PAGE = 50;
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** The connection to an editor. */
export interface EditorLink {
  readonly update: (sessionId: string, update: SessionUpdate) => void;
  readonly request: EditorTreeOptions['request'];
  /** Whether the editor can show notices. */
  readonly notices: () => boolean;
}

/** The sessions of one editor; each is an agent of a tree that is open in this process. */
export class EditorSessions {
  readonly #options: AcpOptions;
  readonly #link: EditorLink;
  readonly #trees = new Map<string, EditorTree>();
  readonly #sessions = new Map<string, EditorSession>();
  /** Places whose runtimes are subscribed to, with the function that unsubscribes. */
  readonly #heard = new Map<EditorFolder, () => void>();
  /** The newest open or close operation: they run one after another. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(options: AcpOptions, link: EditorLink) {
    this.#options = options;
    this.#link = link;
  }

  /** Returns the open session. Throws "resource not found". */
  get(id: string): EditorSession {
    const session = this.#sessions.get(id);
    if (session === undefined) throw RequestError.sessionNotFound(id);
    return session;
  }

  /** Opens a session for a new conversation, which is in the ledger only from its first prompt on. */
  begin(cwd: string, servers: readonly McpServer[]): Promise<NewSessionResponse> {
    return this.#serial(async () => {
      const place = await this.#placeOf(cwd, servers);
      const draft = place.draft();
      const { config } = place.begin(draft);
      const id = randomUUID();
      const tree = this.#open(id, place, { ...draft, model: config.model });
      const session = this.#openSession(tree, { id, config });
      return { sessionId: id, ...session.describe() };
    });
  }

  /** Opens a session for an agent in the ledger. `shows`: the conversation so far is sent first. */
  load(
    id: string,
    shows: boolean,
    servers: readonly McpServer[],
  ): Promise<Pick<NewSessionResponse, 'modes' | 'configOptions'>> {
    return this.#serial(async () => {
      const { store } = this.#options;
      const agent = UUID.test(id) ? await store.agent(id) : null;
      if (agent === null) throw RequestError.sessionNotFound(id);
      const tree = this.#trees.get(agent.root_id) ?? (await this.#resumeTree(agent.root_id, servers));
      // A session that is loaded again is sent from the beginning.
      this.#sessions.get(id)?.end();
      const session = this.#openSession(tree, tree.agent(id) ?? agent);
      await session.open(() => store.history(id), shows);
      // Open approvals are requested after the answer, when the editor knows the session.
      void setImmediate().then(() => tree.permissions.refresh());
      return session.describe();
    });
  }

  /** Conversations, newest first; one that is open here is followed by its sub-agents. */
  async list(cwd: string | null, cursor: string | null): Promise<ListSessionsResponse> {
    if (cwd !== null && !isAbsolute(cwd)) throw invalidParams('cwd: it must be an absolute path');
    if (cursor !== null && readPlace(cursor) === null)
      throw invalidParams('cursor: not a value that session/list returned');
    const { store } = this.#options;
    const found = await store.agents({
      conversations: true,
      cwd: cwd ?? undefined,
      before: cursor ?? undefined,
      limit: PAGE + 1,
    });
    const roots = found.slice(0, PAGE);
    const titles = await titlesOf(store, roots);
    const sessions = roots.flatMap((root) => {
      const tree = this.#trees.get(root.id);
      const below = tree === undefined ? [] : descendantsOf(root.id, tree.agents);
      return [
        infoOf(root, titles.get(root.id) ?? null),
        ...below.map((agent) => infoOf(agent, `${'› '.repeat(agent.depth)}${clean(agent.name)}`)),
      ];
    });
    const last = roots.at(-1);
    if (last === undefined || found.length <= PAGE) return { sessions };
    return { sessions, nextCursor: placeText(last) };
  }

  /** Interrupts the session's agent and all below it. Closing the last session of a tree releases the tree. */
  close(id: string): Promise<void> {
    return this.#serial(async () => {
      const session = this.get(id);
      const tree = [...this.#trees.values()].find(({ sessions }) => sessions.get(id) === session);
      session.close();
      this.#sessions.delete(id);
      tree?.sessions.delete(id);
      if (tree === undefined || tree.sessions.size > 0) return;
      this.#trees.delete(tree.root_id);
      await tree.close();
    });
  }

  /** Ends all subscriptions and sessions. Work in progress ends with the runtimes. */
  end(): void {
    for (const stop of this.#heard.values()) stop();
    this.#heard.clear();
    for (const tree of this.#trees.values()) tree.end();
    this.#trees.clear();
    this.#sessions.clear();
  }

  async #resumeTree(root_id: string, servers: readonly McpServer[]): Promise<EditorTree> {
    const { store } = this.#options;
    const root = await store.agent(root_id);
    if (root === null) throw RequestError.sessionNotFound(root_id);
    const place = await this.#placeOf(root.config.cwd, servers);
    const tree = this.#open(root_id, place, null);
    try {
      await tree.resume();
      return tree;
    } catch (error) {
      this.#trees.delete(root_id);
      await tree.close();
      throw error;
    }
  }

  #open(root_id: string, place: EditorFolder, draft: EditorTreeOptions['draft']): EditorTree {
    const { store, env, log } = this.#options;
    const tree = new EditorTree({ root_id, place, store, env, draft, log, request: this.#link.request });
    this.#trees.set(root_id, tree);
    return tree;
  }

  #openSession(tree: EditorTree, agent: Pick<Agent, 'id' | 'config'>): EditorSession {
    const send = (update: SessionUpdate) => this.#link.update(agent.id, update);
    const session = new EditorSession(tree, agent, send, this.#link.notices());
    tree.sessions.set(agent.id, session);
    this.#sessions.set(agent.id, session);
    return session;
  }

  async #placeOf(cwd: string, servers: readonly McpServer[]): Promise<EditorFolder> {
    if (!isAbsolute(cwd)) throw invalidParams('cwd: it must be an absolute path');
    const place = await this.#options.placeOf(cwd);
    if (!this.#heard.has(place)) {
      const stop = place.runtime.subscribe((event) => {
        for (const tree of this.#trees.values()) if (tree.place === place) tree.see(event);
      });
      this.#heard.set(place, stop);
    }
    for (const sentence of place.bring(servers)) this.#options.log(sentence);
    return place;
  }

  #serial<Result>(work: () => Promise<Result>): Promise<Result> {
    const next = this.#last.then(work, work);
    this.#last = next.catch(() => undefined);
    return next;
  }
}

function infoOf(agent: Agent, title: string | null): SessionInfo {
  const { id, root_id, parent_id, config, updated_at } = agent;
  return {
    sessionId: id,
    cwd: config.cwd,
    title,
    updatedAt: isoTime(updated_at),
    ...(parent_id === null
      ? {}
      : {
          _meta: {
            coppice: { parentSessionId: parent_id, rootSessionId: root_id, status: statusWord(agent) },
          },
        }),
  };
}
