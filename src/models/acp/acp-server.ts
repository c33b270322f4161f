import { FairSlots } from '../../processes/fair-slots.ts';
import type { AcpServerConfig } from './acp-config.ts';
import { AcpConnection } from './acp-connection.ts';
import { AcpError } from './acp-failure.ts';
import type { AcpSession } from './acp-session.ts';

type Environment = Readonly<Record<string, string | undefined>>;

export interface OpenSession {
  readonly connection: AcpConnection;
  readonly session: AcpSession;
}

interface Known {
  readonly connection: AcpConnection;
  readonly cwd: string;
  readonly opening: Promise<AcpSession>;
}

const MAX_SESSIONS_AT_ONCE = 8;
/** Maximum idle sessions kept for agents that may continue; the least recently used is closed first. */
const KEPT_SESSIONS = 256;

/**
 * One configured agent program. Its process starts on first use, is shared by all sessions, and is restarted after a crash.
 */
export class AcpServer {
  readonly name: string;
  readonly config: AcpServerConfig;
  /** Limits concurrent prompts; trees take turns. */
  readonly slots: FairSlots;
  /** Texts to remove from messages. */
  readonly secrets: readonly string[];
  /** Ways to log in that the program offers, as it says when it starts. */
  logins: readonly string[] = [];
  readonly #env: Environment;
  readonly #sessions = new Map<string, Known>();
  readonly #closed = new AbortController();
  #starting: Promise<AcpConnection> | null = null;
  #closing: Promise<void> | null = null;

  constructor(name: string, config: AcpServerConfig, env: Environment) {
    this.name = name;
    this.config = config;
    this.#env = env;
    this.slots = new FairSlots({ count: config.maxSessions ?? MAX_SESSIONS_AT_ONCE });
    const passed = (config.envAllow ?? []).map((variable) => env[variable] ?? '');
    // Masking short values would garble messages.
    this.secrets = [...Object.values(config.env ?? {}), ...passed];
  }

  /** The agent's session, `fresh` or as it was left. Rejects with an AcpError or the program's RequestError. */
  async session(key: string, cwd: string, agent_id: string | null): Promise<OpenSession> {
    const connection = await this.#connect();
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

  /** The agent's next prompt gets a new session. */
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
      if (this.#sessions.size <= KEPT_SESSIONS + (this.config.maxSessions ?? MAX_SESSIONS_AT_ONCE)) return;
      this.forget(key);
    }
  }

  #connect(): Promise<AcpConnection> {
    if (this.#closing !== null)
      return Promise.reject(new AcpError('cancelled', `acp:${this.name} is closed`, true));
    if (this.#starting !== null) return this.#starting;
    const starting = AcpConnection.start(this.name, this.config, this.#env, this.#closed.signal);
    this.#starting = starting;
    const over = () => {
      if (this.#starting === starting) this.#starting = null;
    };
    starting.then(({ gone }) => gone.then(over), over);
    return starting;
  }

  /** Ends the program and with it all prompts. Never rejects. */
  close(): Promise<void> {
    this.#closing ??= (async () => {
      // A program that has not answered yet may never do.
      this.#closed.abort();
      const connection = await this.#starting?.catch(() => null);
      await connection?.stop('it was closed');
    })();
    return this.#closing;
  }
}
