import { randomUUID } from 'node:crypto';
import type { Agent } from '../../../src/records/agent/agent.ts';
import { CONFIG, child, newRoot } from '../../store/ledger-fixture.ts';
import { type Line, type Play, parsed, type Scene, type Stage, type StageOptions } from '../stage.ts';
import type { World } from './ordered-world.ts';

export type Part = (scene: Scene) => Line;
export type Parts = Readonly<Record<string, readonly (Line | Part)[]>>;
export type Row = Readonly<Record<string, string | undefined>>;

/** Timeout of the waits in these plays; shorter than the run time of a turn. */
export const TIMEOUT_MS = 600_000;

export const fork = (name: string) => ['fork', { name, prompt: `be ${name}` }] as const;
export const waitFor = (...from: string[]) =>
  ['wait', { timeout: TIMEOUT_MS / 1_000, from_agents: from }] as const;
export const waitForAny = ['wait', { timeout: TIMEOUT_MS / 1_000 }] as const;
export const write = (to: string, message = 'more') => ['send', { to, message }] as const;
export const fails: Part = () => {
  throw new Error('no answer');
};

/** A play in which each agent says its lines in order, and repeats the last one. */
export function cast(parts: Parts): Play {
  return (scene) => {
    const lines = parts[scene.name] ?? ['done'];
    const line = lines[Math.min(scene.step, lines.length - 1)] as Line | Part;
    return typeof line === 'function' ? line(scene) : line;
  };
}

export interface Family {
  /** The processes that lead the root and the other agents. */
  readonly on: Stage;
  readonly other: Stage;
  readonly root: Agent;
}

export interface FamilyOptions extends StageOptions {
  /** Number of the root's request from which on the order of events makes no difference. */
  readonly asked?: number;
  /** Agent that the process `right` leads, while `left` leads the rest; the process in which they began has died. Default: `left` leads all. */
  readonly apart?: string;
}

/** Starts a root and gives its first answer; orders vary from its second request on. */
export async function family(
  world: World,
  parts: Parts,
  { asked, apart, ...options }: FamilyOptions = {},
): Promise<Family> {
  const began = await world.process(apart === undefined ? 'left' : 'first', cast(parts), options);
  const root = await began.start();
  await world.cue('main');
  let [on, other] = [began, began];
  if (apart !== undefined) {
    const agent = await world.agent(apart, root.id);
    on = await world.process('left', cast(parts), options);
    other = await world.process('right', cast(parts), options);
    await world.dies('first');
    await world.share([agent], on, other);
  }
  if (asked !== undefined)
    world.decidedWhen(() => on.requests.some(({ messages }) => answers(messages) + 1 >= asked));
  return { on, other, root };
}

function answers(messages: Stage['requests'][number]['messages']): number {
  return messages.filter(({ role }) => role === 'assistant').length;
}

export function requests(on: Stage, name = 'main'): number {
  return on.requests.filter(({ agent }) => agent.name === name).length;
}

/** Rows of the newest wait of the root's model, without ids, names and deeds. */
export async function waited({ on, root }: Pick<Family, 'on' | 'root'>): Promise<Row[]> {
  const last = (await on.results(root)).findLast(({ name }) => name === 'wait');
  return (parsed(last).results as Row[]).map(({ agent_id: _, name: __, did: ___, ...row }) => row);
}

export async function heard({ on, root }: Pick<Family, 'on' | 'root'>): Promise<string> {
  return JSON.stringify(await on.store.history(root.id));
}

/** One process leads the root, another an agent `mid`; orders vary from the root's first request on. */
export async function shared(
  world: World,
  parts: Parts,
  asked: number,
): Promise<Family & { readonly mid: Agent }> {
  const other = await world.process('left', cast(parts));
  const on = await world.process('right', cast(parts));
  const { store } = world;
  const holder = { id: randomUUID(), host: 'elsewhere', pid: 1 };
  await store.heartbeat(holder);
  const resting = {
    config: { ...CONFIG, model: 'play/actor', toolsets: ['process'] },
    state: { type: 'idle' },
  } as const;
  const root = await newRoot(store, {}, { ...resting, name: 'main', worker: holder.id });
  world.owns(root.id);
  const mid = await child(store, root, { ...resting, name: 'mid', worker: null });
  await other.runtime.resume(root.id);
  await store.release(holder.id);
  await on.runtime.resume(root.id);
  await on.runtime.send(root.id, 'begin');
  world.decidedWhen(() => requests(on) >= asked);
  return { on, other, root, mid };
}
