import type { TreeRow } from '../../documents/shapes/agent-parts.ts';
import type { CoppiceClient } from '../../serve/client/client.ts';
import { sameLedgerFlags } from '../../settings/suggested-command.ts';
import { readPeek, seenTrees } from '../../tui/overview/overview-source.ts';
import type { OverviewSource } from '../../tui/overview/overview-state.ts';
import type { Context } from '../setup/context.ts';

/** Time after which rows are loaded again even without an event, because some changes cause none. */
const ANYWAY_MS = 30_000;
/** Maximum trees that a server lists in one answer. */
const LISTED_MAX = 500;

/** Source of the overview read from a server, whose events report changes. */
export function serverSource(context: Context, client: CoppiceClient): OverviewSource {
  const trees = new ServerTrees(client);
  return {
    listen: (wake) => trees.listen(wake),
    list: (limit) => trees.rows(limit),
    peek: (tree) => readPeek(client, tree),
    answer: async (ask_id, { verdict, scope, shown, rule, note, values, dismissed }) => {
      const filled = values === undefined ? {} : { values: { ...values } as Record<string, string> };
      await (verdict === 'deny'
        ? client.deny(ask_id, { shown, note, dismissed })
        : client.allow(ask_id, { scope, shown, rule, ...filled }));
    },
    seen: seenTrees(context),
    elsewhere: (agent_id) =>
      `the server has it; read it: coppice logs -f ${agent_id.slice(0, 8)}${sameLedgerFlags(context)}`,
  };
}

/** The newest trees of a server: loaded once, then kept up to date by its events. */
export class ServerTrees {
  readonly #client: Pick<CoppiceClient, 'trees' | 'events'>;
  #rows: ReadonlyMap<string, TreeRow> = new Map();
  /** Number of trees that the last load asked for. */
  #limit = 0;
  #load_at = 0;
  /** Changes that events reported since the last load began; null for a deleted tree. */
  #told = new Map<string, TreeRow | null>();
  #refused: unknown = null;

  constructor(client: Pick<CoppiceClient, 'trees' | 'events'>) {
    this.#client = client;
  }

  /** Follows the events; resolves to a function that stops following. */
  async listen(wake: () => void): Promise<() => Promise<void>> {
    const ended = new AbortController();
    const onBreak = (): void => {
      this.#load_at = 0;
      wake();
    };
    const follow = async (): Promise<void> => {
      for await (const event of this.#client.events({ signal: ended.signal, onBreak })) {
        if (event.type === 'resync') this.#load_at = 0;
        else if (event.type === 'tree' && event.tree !== undefined)
          this.#tell(event.tree.root_id, event.tree);
        else if (event.type === 'removed') for (const id of event.ids ?? []) this.#tell(id, null);
        else continue;
        wake();
      }
    };
    const following = follow().catch((error: unknown) => {
      this.#refused = error;
      wake();
    });
    return async () => {
      ended.abort();
      await following;
    };
  }

  /** The newest `limit` trees and all that wait for an approval, newest first. Rejects when the server cannot be reached. */
  async rows(limit: number): Promise<readonly TreeRow[]> {
    if (this.#refused !== null) throw this.#refused;
    if (limit > this.#limit || performance.now() >= this.#load_at) await this.#load(limit);
    const newest = [...this.#rows.values()].sort((a, b) => b.started_at.localeCompare(a.started_at));
    return newest.filter(({ approvals }, place) => place < limit || approvals > 0);
  }

  async #load(limit: number): Promise<void> {
    const told = new Map<string, TreeRow | null>();
    this.#told = told;
    // Set before the answer arrives: a `resync` in the meantime causes another load.
    this.#load_at = performance.now() + ANYWAY_MS;
    try {
      const { trees } = await this.#client.trees({ limit: Math.min(limit, LISTED_MAX), asking: true });
      this.#limit = limit;
      this.#rows = new Map(trees.map((tree) => [tree.root_id, tree]));
      for (const [id, row] of told) this.#put(id, row);
    } catch (error) {
      this.#load_at = 0;
      throw error;
    }
  }

  #tell(id: string, row: TreeRow | null): void {
    this.#told.set(id, row);
    this.#put(id, row);
  }

  #put(id: string, row: TreeRow | null): void {
    const rows = new Map(this.#rows);
    if (row === null) rows.delete(id);
    else rows.set(id, row);
    this.#rows = rows;
  }
}
