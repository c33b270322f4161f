import { isWorking } from '../../records/agent/state.ts';
import type { SeenContext, ToolResult } from '../../records/tool.ts';
import { duration } from '../../render/amounts.ts';
import type { Store } from '../../store/store.ts';
import type { Cell } from '../executor/cell.ts';
import type { Executor } from '../executor/executor.ts';
import type { RuntimeClock } from '../runtime-clock.ts';

interface Sources {
  readonly store: Pick<Store, 'fileChanges'>;
  readonly executor: Executor;
  readonly clock: RuntimeClock;
}

/** Maximum changes read for a refusal, and maximum changes that it names. */
const CHANGES_READ = 20;
const CHANGES_NAMED = 3;

/** The files that the agent has seen, according to its conversation in the ledger. */
export function seenContext(cell: Cell, { store, executor, clock }: Sources): SeenContext {
  return {
    seen: (path) => cell.seen.hashOf(path),
    isRecorded: (path, hash) =>
      relatives(cell, executor).some(
        ({ seen }) => seen.use(path) === 'changed' && seen.hashOf(path) === hash,
      ),
    changedBy: async (path, seen, now) => {
      const changes = await store.fileChanges(path, CHANGES_READ);
      if (changes[0]?.result.file.hash !== now) return null;
      const known = changes.findIndex(({ result }) => result.file.hash === seen);
      const since = changes.slice(0, seen === undefined ? 1 : known === -1 ? CHANGES_NAMED : known);
      const named = since.slice(0, CHANGES_NAMED).map(({ agent_name, at, result }) => {
        const [first, last] = result.file.lines ?? [];
        const lines =
          first === undefined ? '' : first === last ? `, line ${first}` : `, lines ${first}–${last}`;
        return `${duration(clock.now() - at)} ago by ${agent_name}${lines}`;
      });
      return named.length === 0 ? null : named.join('; ');
    },
  };
}

/**
 * Names other working agents that use the same file, each of them once: those that changed
 * it and, if this call changed it, those that read it. Null if there are none.
 */
export function otherUsersNote(
  cell: Cell,
  { status, ...result }: ToolResult,
  executor: Executor,
): string | null {
  const file = 'file' in result ? result.file : undefined;
  if (status !== 'ok' || file === undefined) return null;
  const changes = file.before !== undefined;
  const names = relatives(cell, executor).flatMap(({ agent, seen }) => {
    const use = agent.id === cell.agent.id ? undefined : seen.use(file.path);
    const counts = isWorking(agent.state.type) && (use === 'changed' || (changes && use === 'read'));
    const key = `${agent.id} ${file.path}`;
    if (!counts || cell.told.has(key)) return [];
    cell.told.add(key);
    return [agent.name];
  });
  if (names.length === 0) return null;
  const more = names.length > NAMES_MAX ? ` and ${names.length - NAMES_MAX} more` : '';
  return `[${changes ? 'also held' : 'also being changed'} by ${names.slice(0, NAMES_MAX).join(', ')}${more}]`;
}

const NAMES_MAX = 5;

/** Cells of the agent's tree that this process leads. */
function relatives({ agent }: Cell, { agent_index, cells }: Executor): Cell[] {
  return agent_index.members(agent.root_id).flatMap(({ id }) => cells.get(id) ?? []);
}
