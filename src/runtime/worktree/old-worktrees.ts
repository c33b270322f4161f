import { existsSync } from 'node:fs';
import { readdir, realpath } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { worktreeFolder } from '../../processes/output/spill-folder.ts';
import { type Agent, worktreeOf } from '../../records/agent/agent.ts';
import { isTerminal } from '../../records/agent/state.ts';
import type { Store } from '../../store/store.ts';
import { BRANCHES, removeWorktree } from './git-worktree.ts';

/** Prefix of the creating agent's id, at the beginning of a worktree's name. */
const CREATOR = /^[\da-f]{8}(?=-)/;

/** A worktree in which nobody works any more. */
export interface OldWorktree {
  readonly path: string;
  readonly branch: string;
  /** The oldest agent that worked in it; null if there is none in this ledger. */
  readonly agent: { readonly id: string; readonly name: string } | null;
  /** Whether the ledger still has the agent. */
  readonly in_ledger: boolean;
  /** Reason why it stays; null if it was removed (with `dry_run`: would be). */
  readonly kept: string | null;
}

/** A folder for a worktree, and the agents that work in it or below, oldest first. */
interface Found {
  readonly path: string;
  readonly name: string;
  readonly agents: readonly Agent[];
}

/**
 * The worktrees on this machine whose agents are gone. A worktree stays if it holds work that no other
 * branch has, or if no agent of this ledger worked in it, because it may belong to another ledger.
 */
export class OldWorktrees {
  readonly #found: Set<Found>;
  readonly #dry_run: boolean;
  readonly #old: OldWorktree[] = [];

  private constructor(found: readonly Found[], dry_run: boolean) {
    this.#found = new Set(found);
    this.#dry_run = dry_run;
  }

  static async find(store: Store, spill_dir: string, dry_run: boolean): Promise<OldWorktrees> {
    const folder = worktreeFolder(spill_dir);
    const found: Found[] = [];
    for (const name of (await readdir(folder).catch(() => [])).sort()) {
      const path = await realpath(join(folder, name));
      const agents = await agentsIn(store, path, name);
      if (agents.length > 0 || existsSync(join(path, '.git'))) found.push({ path, name, agents });
    }
    return new OldWorktrees(found, dry_run);
  }

  /** All old worktrees found so far, removed or not. */
  get all(): readonly OldWorktree[] {
    return this.#old;
  }

  /** Removes worktrees whose agents all belong to these trees, which nobody can continue. */
  async removeOf(root_ids: readonly string[]): Promise<void> {
    const roots = new Set(root_ids);
    for (const one of this.#found)
      if (one.agents.length > 0 && one.agents.every(({ root_id }) => roots.has(root_id)))
        await this.#remove(one, this.#dry_run);
  }

  /** Removes worktrees whose agents all ended before this time, milliseconds since the epoch. */
  async removeEnded(before: number): Promise<void> {
    for (const one of this.#found)
      if (one.agents.every(({ state, updated_at }) => isTerminal(state.type) && updated_at < before))
        await this.#remove(one, true);
  }

  async #remove(one: Found, in_ledger: boolean): Promise<void> {
    this.#found.delete(one);
    const { path, name, agents } = one;
    const [agent = null] = agents;
    const worktree = agents.map(({ config }) => worktreeOf(config)).find((made) => made !== null);
    const terms = { merged: true, dry_run: this.#dry_run };
    this.#old.push({
      path,
      branch: worktree?.branch ?? `${BRANCHES}${name}`,
      agent: agent === null ? null : { id: agent.id, name: agent.name },
      in_ledger: in_ledger && agent !== null,
      kept: worktree ? await removeWorktree(worktree, terms) : 'no agent of this ledger worked in it',
    });
  }
}

/** The agents that work in a worktree or below it, oldest first: of the tree that made it, and of others that a person began there. */
async function agentsIn(store: Store, path: string, name: string): Promise<readonly Agent[]> {
  const id = CREATOR.exec(name)?.[0];
  const named = id === undefined ? [] : await store.find(id);
  const roots = new Set(named.filter((one) => one.id.startsWith(id ?? '')).map(({ root_id }) => root_id));
  for (const { root_id } of await store.agents({ cwd: path })) roots.add(root_id);
  const agents: Agent[] = [];
  for (const root_id of roots) agents.push(...(await store.agents({ root_id })));
  return agents
    .filter(({ config: { cwd } }) => `${cwd}${sep}`.startsWith(`${path}${sep}`))
    .sort((one, other) => one.created_at - other.created_at);
}
