import type { Step } from '../../../../src/kernel/step.ts';
import { isWorking } from '../../../../src/records/agent/state.ts';
import type { RuntimeFace } from '../../../../src/runtime/runtime-face.ts';
import { openStore } from '../../../../src/store/open-store.ts';
import type { Store } from '../../../../src/store/store.ts';
import { workflowHost } from '../../../workflows/staged-workflow.ts';
import { WITHOUT_POLLS } from '../../no-polls.ts';
import { type Line, type Scene, setStage } from '../../stage.ts';
import { concurrent } from '../../toolsets/sessions-play.ts';

/** A call to the ledger that can be held: a commit with such a step of this agent, a kill of it, a claim of the tree with this root, a read of this mailbox. */
export interface LedgerCall {
  readonly what: keyof typeof STEPS | 'kill' | 'claim' | 'conversations';
  readonly id: string;
}

const STEPS = {
  parks: ({ state }: Step) =>
    state.type === 'waiting' ||
    (state.type === 'executing' && state.running.some(({ wait }) => wait !== undefined)),
  rests: ({ state }: Step) => !isWorking(state.type),
  sends: ({ send }: Step) => send.length > 0,
  creates: ({ create }: Step) => create.length > 0,
};

/** Before the call is in the ledger; or when it is, and its process has not received the acknowledgement. */
export type Point = 'before' | 'acknowledged';

export type Asked = Pick<Scene, 'step' | 'last' | 'user'> & {
  readonly agent_id: string;
  readonly ask: number;
};

/** A command to a leader. */
export type Order =
  | { readonly type: 'answer'; readonly ask: number; readonly said: Line }
  | { readonly type: 'hold'; readonly call: LedgerCall; readonly point: Point }
  | { readonly type: 'go' }
  | { readonly type: 'act'; readonly act: number; readonly method: Act; readonly args: readonly unknown[] };
export type Act = keyof { [K in 'resume' | 'send' | 'kill' | 'interrupt' | 'wait']: RuntimeFace[K] };

/** A message from a leader. */
export type Report =
  | { readonly type: 'leads'; readonly worker_id: string }
  | { readonly type: 'asked'; readonly asked: Asked }
  | { readonly type: 'held' }
  | { readonly type: 'acted'; readonly act: number; readonly error: string | null };

/** Holds the next call that matches, once, until `go`. */
class Gate {
  #hold: Extract<Order, { type: 'hold' }> | null = null;
  #go = Promise.withResolvers<void>();
  readonly #held: () => void;

  constructor(held: () => void) {
    this.#held = held;
  }

  set(hold: Extract<Order, { type: 'hold' }>): void {
    this.#hold = hold;
    this.#go = Promise.withResolvers();
  }

  go(): void {
    this.#go.resolve();
  }

  readonly wrap = (store: Store): Store =>
    new Proxy(store, {
      get: (target, name) => {
        const value = Reflect.get(target, name);
        if (typeof value !== 'function') return value;
        return (...args: unknown[]) => {
          const hold = this.#hold;
          const call = () => Reflect.apply(value, target, args);
          if (hold === null || !isThis(hold.call, String(name), args[0])) return call();
          this.#hold = null;
          return this.#holding(call, hold.point);
        };
      },
    });

  async #holding(call: () => unknown, point: Point): Promise<unknown> {
    const answer = point === 'acknowledged' ? await call() : null;
    this.#held();
    await this.#go.promise;
    return point === 'acknowledged' ? answer : call();
  }
}

function isThis({ what, id }: LedgerCall, method: string, first: unknown): boolean {
  if (what === 'conversations') return method === what && (first as string[]).includes(id);
  if (what === 'kill' || what === 'claim') return method === what && first === id;
  return method === 'commit' && (first as Step[]).some((step) => step.agent_id === id && STEPS[what](step));
}

/** Leads agents on command, without a poll; the parent process gives the answers of models and releases held ledger calls. Ends with its parent. */
async function lead(database: string, folder: string): Promise<void> {
  const report = (one: Report) => void process.send?.(one);
  const gate = new Gate(() => report({ type: 'held' }));
  const asks: ((said: Line) => void)[] = [];
  const { runtime } = await setStage(
    async ({ id, step, last, user }) => {
      const { promise, resolve } = Promise.withResolvers<Line>();
      const ask = asks.push(resolve) - 1;
      report({ type: 'asked', asked: { agent_id: id, ask, step, last, user } });
      return promise;
    },
    {
      ground: { store: await openStore(database, { polls: false }), folder },
      ...{ clock: WITHOUT_POLLS, workflows: workflowHost() },
      wrap: gate.wrap,
      terms: concurrent(1),
    },
  );
  const act = async ({ act, method, args }: Extract<Order, { type: 'act' }>) => {
    const call = runtime[method] as (...args: readonly unknown[]) => Promise<unknown>;
    const error = await Reflect.apply(call, runtime, args).then(
      () => null,
      (reason: unknown) => String(reason),
    );
    report({ type: 'acted', act, error });
  };
  process.on('message', (order: Order) => {
    if (order.type === 'answer') asks[order.ask]?.(order.said);
    else if (order.type === 'hold') gate.set(order);
    else if (order.type === 'go') gate.go();
    else void act(order);
  });
  process.once('disconnect', () => process.exit());
  report({ type: 'leads', worker_id: runtime.worker_id });
}

const [, file, database, folder] = process.argv;
if (file === import.meta.filename && database !== undefined && folder !== undefined)
  await lead(database, folder);
