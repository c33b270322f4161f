import { FairSlots } from '../../processes/fair-slots.ts';
import { countIn } from '../../records/kept-in.ts';
import { type AcpServerConfig, MAX_SESSIONS } from './acp-config.ts';
import { AcpConnection, type AcpStart } from './acp-connection.ts';
import { AcpError } from './acp-failure.ts';
import type { AcpSession } from './acp-session.ts';

export interface OpenSession {
  readonly connection: AcpConnection;
  readonly session: AcpSession;
}

interface Known {
  readonly connection: AcpConnection;
  readonly cwd: string;
  readonly opening: Promise<AcpSession>;
}

/** Maximum idle sessions kept for agents that may continue; the least recently used is closed first. */
const KEPT_SESSIONS = 256;
/** Maximum idle processes kept, each in its own folder; the least recently used is stopped first. */
const KEPT_PROCESSES = 4;

/**
 * One configured agent program. Its process starts on first use, is shared by all sessions of a place, and is restarted after a crash. A sandbox is for one
 * folder, so with a sandbox each folder is a place; without one there is a single place.
 */
export class AcpServer {
  readonly name: string;
  readonly config: AcpServerConfig;
  /** Limits concurrent prompts; trees take turns. */
  readonly slots: FairSlots;
  /** Secrets to remove from messages. */
  readonly secrets: readonly string[];
  /** Ways to log in that the program offers; known once it has started. */
  logins: readonly string[] = [];
  readonly #start_of: Omit<AcpStart, 'cwd'>;
  /** Processes by place, least recently used first. */
  readonly #running = new Map<string, Promise<AcpConnection>>();
  /** Number of conversations in progress by place: their processes are not idle. */
  readonly #users = new Map<string, number>();
  readonly #sessions = new Map<string, Known>();
  readonly #closed = new AbortController();
  readonly #ending = new Set<Promise<unknown>>();
  #closing: Promise<void> | null = null;

  constructor(start: Omit<AcpStart, 'cwd'>) {
    const { name, config, env, tool_servers } = start;
    this.name = name;
    this.config = config;
    this.#start_of = start;
    this.slots = new FairSlots({ count: config.maxSessions ?? MAX_SESSIONS });
    const passed = (config.envAllow ?? []).map((variable) => env[variable] ?? '');
    const told = tool_servers.flatMap((one) =>
      'env' in one ? one.env : 'headers' in one ? one.headers : [],
    );
    this.secrets = [...Object.values(config.env ?? {}), ...passed, ...told.map(({ value }) => value)];
  }

  /** Keeps the process for this folder from being stopped as idle while `work` runs. */
  async using<Value>(cwd: string, work: () => Promise<Value>): Promise<Value> {
    const place = this.#placeOf(cwd);
    countIn(this.#users, place, 1);
    try {
      return await work();
    } finally {
      countIn(this.#users, place, -1);
    }
  }

  /** The agent's session, opened if there is none. Rejects with an AcpError or the program's RequestError. */
  async session(key: string, cwd: string, agent_id: string | null): Promise<OpenSession> {
    const connection = await this.#connect(cwd);
    this.logins = connection.logins;
    let known = this.#sessions.get(key);
    if (known === undefined || known.connection !== connection || known.cwd !== cwd) {
      if (known !== undefined) this.forget(key);
      known = { connection, cwd, opening: connection.openSession(cwd, agent_id) };
    }
    // Moved to the end: most recently used.
    this.#sessions.delete(key);
    this.#sessions.set(key, known);
    this.#closeOldest();
    try {
      return { connection, session: await known.opening };
    } catch (error) {
      if (this.#sessions.get(key) === known) this.#sessions.delete(key);
      throw error;
    }
  }

  /** Closes the agent's session: its next prompt gets a new one. */
  forget(key: string): void {
    const known = this.#sessions.get(key);
    this.#sessions.delete(key);
    void known?.opening.then(
      (session) => known.connection.closeSession(session),
      () => undefined,
    );
  }

  #closeOldest(): void {
    for (const key of this.#sessions.keys()) {
      if (this.#sessions.size <= KEPT_SESSIONS + (this.config.maxSessions ?? MAX_SESSIONS)) return;
      this.forget(key);
    }
  }

  #placeOf(cwd: string): string {
    return this.#start_of.sandbox === null ? '' : cwd;
  }

  #connect(cwd: string): Promise<AcpConnection> {
    if (this.#closing !== null)
      return Promise.reject(new AcpError('cancelled', `acp:${this.name} is closed`, true));
    const place = this.#placeOf(cwd);
    const starting = this.#running.get(place) ?? this.#start(place);
    // Moved to the end: most recently used.
    this.#running.delete(place);
    this.#running.set(place, starting);
    this.#stopIdle();
    return starting;
  }

  #start(place: string): Promise<AcpConnection> {
    const cwd = place === '' ? process.cwd() : place;
    const starting = AcpConnection.start({ ...this.#start_of, cwd }, this.#closed.signal);
    const over = () => {
      if (this.#running.get(place) === starting) this.#running.delete(place);
    };
    starting.then(({ gone }) => gone.then(over), over);
    return starting;
  }

  #stopIdle(): void {
    const idle = [...this.#running].filter(([place]) => !this.#users.has(place));
    for (const [place, starting] of idle.slice(0, Math.max(0, idle.length - KEPT_PROCESSES))) {
      this.#running.delete(place);
      const ending = starting.then((one) => one.stop('it was idle')).catch(() => undefined);
      this.#ending.add(ending);
      void ending.then(() => this.#ending.delete(ending));
    }
  }

  /** Stops the program and thereby all prompts. Never rejects. */
  close(): Promise<void> {
    this.#closing ??= (async () => {
      // A program that is still starting may never answer.
      this.#closed.abort();
      const all = [...this.#running.values()].map((one) => one.catch(() => null));
      await Promise.all([...this.#ending, ...all.map(async (one) => (await one)?.stop('it was closed'))]);
    })();
    return this.#closing;
  }
}
