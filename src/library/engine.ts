import { CoppiceError } from '../records/coppice-error.ts';
import type { RuntimeEvent } from '../runtime/runtime-event.ts';
import type {
  ResumeOptions,
  ResumeReport,
  RuntimeFace,
  StartOptions,
  TreeOutcome,
} from '../runtime/runtime-face.ts';
import { nodeTooOld } from '../settings/node-version.cjs';

/** Handle on a root agent and its tree. */
export interface RunningAgent {
  /** Uuid by which other processes can find the agent. */
  readonly id: string;
  /** Resolves, with the root's last reply or failure, once no agent of its tree is working any more. */
  result(): Promise<TreeOutcome>;
  /** Sends the agent a letter from a person. */
  send(text: string): Promise<void>;
  /** Interrupts its turn; its children continue. */
  interrupt(reason?: string): Promise<void>;
  /** Kills it and its living descendants; resolves to the ids of all killed agents. */
  kill(): Promise<readonly string[]>;
}

/** A runtime on one ledger. All methods reject with a `CoppiceError` or a `StoreError`. */
export interface Engine<Options> {
  start(options: Options): Promise<RunningAgent>;
  /** Takes over a tree that no living process leads, and continues it. */
  resume(root_id: string, options?: ResumeOptions): Promise<RunningAgent & { readonly report: ResumeReport }>;
  /** Calls `listener` for the events of all agents of this process; returns a function that unsubscribes. */
  subscribe(listener: (event: RuntimeEvent) => void): () => void;
  /** Sends mail to any agent by its uuid. */
  send(agent_id: string, text: string): Promise<void>;
  kill(agent_id: string): Promise<readonly string[]>;
  /** Stops all work of this process. Nothing is lost: `resume` continues it. */
  close(): Promise<void>;
}

/** What programs see of a runtime. `rootOf`: the root that the options of a start describe; throws a `CoppiceError` for wrong ones. */
export function engineOn<Options>(
  runtime: RuntimeFace,
  rootOf: (options: Options) => StartOptions,
): Engine<Options> {
  return {
    start: async (options) => agentHandle(runtime, (await runtime.start(rootOf(options))).id),
    async resume(root_id, how) {
      const report = await runtime.resume(root_id, how);
      return { ...agentHandle(runtime, root_id), report };
    },
    subscribe: (listener) => runtime.subscribe(listener),
    send: async (agent_id, text) => void (await runtime.send(agent_id, text)),
    kill: (agent_id) => runtime.kill(agent_id),
    close: () => runtime.close(),
  };
}

export function agentHandle(runtime: RuntimeFace, id: string): RunningAgent {
  return {
    id,
    result: () => runtime.settled(id),
    send: async (text) => void (await runtime.send(id, text)),
    interrupt: (reason = 'by the program') => runtime.interrupt(id, reason),
    kill: () => runtime.kill(id),
  };
}

/** Throws `E_NODE_TOO_OLD`, before anything that an older Node lacks is used. */
export function refuseOldNode(): void {
  const too_old = nodeTooOld(process.versions.node);
  if (too_old !== null) throw new CoppiceError('E_NODE_TOO_OLD', too_old);
}
