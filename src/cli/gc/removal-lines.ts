import type { RemovedOutput } from '../../processes/output/spill-folder.ts';
import { duration } from '../../render/amounts.ts';
import { clean } from '../../render/clean.ts';
import type { Style } from '../../render/style.ts';
import { tableLines } from '../../render/table.ts';
import type { OldWorktree } from '../../runtime/worktree/old-worktrees.ts';
import type { Removal, RemovedRows } from '../../store/remove-old.ts';
import { keptLines } from './worktrees-kept.ts';

/** Maximum trees that are listed; further ones are only counted, but `--json` has all. */
const SHOWN = 20;
const HEAD = ['TREE', 'NAME', 'STATUS', 'SINCE'] as const;
/** Names of what is counted, in singular and plural. */
const NAMES: readonly (readonly [keyof RemovedRows, string, string])[] = [
  ['trees', 'tree', 'trees'],
  ['agents', 'agent', 'agents'],
  ['messages', 'message', 'messages'],
  ['mail', 'letter', 'letters'],
  ['requests', 'model request', 'model requests'],
  ['asks', 'approval', 'approvals'],
  ['deliveries', 'delivery', 'deliveries'],
  ['fires', 'instant of schedules', 'instants of schedules'],
  ['runs', 'run of the history', 'runs of the history'],
];

interface RemovalTerms {
  readonly now: number;
  readonly dry_run: boolean;
  readonly archive: string | null;
  readonly output: RemovedOutput;
  readonly worktrees: readonly OldWorktree[];
}

/** Tells what `coppice gc` removed, or would remove. */
export function removalLines(
  { trees, resumed, rows }: Removal,
  { now, dry_run, archive, output, worktrees }: RemovalTerms,
  { width, out }: { readonly width: number; readonly out: Style },
): string[] {
  const counts = NAMES.flatMap(([name, one, many]) =>
    rows[name] === 0 ? [] : [`${rows[name].toLocaleString('en-US')} ${rows[name] === 1 ? one : many}`],
  );
  if (output.files > 0)
    counts.push(
      `${output.files} ${output.files === 1 ? 'file' : 'files'} of spilled output (${(output.bytes / 1_000_000).toFixed(1)} MB)`,
    );
  const gone = worktrees.filter(({ kept }) => kept === null).length;
  if (gone > 0) counts.push(`${gone} ${gone === 1 ? 'worktree' : 'worktrees'}`);
  const kept = keptLines(worktrees);
  if (counts.length === 0) return ['nothing is old enough to be removed', ...kept];
  const table = tableLines(
    HEAD,
    trees
      .slice(0, SHOWN)
      .map(({ root_id, name, status, last_at }) => [
        root_id.slice(0, 8),
        clean(name),
        status,
        duration(now - last_at),
      ]),
    { width, right: new Set([3]), style: out },
  );
  return [
    ...(trees.length === 0 ? [] : table),
    ...(trees.length > SHOWN ? [`… and ${trees.length - SHOWN} more`] : []),
    ...(resumed === 0 ? [] : [`${resumed} of an earlier removal that was cut short`]),
    `${dry_run ? 'would remove' : 'removed'} ${counts.join(', ')}`,
    ...(archive === null ? [] : [`kept in ${clean(archive)}`]),
    ...kept,
  ];
}
