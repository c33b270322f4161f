import type { ContentBlock, PromptResponse } from '@agentclientprotocol/sdk';
import { unlessAborted } from '../../records/unless-aborted.ts';
import type { Model, ModelDelta, ModelOutcome, ModelRequest } from '../model.ts';
import type { ModelHost } from '../model-host.ts';
import type { AcpConnection } from './acp-connection.ts';
import { acpFailure } from './acp-failure.ts';
import { firstPrompt, nextPrompt } from './acp-prompt.ts';
import type { AcpServer, OpenSession } from './acp-server.ts';
import type { AcpSession } from './acp-session.ts';
import { AcpTurn } from './acp-turn.ts';
import { type AcpTokens, estimatedTokens, tokensOf, usageOf } from './acp-usage.ts';
import { tellsCost } from './program-needs.ts';

/** How long a program may take to stop a cancelled prompt before its session is discarded. */
const CANCEL_GRACE_MS = 5_000;

/** Finish reasons of the protocol's stop reasons; `cancelled` has none. */
const FINISH: ReadonlyMap<unknown, 'stop' | 'length' | 'refused'> = new Map([
  ['end_turn', 'stop'],
  ['max_tokens', 'length'],
  ['max_turn_requests', 'length'],
  ['refusal', 'refused'],
] as const);

/**
 * An agent program as a model: each agent has its own session, and every request is one prompt. The program uses its own tools as far as the request's
 * host allows; its answers never contain calls. `agent_id` selects a mode or model of the program.
 */
export class AcpModel implements Model {
  readonly id: string;
  readonly context_window = null;
  readonly tells_cost: boolean;
  readonly #server: AcpServer;
  readonly #agent_id: string | null;

  constructor(server: AcpServer, agent_id: string | null) {
    this.id = agent_id === null ? `acp:${server.name}` : `acp:${server.name}/${agent_id}`;
    this.tells_cost = server.config.price !== undefined || tellsCost(server.config);
    this.#server = server;
    this.#agent_id = agent_id;
  }

  close(): Promise<void> {
    return this.#server.close();
  }

  /** Resolves at once when the signal aborts, whatever the program does; the prompt's own end is awaited in the background. */
  async stream(request: ModelRequest, onDelta: (delta: ModelDelta) => void): Promise<ModelOutcome> {
    const { signal, host } = request;
    if (signal.aborted) return { type: 'aborted' };
    if (host === undefined) {
      const error = `${this.id} is an agent program and needs a host; none came with the request`;
      return { type: 'failure', failure: { kind: 'internal', error, retryable: false } };
    }
    const turn = new AcpTurn(onDelta);
    const outcome = await unlessAborted(
      this.#converse(request, host, turn),
      signal,
      (): ModelOutcome => (turn.text === '' ? { type: 'aborted' } : { type: 'aborted', partial: turn.text }),
    );
    turn.close();
    return outcome;
  }

  /** Waits for a slot, sends the prompt, and releases the slot. Never rejects. */
  async #converse(request: ModelRequest, host: ModelHost, turn: AcpTurn): Promise<ModelOutcome> {
    const { slots, secrets } = this.#server;
    const { cache_key: tree = '', signal } = request;
    if (!(await slots.acquire(tree, signal))) return { type: 'aborted' };
    try {
      return await this.#server.using(host.cwd, async () => {
        const open = await this.#idleSession(request, host);
        if (open === null || request.signal.aborted) return { type: 'aborted' };
        return await this.#prompt(request, host, turn, open);
      });
    } catch (error) {
      return acpFailure(error, this.#login(), secrets, turn.text);
    } finally {
      slots.release(tree);
    }
  }

  #key({ agent }: ModelRequest): string {
    return `${this.#agent_id ?? ''}\n${agent.id}`;
  }

  /** The agent's session, once its previous prompt has ended; null when the signal aborts. */
  async #idleSession(request: ModelRequest, host: ModelHost): Promise<OpenSession | null> {
    const key = this.#key(request);
    for (;;) {
      const opening = this.#server.session(key, host.cwd, this.#agent_id);
      const open = await unlessAborted(opening, request.signal, () => null);
      if (open !== null) await unlessAborted(open.session.busy, request.signal, () => null);
      if (open === null || request.signal.aborted) return null;
      const { session } = open;
      // A different conversation needs a new session.
      if (!session.ended && session.continues(request.messages)) return open;
      this.#server.forget(key);
    }
  }

  async #prompt(
    request: ModelRequest,
    host: ModelHost,
    turn: AcpTurn,
    { connection, session }: OpenSession,
  ): Promise<ModelOutcome> {
    const { signal, messages, system } = request;
    const { promise: idle, resolve: settled } = Promise.withResolvers<void>();
    session.busy = idle;
    const given_up = this.#followAbort(request, connection, session);
    session.beginTurn(turn, host);
    try {
      const prompt =
        session.seen === 0
          ? firstPrompt(system, messages, connection.pictures)
          : nextPrompt(messages.slice(session.seen), this.id, connection.pictures);
      const asked = connection.request<PromptResponse>('session/prompt', { sessionId: session.id, prompt });
      const response = await Promise.race([asked, given_up.promise]);
      if (signal.aborted || response === null) return { type: 'aborted' };
      session.knows(messages);
      const told = session.takeTokens();
      return this.#outcome(
        response,
        turn,
        session,
        () => tokensOf(response) ?? told ?? this.#estimate(prompt, turn, session),
      );
    } catch (error) {
      // The session's content is unknown now: the next prompt starts a new session with the whole conversation.
      this.#server.forget(this.#key(request));
      throw error;
    } finally {
      given_up.stop();
      await session.endTurn();
      settled();
    }
  }

  /** Cancels the prompt when the signal aborts; `promise` resolves if the program does not stop within the grace period. */
  #followAbort(
    request: ModelRequest,
    connection: AcpConnection,
    session: AcpSession,
  ): { readonly promise: Promise<null>; readonly stop: () => void } {
    const { promise, resolve } = Promise.withResolvers<null>();
    let timer: NodeJS.Timeout | undefined;
    const abort = () => {
      connection.cancel(session);
      void session.endTurn();
      timer = setTimeout(() => {
        this.#server.forget(this.#key(request));
        session.ended = true;
        resolve(null);
      }, CANCEL_GRACE_MS).unref();
    };
    request.signal.addEventListener('abort', abort, { once: true });
    const stop = () => {
      clearTimeout(timer);
      request.signal.removeEventListener('abort', abort);
    };
    return { promise, stop };
  }

  /** Limits on tokens bind programs that report none, too. */
  #estimate(prompt: readonly ContentBlock[], turn: AcpTurn, session: AcpSession): AcpTokens {
    const sent = prompt.reduce((sum, block) => sum + (block.type === 'text' ? block.text.length : 0), 0);
    const tokens = estimatedTokens(sent, turn.characters);
    if (!session.estimated)
      turn.note(
        `${this.#server.name} reports no tokens: they are counted by the length of the texts, which is the least it can be`,
      );
    session.estimated = true;
    return tokens;
  }

  #outcome(
    response: PromptResponse,
    turn: AcpTurn,
    session: AcpSession,
    tokens: () => AcpTokens,
  ): ModelOutcome {
    const reason: unknown = response?.stopReason;
    const finish = FINISH.get(reason);
    if (finish === undefined) {
      // Not `aborted`: the signal did not abort, and the end of the prompt must be reported.
      const why = session.refused === null ? '' : ` after a refusal: ${session.refused}`;
      const error = `the agent program stopped on its own (${String(reason)})${why}`;
      const failure = { kind: 'cancelled', error, retryable: true } as const;
      return { type: 'failure', failure, ...(turn.text === '' ? {} : { partial: turn.text }) };
    }
    turn.explain();
    const usage = usageOf(tokens(), session.takeCost(), this.#server.config.price);
    return {
      type: 'answer',
      content: { model: this.id, parts: turn.parts },
      usage,
      finish: turn.overflowed && finish === 'stop' ? 'length' : finish,
    };
  }

  #login(): string {
    const { name, config, logins } = this.#server;
    const ways = logins.length === 0 ? '' : ` It offers: ${logins.join(', ')}.`;
    return `Log in with the program itself (${config.command}), or pass its key on with acp.${name}.envAllow.${ways}`;
  }
}
