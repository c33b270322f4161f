import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Poll } from '../processes/poll.ts';
import type { Agent } from '../records/agent/agent.ts';
import { CoppiceError } from '../records/coppice-error.ts';
import type { RuntimeEvent } from '../runtime/runtime-event.ts';
import type { ResumeOptions, ResumeReport, RuntimeFace, StartOptions } from '../runtime/runtime-face.ts';
import type { Store } from '../store/store.ts';
import { AskWatch } from './approvals.ts';

/** Interval at which the ledger is read again for what other processes do, because hints may be lost. */
const POLL_MS = 1_000;
/** Interval at which a tree of which other processes lead agents is checked for agents that nobody leads any more. */
const TAKE_OVER_MS = 2_000;
/** Delays before the attempts to release a tree: its last step may not be written yet. */
const RELEASE_MS = [0, 200, 500, 1_000, 2_000];

export interface OpenTreeOptions {
  readonly store: Store;
  readonly runtime: Pick<RuntimeFace, 'resume'>;
  /** Whether this process may lead the tree; if not, others do. */
  readonly leads: boolean;
  /** Receives what other processes do in the tree, in the form of the runtime's own events. */
  readonly onEvent: (event: RuntimeEvent) => void;
  /** Called when approvals of the tree may have opened or closed. */
  readonly onAsks: () => void;
  /** Called every two seconds while other processes lead agents of the tree. */
  readonly onLook?: (root_id: string) => void;
}

export interface ResumedTree {
  readonly root_id: string;
  /** All agents of the tree, reaped ones too, oldest first. */
  readonly agents: readonly Agent[];
  /** Null if other processes lead the tree. */
  readonly report: ResumeReport | null;
}

/** A tree that a door has open: led by this process as far as it may; what others lead is followed in the ledger. */
export class OpenTree {
  readonly #options: OpenTreeOptions;
  readonly #asks = new AskWatch();
  readonly #seen = new Map<string, Pick<Agent, 'updated_at' | 'last_seq' | 'reaped_at'>>();
  #poll: Poll | null = null;
  #unlisten: (() => Promise<void>) | null = null;
  #timer: NodeJS.Timeout | null = null;

  constructor(options: OpenTreeOptions) {
    this.#options = options;
  }

  get leads(): boolean {
    return this.#options.leads;
  }

  /** Takes over the agents of the tree that nobody leads, unless others lead it. */
  async resume(root_id: string, how: ResumeOptions = {}): Promise<ResumedTree> {
    const { leads, runtime, store } = this.#options;
    const report = leads ? await runtime.resume(root_id, how) : null;
    const agents = (await store.agents({ root_id })).toReversed();
    for (const agent of agents) this.#asks.changed(agent);
    return { root_id, report, agents };
  }

  /** Reports from now on what other processes do in the tree, and takes over what they leave; a no-op if this process leads all of it. */
  async follow({ root_id, report, agents }: ResumedTree): Promise<void> {
    const { store, leads, runtime, onAsks, onLook } = this.#options;
    if (report !== null && report.elsewhere === 0) return;
    for (const agent of agents) this.#see(agent);
    const poll = new Poll(async () => {
      await this.#read(root_id).catch(() => undefined);
      return POLL_MS;
    });
    this.#poll = poll;
    this.#unlisten = await store.listen(`follower-${randomUUID()}`, () => poll.wake());
    poll.wake();
    this.#timer = setInterval(() => {
      onLook?.(root_id);
      if (leads) void runtime.resume(root_id, { unattended: true }).catch(() => undefined);
      onAsks();
    }, TAKE_OVER_MS).unref();
  }

  /** Records the state of an agent of the tree, from whichever source it came. */
  know(agent: Agent): void {
    this.#see(agent);
    if (this.#asks.changed(agent)) this.#options.onAsks();
  }

  #see({ id, updated_at, last_seq, reaped_at }: Agent): void {
    this.#seen.set(id, { updated_at, last_seq, reaped_at });
  }

  /** Reports what has changed in the ledger since an agent was seen last, in the form of the runtime's own events. */
  async #read(root_id: string): Promise<void> {
    const { store, onEvent } = this.#options;
    for (const agent of (await store.agents({ root_id })).toReversed()) {
      const { id, last_seq, updated_at, reaped_at } = agent;
      const before = this.#seen.get(id);
      const after = before?.last_seq ?? agent.forked_from?.seq ?? 0;
      // Reaping changes `reaped_at` only.
      const is_same = before?.reaped_at === reaped_at && before.updated_at >= updated_at && after >= last_seq;
      if (is_same) continue;
      this.#see(agent);
      onEvent({ type: 'agent', agent, created: before === undefined });
      if (last_seq > after)
        for (const message of await store.history(id, after))
          onEvent({ type: 'message', agent_id: id, message });
    }
  }

  async close(): Promise<void> {
    if (this.#timer !== null) clearInterval(this.#timer);
    await this.#unlisten?.().catch(() => undefined);
    await this.#poll?.stop();
  }
}

export type Root = Required<Pick<StartOptions, 'config' | 'limits'>>;

/** Starts a tree in this process, or enters it for workers with all labels of `placement`; resolves to its root. */
export async function startTree(
  { store, runtime }: { readonly store: Store; readonly runtime: RuntimeFace },
  begun: StartOptions,
  placement: readonly string[] | null,
): Promise<Agent> {
  if (placement === null) return runtime.start(begun);
  const id = await runtime.enter(begun, placement);
  const root = await store.agent(id);
  if (root === null) throw new CoppiceError('E_AGENT_NOT_FOUND', `${id} was entered, and is gone`);
  return root;
}

/** Lets other processes lead a tree as soon as no work is in progress; best effort. */
export async function releaseTree(runtime: Pick<RuntimeFace, 'release'>, root_id: string): Promise<void> {
  for (const pause_ms of RELEASE_MS) {
    await sleep(pause_ms, undefined, { ref: false });
    if (await runtime.release(root_id).catch(() => true)) return;
  }
}
