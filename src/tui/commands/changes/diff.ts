import { relative, resolve, sep } from 'node:path';
import { CHANGES_MAX } from '../../../documents/file-versions.ts';
import { type Git, neutralGitIn } from '../../../processes/git-command.ts';
import { realPath } from '../../../processes/working-folder.ts';
import { clean } from '../../../render/clean.ts';
import type { AppContext } from '../../app-context.ts';

const FILES_MAX = 50;
const LINES_MAX = 400;

/** `/diff`: shows what the agents of the tree in view changed in its folder: against the last commit, or, if git cannot tell, as their tools reported it. */
export async function tellChanges(app: AppContext): Promise<void> {
  const root = app.state.agents.get(app.state.root_id ?? '');
  if (root === undefined) return app.say('nothing was changed yet');
  const folder = realPath(root.config.cwd);
  const changed = (await app.store.treeChanges(root.id, CHANGES_MAX)).toReversed();
  const files = Map.groupBy(changed, ({ result }) => result.file.path);
  const opened = await neutralGitIn(folder);
  const git =
    typeof opened === 'function' && (await opened('rev-parse', '--verify', 'HEAD')).ok ? opened : null;
  const lines: string[] = [];
  for (const [path, changes] of [...files].slice(0, FILES_MAX)) {
    const name = relative(folder, path);
    const agents = new Set(changes.map(({ agent_name }) => clean(agent_name)));
    lines.push(`${clean(name)}  by ${[...agents].join(', ')}`);
    // The fallback if git cannot tell: the output of the tools.
    const said = changes.map(({ result }) => result.output);
    const told = (git === null ? null : await differenceOf(git, name)) ?? said;
    lines.push(...told.flatMap((text) => text.split('\n')));
  }
  const left = files.size - FILES_MAX;
  if (left > 0) lines.push(`… ${left} more files`);
  if (files.size === 0) lines.push('no agent of this tree has changed a file by write or patch');
  const others = git === null ? [] : await changedOtherwise(git, folder, files);
  if (others.length > 0)
    lines.push(
      `changed by commands, or by others: ${others.slice(0, FILES_MAX).map(clean).join(', ')}${others.length > FILES_MAX ? ', …' : ''}`,
    );
  else if (git === null) lines.push('commands may have changed more; such changes are not recorded');
  const cut = lines.slice(0, LINES_MAX);
  if (lines.length > cut.length) cut.push(`… ${lines.length - cut.length} more lines: git diff`);
  app.say(cut.join('\n'), 'difference');
}

/** The difference between a file and the last commit; null if git does not track the file. */
async function differenceOf(git: Git, name: string): Promise<readonly string[] | null> {
  const file = `:(literal)${name}`;
  const known = await git('ls-files', '--cached', '--', file);
  if (!known.ok || known.out === '') return null;
  const found = await git('diff', '--no-color', '--no-ext-diff', '--no-textconv', 'HEAD', '--', file);
  if (!found.ok) return null;
  const from = found.out.indexOf('@@');
  return [found.out === '' ? '(as in the last commit)' : found.out.slice(Math.max(0, from)).trimEnd()];
}

async function changedOtherwise(
  git: Git,
  folder: string,
  files: ReadonlyMap<string, unknown>,
): Promise<readonly string[]> {
  const status = await git('status', '--porcelain', '-z', '--no-renames', '--', '.');
  const top = await git('rev-parse', '--show-toplevel');
  if (!status.ok || !top.ok) return [];
  const root = top.out.replace(/\n$/, '');
  return status.out
    .split('\0')
    .filter((entry) => entry.length > 3)
    .map((entry) => resolve(root, entry.slice(3)))
    .filter((path) => !files.has(path) && ![...files.keys()].some((one) => one.startsWith(`${path}${sep}`)))
    .map((path) => relative(folder, path));
}
