import { dirname, relative } from 'node:path';
import { CHANGES_MAX } from '../../../documents/file-versions.ts';
import { containPath } from '../../../permissions/path-containment.ts';
import { realPath } from '../../../processes/working-folder.ts';
import { isWorking } from '../../../records/agent/state.ts';
import { counted } from '../../../records/text/text.ts';
import { clean } from '../../../render/clean.ts';
import { restoreFile } from '../../../tools/files/change-file.ts';
import { FILES_MAX, type Restoration, restorationsOf } from '../../../trees/rewind/file-restoration.ts';
import type { AppContext } from '../../app-context.ts';
import { resolveAgent } from '../agents/find-agent.ts';

const LINES_MAX = 400;

/**
 * `/undo`: shows what the agents of the tree in view, or only one, changed in its folder since the person last wrote to its root, and asks whether to take it
 * back. Of each file, only the newest uninterrupted run of these changes counts; a file whose content is no longer what they left stays as it is.
 */
export async function askUndo(
  app: AppContext,
  { redo, agent }: { readonly redo: boolean; readonly agent: string | null },
): Promise<void> {
  const only = agent === null ? null : resolveAgent(app, agent);
  if (agent !== null && only === null) return;
  const root = app.state.agents.get(app.state.root_id ?? '');
  if (root === undefined) return app.say('nothing was changed yet');
  const folder = realPath(root.config.cwd);
  const since = await lastWritten(app, root.id);
  const changes = (await app.store.treeChanges(root.id, CHANGES_MAX)).filter(
    ({ agent_id, at }) => at >= since && (only === null || agent_id === only),
  );
  const changed = Map.groupBy(changes, ({ result }) => result.file.path);
  const { files, shown, left } = await restorationsOf(app.store, folder, changed, { redo });
  if (changed.size > FILES_MAX) left.push(`${changed.size - FILES_MAX} more files: /undo again`);
  left.push('what commands changed is not known, and stays as it is');
  if (files.length === 0)
    return app.say(
      [`nothing to ${redo ? 'put back' : 'take back'} since you last wrote`, ...left].join('\n'),
    );
  const cut = shown.slice(0, LINES_MAX);
  if (shown.length > cut.length) cut.push(`… ${shown.length - cut.length} more lines`);
  if ([...app.state.agents.values()].some(({ state }) => isWorking(state.type)))
    left.push('agents are at work and may change files again');
  app.say([...cut, ...left].join('\n'), 'difference');
  app.dispatch({ type: 'overlay', overlay: { type: 'restore', files, redo } });
}

/** Restores the files as the person confirmed; a file that has changed meanwhile stays as it is. */
export async function restoreFiles(
  app: AppContext,
  { files, redo }: { readonly files: readonly Restoration[]; readonly redo: boolean },
): Promise<void> {
  const { cwd, output_folder } = app.options;
  const folder = realPath(app.state.agents.get(app.state.root_id ?? '')?.config.cwd ?? cwd);
  const left: string[] = [];
  for (const { path, from, text } of files) {
    const done = await restoreFile(() => containPath(folder, path), from, text, dirname(output_folder));
    if (!done) left.push(clean(relative(folder, path)));
  }
  const count = files.length - left.length;
  const other = redo ? '/undo takes them back again' : '/undo redo puts the changes back';
  const stayed = left.length === 0 ? '' : `; changed meanwhile, and left alone: ${left.join(', ')}`;
  app.say(
    `${redo ? 'put back' : 'took back'} the changes of ${counted(count, 'file')}${stayed}; until you write again, ${other}`,
    'good',
  );
}

/** When the person last wrote to the root. */
export async function lastWritten(app: AppContext, root_id: string): Promise<number> {
  const said = (await app.store.history(root_id)).findLast(
    ({ kind, content }) => kind === 'user' && 'origin' in content && content.origin === 'human',
  );
  return said?.at ?? 0;
}
