import { relative, sep } from 'node:path';
import { CHANGES_MAX, type FileVersion, fileVersions } from '../../documents/file-versions.ts';
import { containPath } from '../../permissions/path-containment.ts';
import { gitIn } from '../../processes/git-command.ts';
import { clean } from '../../render/clean.ts';
import type { FileChange } from '../../store/read-records.ts';
import type { Store } from '../../store/store.ts';
import { difference } from '../../tools/files/difference.ts';
import { hashBytes, hashContained } from '../../tools/files/file-hash.ts';

/** Files that are looked at, at most. */
export const FILES_MAX = 200;

/** A file of the working folder that gets an earlier content. */
export interface Restoration {
  readonly path: string;
  /** Hash of its present content; null: there is no such file. */
  readonly from: string | null;
  /** The content to restore; null: the file is removed. */
  readonly text: string | null;
}

export interface Restorations {
  readonly files: readonly Restoration[];
  /** What each file would become, as lines of a difference. */
  readonly shown: readonly string[];
  /** Files that stay as they are, and why. */
  readonly left: string[];
}

/** The content of a file at one point. */
interface Content {
  /** Null: the file did not exist. */
  readonly hash: string | null;
  /** Null: the file did not exist; undefined: its text is unknown. */
  readonly text: string | null | undefined;
}

/**
 * What would take changes of calls back, by path, or with `redo` put them in place again. Of each file, only the newest uninterrupted run of these changes counts; a
 * file whose content is no longer what they left stays as it is.
 */
export async function restorationsOf(
  store: Pick<Store, 'fileChanges'>,
  folder: string,
  changed: ReadonlyMap<string, readonly { readonly agent_id: string; readonly seq: number }[]>,
  { redo = false }: { readonly redo?: boolean } = {},
): Promise<Restorations> {
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
    const run = newestRun(await store.fileChanges(path, CHANGES_MAX), own);
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
  return { files, shown, left };
}

const keyOf = (agent_id: string, seq: number): string => `${agent_id} ${seq}`;

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
