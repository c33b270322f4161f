import { setTimeout as sleep } from 'node:timers/promises';
import type {
  RequestPermissionRequest,
  RequestPermissionResponse,
  SessionUpdate,
} from '@agentclientprotocol/sdk';
import type { Ask } from '../../records/conversation/ask.ts';
import type { PlacedMessage } from '../../records/conversation/message.ts';
import { CoppiceError } from '../../records/coppice-error.ts';
import { questionOf } from '../../records/question/question.ts';
import { clean } from '../../render/clean.ts';
import type { RuntimeFace } from '../../runtime/runtime-face.ts';
import { shownDigest } from '../../store/approvals/shown-digest.ts';
import type { Store } from '../../store/store.ts';
import { resultView, toolCallView } from '../updates/tool-call-view.ts';
import { answerOf, askContent, permissionOptions } from './permission-options.ts';

/** Delay before a dismissed request counts as denied: it may belong to a cancel, and the protocol leaves open which of the two comes first. */
export const CANCEL_MS = 250;
/** Delay before an approval is asked for again whose answer the ledger did not take. */
const AGAIN_MS = 1_000;

/** A session in which the editor can be asked about an agent's calls. */
export interface AskedSession {
  readonly id: string;
  send(update: SessionUpdate): void;
  /** The editor's id for an open call of the session's own agent. */
  callId(call_id: string): string | null;
}

export interface PermissionRequestsOptions {
  readonly root_id: string;
  readonly store: Pick<Store, 'asks'>;
  readonly runtime: Pick<RuntimeFace, 'answer'>;
  /** Returns the session of the agent or of its nearest ancestor; null if none is open. */
  readonly sessionFor: (agent_id: string) => AskedSession | null;
  /** Sends a request after all earlier updates have been written; aborting the signal withdraws it. */
  readonly request: (
    params: RequestPermissionRequest,
    signal: AbortSignal,
  ) => Promise<RequestPermissionResponse>;
  readonly log: (line: string) => void;
}

interface Asked {
  readonly ask: Ask;
  readonly session: AskedSession;
  readonly toolCallId: string;
  /** Whether the call is shown only for this request, as in the session of an ancestor, which does not show the agent's other calls. */
  readonly lent: boolean;
  readonly withdraw: AbortController;
}

/**
 * Sends the open approvals of a tree to the editor as requests. The ledger is the truth: each open approval is requested once, and one that is no longer
 * open, because it was answered elsewhere or its call is gone, is withdrawn.
 */
export class PermissionRequests {
  readonly #options: PermissionRequestsOptions;
  readonly #asked = new Map<string, Asked>();
  /** Calls that are shown only for their request, by agent and call. */
  readonly #lent = new Map<string, Asked>();
  #reading: Promise<void> | null = null;
  #changed = false;

  constructor(options: PermissionRequestsOptions) {
    this.#options = options;
  }

  /** Shows the result of a lent call. */
  heard(agent_id: string, { kind, content }: PlacedMessage): void {
    if (kind !== 'result') return;
    const lent = this.#lent.get(keyOf(agent_id, content.call_id));
    if (lent === undefined) return;
    this.#lent.delete(keyOf(agent_id, content.call_id));
    const { tool, input, cwd } = lent.ask;
    lent.session.send({
      sessionUpdate: 'tool_call_update',
      toolCallId: lent.toolCallId,
      status: content.status === 'ok' ? 'completed' : 'failed',
      ...resultView(tool, input, cwd, content, []),
    });
  }

  /** Reads the open approvals and updates the requests to match. */
  refresh(): void {
    this.#changed = true;
    this.#reading ??= this.#read();
  }

  /** Withdraws the requests about these agents, which are being interrupted. */
  withdraw(agent_ids: ReadonlySet<string>): void {
    for (const asked of this.#asked.values()) if (agent_ids.has(asked.ask.agent_id)) asked.withdraw.abort();
  }

  close(): void {
    for (const { withdraw } of this.#asked.values()) withdraw.abort();
    this.#asked.clear();
    this.#lent.clear();
  }

  async #read(): Promise<void> {
    const { store, root_id } = this.#options;
    while (this.#changed) {
      this.#changed = false;
      const open = await store.asks({ root_id, open: true }).catch(() => null);
      // Retried at the next event, or at the next poll of a tree that others lead.
      if (open === null) break;
      const ids = new Set(open.map(({ id }) => id));
      for (const [id, asked] of this.#asked) if (!ids.has(id)) this.#gone(id, asked);
      for (const ask of open) if (!this.#asked.has(ask.id)) this.#ask(ask);
    }
    this.#reading = null;
  }

  #gone(id: string, asked: Asked): void {
    this.#asked.delete(id);
    if (asked.withdraw.signal.aborted) return;
    asked.withdraw.abort();
    // The call's result may have arrived before this read.
    if (this.#isOpen(asked))
      asked.session.send({
        sessionUpdate: 'tool_call_update',
        toolCallId: asked.toolCallId,
        status: 'in_progress',
      });
  }

  #isOpen({ ask, session, toolCallId, lent }: Asked): boolean {
    if (lent) return this.#lent.has(keyOf(ask.agent_id, ask.call_id));
    return session.callId(ask.call_id) === toolCallId;
  }

  #ask(ask: Ask): void {
    const session = this.#options.sessionFor(ask.agent_id);
    if (session === null) return;
    const own = session.id === ask.agent_id ? session.callId(ask.call_id) : null;
    const asked: Asked = {
      ask,
      session,
      toolCallId: own ?? `ask-${ask.id}`,
      lent: own === null,
      withdraw: new AbortController(),
    };
    this.#asked.set(ask.id, asked);
    if (asked.lent) this.#lent.set(keyOf(ask.agent_id, ask.call_id), asked);
    void this.#request(asked);
  }

  async #request(asked: Asked): Promise<void> {
    const { ask, session, toolCallId, lent, withdraw } = asked;
    const question = questionOf(ask);
    const shown_input = question === null ? ask.input : '{}';
    const { content, ...plain } = toolCallView(ask.tool, shown_input, ask.cwd, true);
    const view =
      question === null ? plain : { ...plain, title: `${ask.tool} asks: ${clean(question.message)}` };
    const title = ask.agent_id === session.id ? view.title : `${clean(ask.agent_name)}: ${view.title}`;
    const diffs = (content ?? []).filter(({ type }) => type === 'diff');
    const shown = { ...view, title, content: [...diffs, ...(diffs.length > 0 ? [] : askContent(ask))] };
    if (lent) session.send({ sessionUpdate: 'tool_call', toolCallId, status: 'pending', ...shown });
    const toolCall = { toolCallId, status: 'pending' as const, ...shown };
    const params = { sessionId: session.id, toolCall, options: permissionOptions(ask) };
    while (!withdraw.signal.aborted) {
      const answer = await this.#answerTo(asked, params);
      if (answer === null || (await this.#commit(asked, answer))) return;
      await sleep(AGAIN_MS, undefined, { ref: false });
      // It may have been answered elsewhere meanwhile.
      this.refresh();
      await this.#reading;
    }
  }

  /** The editor's answer; null if the request was withdrawn or the editor cannot answer. */
  async #answerTo({ ask, withdraw }: Asked, params: RequestPermissionRequest): Promise<Answer | null> {
    try {
      const { outcome } = await this.#options.request(params, withdraw.signal);
      if (outcome.outcome === 'cancelled') await sleep(CANCEL_MS);
      if (withdraw.signal.aborted) return null;
      const dismissed = questionOf(ask) === null ? DISMISSED : { ...DISMISSED, dismissed: true };
      const chosen = outcome.outcome === 'selected' ? answerOf(ask, outcome.optionId) : dismissed;
      if (chosen === null)
        this.#options.log(`the editor chose an unknown option: ${clean(JSON.stringify(outcome))}`);
      return chosen ?? DISMISSED;
    } catch (error) {
      // The approval stays open in the ledger; `coppice approvals` can answer it.
      if (!withdraw.signal.aborted)
        this.#options.log(
          `${ask.agent_name} waits for an answer that the editor did not give: ${messageOf(error)}`,
        );
      return null;
    }
  }

  /** Resolves to whether the approval is answered; if not, it is still open. */
  async #commit({ ask, withdraw }: Asked, answer: Answer): Promise<boolean> {
    try {
      await this.#options.runtime.answer(ask.id, { ...answer, shown: shownDigest(ask) });
      return true;
    } catch (error) {
      // Another answer was committed first, or the call is gone, or was not what was shown.
      if (error instanceof CoppiceError && error.code.startsWith('E_ASK_')) return true;
      if (!withdraw.signal.aborted)
        this.#options.log(
          `the editor's answer to ${ask.agent_name} was not recorded; it is asked again: ${messageOf(error)}`,
        );
      return false;
    }
  }
}

type Answer = NonNullable<ReturnType<typeof answerOf>>;

/** A dismissed request is not consent. */
const DISMISSED = { verdict: 'deny', scope: 'once', note: '' } as const;

function keyOf(agent_id: string, call_id: string): string {
  return `${agent_id} ${call_id}`;
}

function messageOf(error: unknown): string {
  return clean(error instanceof Error ? error.message : String(error));
}
