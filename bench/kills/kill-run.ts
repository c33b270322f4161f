import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { readEndedLedger } from '../judge/ended-ledger.ts';
import { readJournal } from './journal.ts';
import type { KillOrder } from './killer.ts';
import type { LeadOptions } from './lead.ts';
import type { OrderBook } from './order-book.ts';
import { TREE_KINDS } from './tree-rules.ts';
import { kindOf, treeShape } from './tree-shape.ts';

export const LEADER = join(import.meta.dirname, 'lead.ts');

/** Default time limit of a leader process. */
const HANGS_MS = 120_000;

export interface KillRunOptions extends Pick<LeadOptions, 'database' | 'folder' | 'trees' | 'width'> {
  /** Null: no leader is killed. */
  readonly book: Pick<OrderBook, 'next' | 'giveBack'> | null;
  /** Compile cache: a short-lived process would spend most of its time compiling. */
  readonly cache: string;
  readonly leader: string;
  /** Time limit of a leader process. */
  readonly hangs_ms?: number;
}

export interface KillRun {
  readonly lives: number;
  /** Leaders that failed, in words; the run ends with the first one. */
  readonly troubles: readonly string[];
}

/** Starts one leader after another on one ledger, each killed as ordered, until one has led all trees to their end. */
export async function killRun(options: KillRunOptions): Promise<KillRun> {
  const { book, cache, leader, hangs_ms = HANGS_MS, ...terms } = options;
  for (let life = 1; ; life += 1) {
    const order = book?.next(life === 1) ?? null;
    const end = await live({ ...terms, life, order }, leader, cache, hangs_ms);
    const trouble = troubleOf(end, order, life, terms.folder);
    if (order !== null && (trouble !== null || end.code === 0)) book?.giveBack(order);
    if (trouble !== null) return { lives: life, troubles: [trouble] };
    if (end.code === 0) return { lives: life, troubles: [] };
  }
}

interface LifeEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stderr: string;
  /** Milliseconds after which the leader was given up; null if it ended by itself. */
  readonly hung_ms: number | null;
}

function live(options: LeadOptions, leader: string, cache: string, hangs_ms: number): Promise<LifeEnd> {
  const env = { PATH: process.env.PATH, NODE_COMPILE_CACHE: cache };
  const child = spawn(process.execPath, [leader, JSON.stringify(options)], {
    env,
    // The input closes with this process, however it dies.
    stdio: ['pipe', 'ignore', 'pipe'],
  });
  let stderr = '';
  child.stdin.on('error', () => undefined);
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  let hung_ms: number | null = null;
  const timer = setTimeout(() => {
    hung_ms = hangs_ms;
    child.kill('SIGKILL');
  }, hangs_ms);
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => {
      clearTimeout(timer);
      resolve({ code, signal, stderr, hung_ms });
    });
  });
}

function troubleOf(end: LifeEnd, order: KillOrder | null, life: number, folder: string): string | null {
  if (end.hung_ms !== null) return `leader ${life} neither died nor ended within ${end.hung_ms / 1_000} s`;
  if (end.code === 0) return null;
  const died = existsSync(join(folder, `journal-${life}`)) && readJournal(folder, life).deaths.length === 1;
  if (end.signal === 'SIGKILL' && order !== null && died) return null;
  return `leader ${life} ended with ${end.code ?? end.signal}: ${end.stderr.trim().slice(-600)}`;
}

/** Shapes of trees of each kind when nothing is killed. `folder` must be empty; throws when a tree does not end. */
export async function undisturbedShapes(
  folder: string,
  cache: string,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const trees = Object.keys(TREE_KINDS).map((kind) => `${kind}-0`);
  const database = `sqlite:${join(folder, 'ledger.db')}`;
  const terms = { trees, folder, database, cache, width: trees.length };
  const { troubles } = await killRun({ ...terms, book: null, leader: LEADER });
  if (troubles.length > 0) throw new Error(`an undisturbed run did not end: ${troubles.join('; ')}`);
  const ledger = await readEndedLedger(database);
  const all = [...ledger.agents.values()];
  const roots = all.filter(({ parent_id, was }) => parent_id === null && was === undefined);
  const shapes = new Map(roots.map((root) => [kindOf(root), treeShape(root, ledger)]));
  ledger.database.close();
  return shapes;
}
