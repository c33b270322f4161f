import type { AgentDocument } from '../../../../src/documents/shapes/agent-parts.ts';
import type { Timeline } from '../lanes.ts';

/** Cells of activity of a row, and the time that each stands for. */
export const CELLS = 10;
export const CELL_MS = 6_000;
const LEVEL_MAX = 4;
const BUSY = new Set(['running', 'queued']);

/** What one row shows; a new object whenever that changes, so that only such rows are drawn again. */
export interface LiveRow {
  readonly agent: AgentDocument;
  readonly depth: number;
  /** Oldest first. 0: it rested; 1: it worked; above: so many requests and calls it finished, 4 at most. */
  readonly cells: readonly number[];
}

/** The rows of a tree, kept up to date by its events, without reading the tree again. */
export class LiveRows {
  readonly #agents = new Map<string, AgentDocument>();
  readonly #cells = new Map<string, number[]>();
  #rows: readonly LiveRow[] = [];
  #changed = new Set<string>();
  /** Agents of which something was told since `begin`. */
  readonly #fresh = new Set<string>();
  #grew = false;

  /** A whole tree is being read: what events tell meanwhile is newer than the answer. */
  begin(): void {
    this.#fresh.clear();
  }

  /** Takes the whole tree that was read. Its order counts: agents that were created together have the same time. */
  take(agents: readonly AgentDocument[]): void {
    const before = [...this.#agents.values()];
    const fresh = before.filter(({ id }) => this.#fresh.has(id));
    this.#agents.clear();
    const known = new Map(before.map((agent) => [agent.id, agent]));
    for (const agent of agents) {
      const older = known.get(agent.id);
      if (older !== undefined) this.#agents.set(agent.id, older);
      this.put(agent);
    }
    for (const agent of fresh) if (!this.#agents.has(agent.id)) this.#agents.set(agent.id, agent);
    this.#grew = true;
  }

  put(agent: AgentDocument): void {
    const before = this.#agents.get(agent.id);
    if (before !== undefined && agent.updated_at < before.updated_at) return;
    this.#fresh.add(agent.id);
    this.#agents.set(agent.id, agent);
    this.#changed.add(agent.id);
    if (before === undefined) this.#grew = true;
    const made =
      before === undefined
        ? 0
        : agent.tool_calls - before.tool_calls + Number(agent.tokens.output > before.tokens.output);
    this.#mark(agent, made);
  }

  remove(ids: readonly string[]): void {
    for (const id of ids) if (this.#agents.delete(id)) this.#grew = true;
  }

  /** Fills the cells with what a timeline knows of the last minute. */
  remember({ lanes, now }: Timeline): void {
    for (const { id, bars } of lanes) {
      const cells = Array.from({ length: CELLS }, (_, index) => {
        const from = now - (CELLS - index) * CELL_MS;
        const those = bars.filter(
          ({ kind, start, end }) => isWork(kind) && end > from && start < from + CELL_MS,
        );
        const ended = those.filter(({ end }) => end <= from + CELL_MS).length;
        return Math.min(LEVEL_MAX, those.length === 0 ? 0 : 1 + ended);
      });
      this.#cells.set(id, cells);
      this.#changed.add(id);
    }
  }

  /** Begins the next cell of every row. */
  next(): void {
    for (const agent of this.#agents.values()) {
      const cells = this.#cells.get(agent.id) ?? [];
      const [busy, some] = [BUSY.has(agent.status), cells.some((level) => level > 0)];
      if (!busy && !some) continue;
      this.#cells.set(agent.id, [...padded(cells).slice(1), Number(busy)]);
      this.#changed.add(agent.id);
    }
  }

  /** The rows in the order of the tree, children below their parent by birth: a change of status never moves one. */
  rows(): readonly LiveRow[] {
    if (this.#changed.size === 0 && !this.#grew) return this.#rows;
    const before = new Map(this.#rows.map((row) => [row.agent.id, row]));
    const again = (agent: AgentDocument, depth: number): LiveRow => {
      const row = before.get(agent.id);
      if (row !== undefined && row.depth === depth && !this.#changed.has(agent.id)) return row;
      return { agent, depth, cells: padded(this.#cells.get(agent.id) ?? []) };
    };
    this.#rows = this.#grew
      ? this.#inOrder().map(([agent, depth]) => again(agent, depth))
      : this.#rows.map(({ agent, depth }) => again(this.#agents.get(agent.id) ?? agent, depth));
    this.#changed = new Set();
    this.#grew = false;
    return this.#rows;
  }

  #mark(agent: AgentDocument, made: number): void {
    if (made <= 0 && !BUSY.has(agent.status)) return;
    const cells = padded(this.#cells.get(agent.id) ?? []);
    const last = Math.max(1, cells[CELLS - 1] ?? 0) + Math.max(0, made);
    cells[CELLS - 1] = Math.min(LEVEL_MAX, last);
    this.#cells.set(agent.id, cells);
  }

  #inOrder(): readonly (readonly [AgentDocument, number])[] {
    const children = Map.groupBy(this.#agents.values(), ({ parent_id }) => parent_id);
    const found: [AgentDocument, number][] = [];
    const add = (agent: AgentDocument, depth: number) => {
      found.push([agent, depth]);
      const born = (children.get(agent.id) ?? []).toSorted((a, b) =>
        a.started_at.localeCompare(b.started_at),
      );
      for (const child of born) add(child, depth + 1);
    };
    for (const agent of this.#agents.values())
      if (agent.parent_id === null || !this.#agents.has(agent.parent_id)) add(agent, 0);
    return found;
  }
}

function padded(cells: readonly number[]): number[] {
  return [...Array.from({ length: CELLS - cells.length }, () => 0), ...cells];
}

function isWork(kind: string): boolean {
  return kind === 'request' || kind === 'tool';
}
