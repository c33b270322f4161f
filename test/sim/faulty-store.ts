import type { Store } from '../../src/store/store.ts';
import { StoreError, type StoreErrorCode } from '../../src/store/store-error.ts';
import type { Fault, Faults } from './faults.ts';
import type { Random } from './random.ts';
import { type SimLedger, WRITES } from './sim-ledger.ts';
import type { Actor, VirtualTime } from './virtual-time.ts';

/** Maximum latency of a call to the ledger in one run, in milliseconds each way; 0 means embedded: nothing else happens meanwhile. */
export interface Distance {
  readonly most_ms: number;
}

export interface FaultyStoreSurroundings {
  readonly ledger: SimLedger;
  readonly actor: Actor;
  readonly time: VirtualTime;
  readonly faults: Faults;
  readonly random: Random;
  readonly distance: Distance;
}

/** The ledger as one process sees it: any call may be slow, fail before or after its execution, or return stale data. */
export function faultyStore(around: FaultyStoreSurroundings): Store {
  const { ledger, actor } = around;
  return new Proxy(ledger.store, {
    get(store, name) {
      const method = String(name);
      if (method === 'kind' || method === 'location' || method === 'gone') return store[method];
      if (method === 'listen')
        return async (worker: string, wake: () => void) => ledger.listen(actor, worker, wake);
      if (method === 'close') return async () => undefined;
      return (...args: unknown[]) => call(method, args, around);
    },
  });
}

type Answer =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly error: unknown };

/** Settles after the simulated delays and faults; never for a process that is dead by then. */
function call(method: string, args: unknown[], around: FaultyStoreSurroundings): Promise<unknown> {
  const { actor, time, faults, random, distance } = around;
  const slow = faults.strikes('store-slow', actor.name) ? random.between(1_000, 15_000) : 0;
  const there_ms = random.between(0, distance.most_ms) + Math.round(slow * random.next());
  const back_ms = random.between(0, distance.most_ms) + slow;
  return new Promise((resolve, reject) => {
    const deliver = (answer: Answer, ms: number) => {
      const tell = () => {
        if (!answer.ok) return reject(answer.error);
        around.ledger.acknowledged(method, args, answer.value);
        resolve(answer.value);
      };
      // A dead process never receives the answer; a paused one receives it later.
      if (ms === 0 && actor.alive && actor.paused_until <= time.now) tell();
      else time.after(ms, actor, tell);
    };
    const execute = async () => {
      if (!actor.alive && !arrives(method, around)) return;
      const answer = await answerTo(method, args, around);
      const late = !WRITES.has(method) && faults.strikes('read-delayed', actor.name);
      deliver(answer, back_ms + (late ? random.between(200, 3_000) : 0));
    };
    if (there_ms === 0) void execute();
    else time.after(there_ms, null, () => void execute());
  });
}

/** Whether a call that a dead process has sent is still executed. */
function arrives(method: string, { faults, random, actor }: FaultyStoreSurroundings): boolean {
  if (!WRITES.has(method)) return false;
  const lands = random.chance(0.5);
  faults.count(lands ? 'crash-write-lands' : 'crash-write-lost', actor.name);
  return lands;
}

async function answerTo(method: string, args: unknown[], around: FaultyStoreSurroundings): Promise<Answer> {
  const { ledger, actor, faults } = around;
  const refused = refusalNow(method, around);
  if (refused !== null) return refused;
  if (faults.strikes('store-fails-before', actor.name))
    return failure('E_DB_UNAVAILABLE', 'store-fails-before', method);
  try {
    const value = await ledger.execute(actor, method, args);
    if (faults.strikes('store-fails-after', actor.name))
      return failure('E_DB_UNAVAILABLE', 'store-fails-after', method);
    return { ok: true, value };
  } catch (error) {
    return { ok: false, error };
  }
}

function refusalNow(method: string, { ledger, time, faults, actor }: FaultyStoreSurroundings): Answer | null {
  if (ledger.down_until > time.now) return failure('E_DB_UNAVAILABLE', 'store-unavailable', method);
  if (!WRITES.has(method)) return null;
  if (ledger.full_until > time.now) return failure('E_DB_FULL', 'disk-full', method);
  return faults.strikes('store-busy', actor.name) ? failure('E_DB_BUSY', 'store-busy', method) : null;
}

function failure(code: StoreErrorCode, fault: Fault, method: string): Answer {
  return { ok: false, error: new StoreError(code, `simulated: ${fault} (${method})`) };
}
