import type { UserContent } from '../records/conversation/message.ts';
import type { FileChange } from '../store/read-records.ts';
import type { Store } from '../store/store.ts';
import { CHANGES_MAX, ownersOf } from './file-versions.ts';
import { isoTime } from './iso-time.ts';
import { messagesAfter } from './messages-after.ts';
import type { DocumentOf } from './shapes/all-documents.ts';

/** Returns who wrote the lines of a file, or only its line `line`, which counts from 1. `present`: the current text of the file. */
export async function blameDocument(
  store: Store,
  path: string,
  present: string,
  line?: number,
): Promise<DocumentOf<'coppice/blame/v1'>> {
  const { lines, whole } = ownersOf(await store.fileChanges(path, CHANGES_MAX), present);
  const asked = lines
    .map((one, at) => ({ ...one, line: at + 1 }))
    .filter((one) => line === undefined || one.line === line);
  const changes = [...new Set(asked.flatMap(({ owner }) => (typeof owner === 'string' ? [] : [owner])))];
  const prompts = await promptsOf(store, changes);
  return {
    schema: 'coppice/blame/v1',
    path,
    whole,
    changes: changes.map((change) => changeJson(change, prompts.get(change))),
    lines: asked.map(({ line: number, text, owner }) => ({
      line: number,
      text,
      source: typeof owner === 'string' ? owner : 'agent',
      change: typeof owner === 'string' ? null : changes.indexOf(owner),
    })),
  };
}

/** A call that changed a file, with what its agent had been told to do. */
export function changeJson(
  { agent_id, agent_name, root_id, seq, at, result }: FileChange,
  prompt: string | undefined,
): DocumentOf<'coppice/blame/v1'>['changes'][number] {
  return {
    agent_id,
    agent: agent_name,
    root_id,
    seq,
    call_id: result.call_id,
    tool: result.name,
    at: isoTime(at),
    prompt: prompt ?? null,
  };
}

/** By change, the first line of what its agent had been told to do. */
export async function promptsOf(
  store: Store,
  changes: readonly FileChange[],
): Promise<ReadonlyMap<FileChange, string>> {
  const prompts = new Map<FileChange, string>();
  for (const agent_id of new Set(changes.map((change) => change.agent_id))) {
    const own = changes.filter((change) => change.agent_id === agent_id).sort((a, b) => a.seq - b.seq);
    const agent = await store.agent(agent_id);
    let prompt: string | null = null;
    for await (const message of messagesAfter(store, agent_id, agent?.forked_from?.seq ?? 0)) {
      if (message.kind === 'user') prompt = promptIn(message.content) ?? prompt;
      const change = own[0]?.seq === message.seq ? own.shift() : undefined;
      if (change !== undefined && prompt !== null) prompts.set(change, prompt);
      if (own.length === 0) break;
    }
  }
  return prompts;
}

function promptIn({ origin, text, facts }: UserContent): string | null {
  if (origin === 'mail' || origin === 'system') return null;
  const task = origin === 'identity' ? text.slice(facts?.fork?.task ?? text.length) : text;
  return task.split('\n').find((one) => one.trim() !== '') ?? null;
}
