import { dirname, relative, sep } from 'node:path';
import { CHANGES_MAX, type FileVersion, fileVersions } from '../../../documents/file-versions.ts';
import { containPath } from '../../../permissions/path-containment.ts';
import { gitIn } from '../../../processes/git-command.ts';
import { realPath } from '../../../processes/working-folder.ts';
import { isWorking } from '../../../records/agent/state.ts';
import { clean } from '../../../render/clean.ts';
import type { FileChange } from '../../../store/read-records.ts';
import { restoreFile } from '../../../tools/files/change-file.ts';
import { difference } from '../../../tools/files/difference.ts';
import { hashBytes, hashContained } from '../../../tools/files/file-hash.ts';
import type { AppContext } from '../../app-context.ts';
import type { Restoration } from '../../state/ui-state.ts';
import { resolveAgent } from '../agents/find-agent.ts';
import { type ChangedFiles, changedFiles } from './recorded-changes.ts';

const FILES_MAX = 200;
const LINES_MAX = 400;

/** The content of a file at one point. */
interface Content {
  /** Null: the file did not exist. */
  readonly hash: string | null;
  /** Null: the file did not exist; undefined: its text is unknown. */
  readonly text: string | null | undefined;
}

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
  const { files: changed, commands } = await changedSince(app, root.id, only);
  const files: Restoration[] = [];
  const [shown, left]: [string[], string[]] = [[], []];
  for (const [path, changes] of [...changed].slice(0, FILES_MAX)) {
    const name = relative(folder, path);
    const keep = (why: string) => left.push(`${clean(name)} stays as it is: ${why}`);
    if (name.startsWith(`..${sep}`)) {
      keep('it is outside the folder of this conversation');
      continue;
    }
    const own = new Set(changes.map(({ agent_id, seq }) => keyOf(agent_id, seq)));
    const run = newestRun(await app.store.fileChanges(path, CHANGES_MAX), own);
    if (run === null) {
      keep('another agent has changed it since');
      continue;
    }
    const contents = [await before(run.first, folder, name), after(run.last)];
    const [from, to] = (redo ? contents : contents.reverse()) as [Content, Content];
    const present = presentHash(folder, path);
    if (present === to.hash) continue;
    if (present !== from.hash) keep('it was changed since, but not by write or patch of these agents');
    else if (to.text === undefined) keep('the content to restore is no longer known');
    else {
      files.push({ path, from: from.hash, text: to.text });
      shown.push(...shownChange(clean(name), from.text ?? '', to.text));
    }
  }
  if (changed.size > FILES_MAX) left.push(`${changed.size - FILES_MAX} more files: /undo again`);
  if (commands > 0)
    left.push(
      `what ${commands === 1 ? 'a command' : `${commands} commands`} changed is not known, and stays as it is`,
    );
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
  const folder = realPath(app.state.agents.get(app.state.root_id ?? '')?.config.cwd ?? app.cwd);
  const left: string[] = [];
  for (const { path, from, text } of files) {
    const done = await restoreFile(() => containPath(folder, path), from, text, dirname(app.output_folder));
    if (!done) left.push(clean(relative(folder, path)));
  }
  const count = files.length - left.length;
  const what = `${count} file${count === 1 ? '' : 's'}`;
  const other = redo ? '/undo takes them back again' : '/undo redo puts the changes back';
  const stayed = left.length === 0 ? '' : `; changed meanwhile, and left alone: ${left.join(', ')}`;
  app.say(
    `${redo ? 'put back' : 'took back'} the changes of ${what}${stayed}; until you write again, ${other}`,
    'good',
  );
}

const keyOf = (agent_id: string, seq: number): string => `${agent_id} ${seq}`;

/** Returns what these agents changed since the person last wrote to the root. */
async function changedSince(app: AppContext, root_id: string, only: string | null): Promise<ChangedFiles> {
  const said = (await app.store.history(root_id)).findLast(
    ({ kind, content }) => kind === 'user' && 'origin' in content && content.origin === 'human',
  );
  return changedFiles(app, said?.at, only);
}

interface Run {
  readonly first: FileVersion;
  readonly last: FileVersion;
}

/** The newest changes of a file that are all in `own` and each start from the content that the previous one left; null if the newest is not in `own`. */
function newestRun(newest_first: readonly FileChange[], own: ReadonlySet<string>): Run | null {
  const runs: (Run | null)[] = [null];
  for (const version of fileVersions(newest_first)) {
    const { agent_id, seq, result } = version.change;
    const run = runs.pop() ?? null;
    const follows = run !== null && run.last.change.result.file.hash === result.file.before;
    const is_own = own.has(keyOf(agent_id, seq));
    runs.push(is_own ? { first: follows ? run.first : version, last: version } : null);
  }
  return runs[0] ?? null;
}

/** The content before a change: from the ledger, or from the last commit if its content has the same hash. */
async function before(version: FileVersion, folder: string, name: string): Promise<Content> {
  const hash = version.change.result.file.before ?? null;
  if (hash === null || version.before !== null) return { hash, text: hash === null ? null : version.before };
  const committed = await gitIn(folder)('show', `HEAD:./${name}`);
  return { hash, text: committed.ok && hashBytes(committed.out) === hash ? committed.out : undefined };
}

function after({ change, after: text }: FileVersion): Content {
  return { hash: change.result.file.hash, text: text ?? undefined };
}

/** Hash of the file's present content; null if there is no file, undefined if it cannot be read. */
function presentHash(folder: string, path: string): string | null | undefined {
  try {
    const place = containPath(folder, path);
    return place.exists ? hashContained(place)?.hash : null;
  } catch {
    return undefined; // a symbolic link that leads out of the folder, or no permission
  }
}

function shownChange(name: string, from: string, to: string | null): string[] {
  if (to === null) return [`${name}  would be removed: the agents created it`];
  const patch = difference(name, from, to);
  if (patch === null) return [`${name}  (too large or too different to show)`];
  return [
    name,
    ...patch
      .slice(Math.max(0, patch.indexOf('@@')))
      .trimEnd()
      .split('\n'),
  ];
}
