import { isoTime } from '../../documents/iso-time.ts';
import type { DocumentOf } from '../../documents/shapes/all-documents.ts';
import { type RemovedOutput, removeSpilledOutput, spillFolder } from '../../processes/output/spill-folder.ts';
import { counted } from '../../records/text/text.ts';
import { duration } from '../../render/amounts.ts';
import { clean } from '../../render/clean.ts';
import { tableLines } from '../../render/table.ts';
import { type OldWorktree, OldWorktrees } from '../../runtime/worktree/old-worktrees.ts';
import { outputFolder } from '../../settings/folders.ts';
import { shellWord } from '../../settings/suggested-command.ts';
import { type Removal, type RemovedRows, removeOld } from '../../store/remove-old.ts';
import type { Store } from '../../store/store.ts';
import { type Context, withStore } from '../setup/context.ts';
import { printResult } from '../setup/output.ts';
import { ArchiveFile } from './archive-file.ts';

interface GcOptions {
  /** Milliseconds. */
  readonly olderThan: number;
  readonly idle?: boolean;
  readonly runs?: boolean;
  readonly dryRun?: boolean;
  readonly archive?: string;
}

/** `coppice gc`: removes old data. */
export function gc(context: Context, options: GcOptions): Promise<number> {
  return withStore(context, async (store) => {
    const { idle = false, runs = false, dryRun: dry_run = false } = options;
    const now = await store.now();
    const terms = { before: now - options.olderThan, idle };
    const archive =
      options.archive === undefined || dry_run
        ? null
        : await ArchiveFile.create(options.archive, {
            ledger: store.location,
            written_at: isoTime(now),
            before: isoTime(terms.before),
          });
    const place = outputFolder(context.data_folder);
    const worktrees = await OldWorktrees.find(store, place, dry_run);
    const onTrees = (root_ids: readonly string[]) => worktrees.removeOf(root_ids);
    const removal = await removing(archive, store, { terms, runs, dry_run, onTrees });
    await worktrees.removeEnded(terms.before);
    // Uses the clock of this machine, which wrote the files. Spilled output of a removed tree is as old as the tree.
    const output = await removeSpilledOutput(spillFolder(place), {
      before: Date.now() - options.olderThan,
      dry_run,
    });
    const done = { dry_run, archive: archive?.path ?? null, output };
    const document = {
      schema: 'coppice/gc/v1',
      ...done,
      before: isoTime(terms.before),
      removed: removal.rows,
      resumed: removal.resumed,
      trees: removal.trees.map(({ last_at, ...tree }) => ({ ...tree, last_at: isoTime(last_at) })),
      worktrees: worktreesJson(worktrees.all, context.hint),
    };
    return printResult(context, document, () =>
      removalLines(removal, { ...done, now, worktrees: worktrees.all }, context),
    );
  });
}

async function removing(
  archive: ArchiveFile | null,
  store: Store,
  options: Omit<Parameters<typeof removeOld>[1], 'archive'>,
): Promise<Removal> {
  try {
    // Frees the agents of dead workers, whose trees would otherwise count as led.
    if (!options.dry_run) await store.unledTrees(1);
    const removal = await removeOld(store, { ...options, archive });
    await archive?.end();
    return removal;
  } catch (error) {
    await archive?.abandon();
    throw error;
  }
}

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

function removalLines(
  { trees, resumed, rows }: Removal,
  { now, dry_run, archive, output, worktrees }: RemovalTerms,
  { width, out, hint }: Pick<Context, 'width' | 'out' | 'hint'>,
): string[] {
  const counts = NAMES.flatMap(([name, one, many]) =>
    rows[name] === 0 ? [] : [`${rows[name].toLocaleString('en-US')} ${rows[name] === 1 ? one : many}`],
  );
  if (output.files > 0)
    counts.push(
      `${counted(output.files, 'file')} of spilled output (${(output.bytes / 1_000_000).toFixed(1)} MB)`,
    );
  const gone = worktrees.filter(({ kept }) => kept === null).length;
  if (gone > 0) counts.push(counted(gone, 'worktree'));
  const kept = keptLines(worktrees, hint);
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

type Row = DocumentOf<'coppice/gc/v1'>['worktrees'][number];

function worktreesJson(worktrees: readonly OldWorktree[], hint: Context['hint']): Row[] {
  return worktrees.map(({ path, branch, agent, in_ledger, kept }) => ({
    ...{ path, branch, agent_id: agent?.id ?? null, name: agent?.name ?? null, kept },
    merge: hint(mergeCommand(branch, in_ledger ? agent : null)),
    remove: `git -C ${shellWord(path)} worktree remove --force ${shellWord(path)}`,
  }));
}

/** Lists the worktrees that are kept, each with the reason and the commands that merge or remove it. */
function keptLines(worktrees: readonly OldWorktree[], hint: Context['hint']): string[] {
  return worktreesJson(worktrees, hint).flatMap(({ name, branch, kept, merge, remove }) =>
    kept === null
      ? []
      : [
          `stays: worktree ${clean(branch)}${name === null ? '' : ` of ${clean(name)}`}: ${clean(kept)}`,
          `  merge it:  ${clean(merge)}`,
          `  remove it: ${clean(remove)}`,
        ],
  );
}

function mergeCommand(branch: string, agent: OldWorktree['agent']): string {
  return agent === null ? `git merge ${shellWord(branch)}` : `coppice merge ${agent.id.slice(0, 8)}`;
}
