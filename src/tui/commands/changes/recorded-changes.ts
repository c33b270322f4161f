import type { FileStamp, ResultContent } from '../../../records/conversation/message.ts';
import { keptIn } from '../../../records/kept-in.ts';
import type { AppContext } from '../../app-context.ts';

/** A file change made by a call, as recorded in the call's result. */
export interface RecordedChange {
  readonly agent_id: string;
  readonly agent_name: string;
  readonly seq: number;
  readonly result: ResultContent & { readonly file: FileStamp };
}

export interface ChangedFiles {
  /** Changes by absolute path; those of one agent are oldest first. */
  readonly files: ReadonlyMap<string, readonly RecordedChange[]>;
  /** Number of successful `bash` commands, which may have changed any file. */
  readonly commands: number;
}

/** Returns the changes by agents of the tree in view, reaped ones included, or only by agent `only`, since a time (milliseconds since the epoch). */
export async function changedFiles(
  { state, store }: AppContext,
  since = 0,
  only: string | null = null,
): Promise<ChangedFiles> {
  const files = new Map<string, RecordedChange[]>();
  let commands = 0;
  const { root_id } = state;
  const agents = root_id === null ? [] : (await store.agents({ root_id })).toReversed();
  for (const { id: agent_id, name: agent_name, forked_from } of agents) {
    if (only !== null && agent_id !== only) continue;
    for (const { kind, content, at, seq } of await store.history(agent_id, forked_from?.seq ?? 0)) {
      if (kind !== 'result' || at < since) continue;
      if (content.name === 'bash' && content.status === 'ok') commands += 1;
      const { file } = content;
      if (file?.before === undefined) continue;
      const change = { agent_id, agent_name, seq, result: { ...content, file } };
      keptIn(files, file.path, () => []).push(change);
    }
  }
  return { files, commands };
}
