/** Leads the served trees that no other process leads. */

import { setTimeout as sleep } from 'node:timers/promises';
import { LEASE_MS } from '../../kernel/ledger/leases.ts';
import { Poll } from '../../processes/poll.ts';
import { isTerminal, isWorking } from '../../records/agent/state.ts';
import { namesNoTime, pauseOf } from '../../records/conversation/parked.ts';
import { statusWord } from '../../render/agent-status.ts';
import type { RuntimeEvent } from '../../runtime/runtime-event.ts';
import type { RuntimeFace } from '../../runtime/runtime-face.ts';
import type { Store } from '../../store/store.ts';

/** Polls what no signal reports: signals may be lost, processes die. */
const LOOK_MS = 1_000;
const BATCH_MAX = 50;
/** Parked agents that are looked at when it starts: the others are tried at their time. */
const PARKED_MAX = 1_000;
/** Idle time after which a tree is released, even while its agents wait for something. It is released at once if other trees need its place. */
const IDLE_MS = 30_000;
/** Poll interval while a tree at rest could not be released yet and others wait for its place. */
const ROOM_LOOK_MS = 50;
const DRAIN_LOOK_MS = 50;
/** Number of trees that are taken over concurrently. */
const LANES = 4;

export interface TreeKeeperOptions {
  readonly store: Store;
  readonly runtime: RuntimeFace;
  /** Called after a tree was taken over. */
  readonly onTaken?: (root_id: string, agents: number) => void;
  readonly onTrouble: (error: unknown, root_id: string | null) => void;
  readonly onEnded: (root_id: string) => void;
  readonly idle_ms?: number;
  /** Only trees whose placement these labels satisfy are taken over. */
  readonly labels?: readonly string[];
  /** Maximum trees led at once. Default: no limit. */
  readonly most?: number;
}

/** Trees without a leader, as of one poll. */
interface UnledList {
  readonly queue: string[];
  taken: number;
  /** Whether another worker has taken some of them. */
  is_old: boolean;
}

/** Takes over served trees that nobody leads (`Store.unledTrees`), and releases those in which nothing is left to do. */
export class TreeKeeper {
  readonly #options: TreeKeeperOptions;
  /** Trees led here, each with the time of its last event; 0 once its root has ended. */
  readonly #led = new Map<string, number>();
  readonly #unsubscribe: () => void;
  readonly #poll = new Poll(() => this.#look());
  /** Whether there are more trees than places. */
  #crowded = false;
  /** Whether some trees at rest could not be released yet. */
  #room_soon = false;
  #stopped = false;
  #is_new = true;
  #ahead_ms = Date.now() - performance.now();
  #patient_until = 0;

  constructor(options: TreeKeeperOptions) {
    this.#options = options;
    this.#unsubscribe = options.runtime.subscribe((event) => this.#see(event));
  }

  get led(): number {
    return this.#led.size;
  }

  /** Begins to poll; polls at once if it has begun, after something was entered that needs a leader. */
  wake(): void {
    this.#poll.wake();
  }

  #see(event: RuntimeEvent): void {
    if (event.type === 'agent') {
      const { agent } = event;
      this.#touch(agent.root_id);
      if (this.#crowded && !isWorking(agent.state.type)) this.wake();
      if (agent.parent_id !== null || !isTerminal(agent.state.type) || !this.#led.get(agent.id)) return;
      this.#led.set(agent.id, 0);
      this.#options.onEnded(agent.id);
    } else if (event.type === 'mail') this.#touch(event.mail.root_id);
  }

  #touch(root_id: string): void {
    if (this.#led.get(root_id)) this.#led.set(root_id, Date.now());
  }

  async #look(): Promise<number> {
    const [now, ahead_ms] = [performance.now(), Date.now() - performance.now()];
    // After a step of the wall clock, also by sleep, all leases on SQLite seem to have run out: workers that live renew theirs meanwhile.
    if (Math.abs(ahead_ms - this.#ahead_ms) > LOOK_MS) this.#patient_until = now + LEASE_MS / 2;
    this.#ahead_ms = ahead_ms;
    if (now < this.#patient_until) return LOOK_MS;
    try {
      const may_be_more = await this.#takeUnled();
      return may_be_more ? 0 : this.#room_soon ? ROOM_LOOK_MS : LOOK_MS;
    } catch (error) {
      this.#options.onTrouble(error, null);
      return LOOK_MS;
    }
  }

  /** Resolves to whether there may be more to take over at once. */
  async #takeUnled(): Promise<boolean> {
    const { store, labels = [] } = this.#options;
    await this.#releaseIdle();
    const unled = await store.unledTrees(BATCH_MAX, labels);
    if (this.#is_new) unled.push(...(await this.#parked()));
    this.#is_new = false;
    // Trees that this process leads in part.
    const known = unled.filter((root_id) => this.#led.has(root_id));
    const fresh = unled.filter((root_id) => !this.#led.has(root_id));
    const free = await this.#makeRoom(fresh.length);
    this.#crowded = fresh.length > free;
    // Workers that poll at the same moment start at different trees.
    const first = Math.floor(Math.random() * fresh.length);
    const list: UnledList = {
      queue: [...known, ...fresh.slice(first), ...fresh.slice(0, first)],
      taken: 0,
      is_old: false,
    };
    await Promise.all(Array.from({ length: LANES }, () => this.#takeAll(list)));
    return (unled.length === BATCH_MAX && !this.#crowded) || (list.is_old && list.taken > 0);
  }

  /** Trees whose providers have named no time: a process that starts tries them at once, perhaps with another key. */
  async #parked(): Promise<string[]> {
    const { store, labels = [] } = this.#options;
    const parked = new Set<string>();
    for (const { state, root_id } of await store.parkedRequests(PARKED_MAX)) {
      const pause = pauseOf(state);
      if (pause === null || !namesNoTime(pause) || parked.has(root_id)) continue;
      const placement = await store.placement(root_id);
      if (placement?.every((label) => labels.includes(label))) parked.add(root_id);
    }
    return [...parked];
  }

  async #takeAll(list: UnledList): Promise<void> {
    const { most = Number.POSITIVE_INFINITY, onTrouble } = this.#options;
    const { queue } = list;
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      const root_id = next;
      if (this.#stopped) return;
      if (this.#led.size >= most && !this.#led.has(root_id)) continue;
      const was_free = await this.#take(root_id).catch((error: unknown) => onTrouble(error, root_id));
      if (was_free === true) list.taken += 1;
      if (was_free !== false) continue;
      // Other workers have probably taken the rest, too, and a failed claim costs the ledger as much as a successful one.
      list.is_old = true;
      queue.length = 0;
    }
  }

  /** Releases trees at rest, the longest at rest first, until `wanted` places are free if possible; resolves to the free places. */
  async #makeRoom(wanted: number): Promise<number> {
    const { runtime, most = Number.POSITIVE_INFINITY } = this.#options;
    const free = () => most - this.#led.size;
    this.#room_soon = false;
    if (free() >= wanted) return free();
    const by_rest = [...this.#led].sort(([, one], [, other]) => one - other);
    for (const [root_id] of by_rest) {
      if (free() >= wanted) break;
      if (await runtime.release(root_id)) this.#led.delete(root_id);
      else if (await this.#rests(root_id)) this.#room_soon = true;
    }
    return free();
  }

  /** Takes over a tree; resolves to false if another worker was faster. */
  async #take(root_id: string): Promise<boolean> {
    const { runtime, onTaken, onTrouble } = this.#options;
    const known = this.#led.has(root_id);
    this.#led.set(root_id, Date.now());
    const { agents, broken } = await runtime.resume(root_id, { unattended: true });
    if (agents.length === 0) {
      if (!known && (await runtime.release(root_id))) this.#led.delete(root_id);
      return known;
    }
    onTaken?.(root_id, agents.length);
    for (const { agent, reason } of broken) onTrouble(new Error(`${agent.name}: ${reason}`), root_id);
    return true;
  }

  async #releaseIdle(): Promise<void> {
    const { runtime, idle_ms = IDLE_MS } = this.#options;
    const before = Date.now() - idle_ms;
    for (const [root_id, last] of this.#led) {
      if (last > before) continue;
      if (await runtime.release(root_id)) this.#led.delete(root_id);
      else this.#touchLater(root_id, last);
    }
  }

  /** Checks a busy tree again after another idle period; one whose root has ended, at each poll. */
  #touchLater(root_id: string, last: number): void {
    if (last > 0) this.#led.set(root_id, Date.now());
  }

  async #rests(root_id: string): Promise<boolean> {
    const agents = await this.#options.runtime.agents(root_id);
    return !agents.some(({ state }) => isWorking(state.type));
  }

  /** Stops taking over trees and waits until no turn is under way here; resolves to false after `ms`. */
  async drain(ms: number): Promise<boolean> {
    const end = performance.now() + ms;
    await this.#halt();
    for (; performance.now() < end; await sleep(DRAIN_LOOK_MS)) if (!(await this.#isAtWork())) return true;
    return !(await this.#isAtWork());
  }

  async #isAtWork(): Promise<boolean> {
    if (this.#options.store.gone.aborted) return false;
    for (const root_id of this.#led.keys()) {
      const agents = await this.#options.runtime.agents(root_id);
      // Parked agents wait in the ledger for the next leader.
      if (agents.some((agent) => statusWord(agent) === 'running')) return true;
    }
    return false;
  }

  /** Stops polling. Once it has resolved, the runtime and the store may be closed. */
  async stop(): Promise<void> {
    this.#unsubscribe();
    await this.#halt();
  }

  async #halt(): Promise<void> {
    this.#stopped = true;
    await this.#poll.stop();
  }
}
