import { isAbsolute, relative } from 'node:path';
import { setImmediate as soon } from 'node:timers/promises';
import { changeJson, promptsOf } from '../../documents/blame-json.ts';
import { CHANGES_MAX, type FileVersion, fileVersions, ownersOf } from '../../documents/file-versions.ts';
import type { DocumentOf } from '../../documents/shapes/all-documents.ts';
import type { FileChange } from '../../store/read-records.ts';
import type { Store } from '../../store/store.ts';
import { difference } from '../../tools/files/difference.ts';
import { oneRoot, type ReadSources } from '../find-agent.ts';

type ChangedFile = DocumentOf<'coppice/files/v1'>['files'][number];

export interface FilesQuery {
  readonly after?: string | undefined;
  readonly limit: number;
}

/** What the agents of a tree changed with `write` and `patch`, by file, in the order of their paths. */
export async function filesDocument(
  { store }: ReadSources,
  text: string,
  { after = '', limit }: FilesQuery,
): Promise<Omit<DocumentOf<'coppice/files/v1'>, 'schema'>> {
  const root = await oneRoot(store, text);
  const changed = await store.treeChanges(root.id, CHANGES_MAX);
  const folders = new Map(
    (await store.agents({ root_id: root.id })).map(({ id, config }) => [id, config.cwd]),
  );
  const paths = [...new Set(changed.map(({ result }) => result.file.path))].sort();
  const left = paths.filter((path) => path > after);
  const files: ChangedFile[] = [];
  for (const path of left.slice(0, limit)) {
    files.push(await changedFile(store, path, root.id, folders));
    await soon();
  }
  return {
    root_id: root.id,
    total: paths.length,
    files,
    next: left.length > limit ? (left[limit - 1] ?? null) : null,
  };
}

async function changedFile(
  store: Store,
  path: string,
  root_id: string,
  folders: ReadonlyMap<string, string>,
): Promise<ChangedFile> {
  const all = await store.fileChanges(path, CHANGES_MAX);
  const own = [...fileVersions(all)].filter(({ change }) => change.root_id === root_id);
  const prompts = await promptsOf(
    store,
    own.map(({ change }) => change),
  );
  const folder = folders.get(own[0]?.change.agent_id ?? '') ?? '/';
  const inside = relative(folder, path);
  const name = inside.startsWith('..') || isAbsolute(inside) ? path : inside;
  const [first, last] = [own[0], own.at(-1)];
  const in_a_row = own.every(
    ({ change }, at) => at === 0 || change.result.file.before === own[at - 1]?.change.result.file.hash,
  );
  const whole = in_a_row && first !== undefined && last !== undefined ? diffOf(name, first, last) : null;
  return {
    path,
    name,
    diff: whole,
    changes: own.map((version) => ({
      ...changeJson(version.change, prompts.get(version.change)),
      diff: own.length === 1 ? whole : diffOf(name, version, version),
    })),
    blame: whole === null || last?.after == null ? [] : blameOf(own, all, last.after),
  };
}

function diffOf(name: string, { before }: FileVersion, { after }: FileVersion): string | null {
  return before === null || after === null ? null : difference(name, before, after);
}

/** Which of these changes wrote the lines of the last text. */
function blameOf(
  own: readonly FileVersion[],
  all: readonly FileChange[],
  text: string,
): ChangedFile['blame'] {
  const changes = own.map(({ change }) => change);
  const until = Math.max(...changes.map(({ at }) => at));
  const { lines } = ownersOf(
    all.filter(({ at }) => at <= until),
    text,
  );
  const blame: { from: number; to: number; change: number }[] = [];
  for (const [at, { owner }] of lines.entries()) {
    const change =
      typeof owner === 'string'
        ? -1
        : changes.findIndex(({ agent_id, seq }) => agent_id === owner.agent_id && seq === owner.seq);
    const before = blame.at(-1);
    if (change < 0) continue;
    if (before?.change === change && before.to === at) before.to = at + 1;
    else blame.push({ from: at + 1, to: at + 1, change });
  }
  return blame;
}
