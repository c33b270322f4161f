import { isoTime } from '../../documents/iso-time.ts';
import { removeSpilledOutput, spillFolder } from '../../processes/output/spill-folder.ts';
import { OldWorktrees } from '../../runtime/worktree/old-worktrees.ts';
import { outputFolder } from '../../settings/folders.ts';
import type { Removal } from '../../store/remove-old.ts';
import { removeOld } from '../../store/remove-old.ts';
import type { Store } from '../../store/store.ts';
import { type Context, withStore } from '../setup/context.ts';
import { printResult } from '../setup/output.ts';
import { ArchiveFile } from './archive-file.ts';
import { removalLines } from './removal-lines.ts';
import { worktreesJson } from './worktrees-kept.ts';

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
      worktrees: worktreesJson(worktrees.all),
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
