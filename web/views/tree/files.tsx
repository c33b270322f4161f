import { useState } from 'preact/hooks';
import type { DocumentOf } from '../../../src/documents/shapes/all-documents.ts';
import { spellHidden } from '../../../src/render/hidden-characters.ts';
import { type ApiError, request, useApi } from '../../data/api.ts';
import { EXPORTED } from '../../data/exported.ts';
import { Button } from '../../parts/button.tsx';
import { CopyButton } from '../../parts/copy-button.tsx';
import { Heads } from '../../parts/heads.tsx';
import { Nothing, Trouble } from '../../parts/trouble.tsx';
import { BlamedDiff, Counts } from './blamed-diff.tsx';
import { MergeDialog } from './merge-dialog.tsx';

type Files = DocumentOf<'coppice/files/v1'>;
export type ChangedFile = Files['files'][number];

const REFRESH_MS = 3_000;

interface FilesProps {
  readonly root_id: string;
  /** Whether this session may merge. */
  readonly writes: boolean;
}

/** What the agents of a tree changed in files: of the whole tree, or of one of them. */
export function FilesView({ root_id, writes }: FilesProps) {
  const path = `/v1/trees/${root_id}/files`;
  const { data, error } = useApi<Files>(path, EXPORTED === null ? REFRESH_MS : 0);
  const [older, setOlder] = useState<{ files: readonly ChangedFile[]; next: string | null } | null>(null);
  const [trouble, setTrouble] = useState<ApiError | null>(null);
  const [only, setOnly] = useState<string | null>(null);
  const files = [...(data?.files ?? []), ...(older?.files ?? [])];
  const next = older === null ? (data?.next ?? null) : older.next;
  const more = () =>
    request<Files>('GET', `${path}?after=${encodeURIComponent(next ?? '')}`).then(
      (page) => setOlder({ files: [...(older?.files ?? []), ...page.files], next: page.next }),
      setTrouble,
    );
  const agents = new Map<string, string>();
  for (const { changes } of files) for (const { agent_id, agent } of changes) agents.set(agent_id, agent);
  const of = (id: string | null) =>
    files.filter(({ changes }) => id === null || changes.some(({ agent_id }) => agent_id === id));
  return (
    <>
      <Trouble error={error ?? trouble} />
      <Worktrees root_id={root_id} writes={writes} />
      {files.length === 0 ? (
        <Nothing data={data} error={error} text="No agent has changed a file with write or patch." />
      ) : (
        <>
          <fieldset class="chips">
            <legend class="hidden">Changed by</legend>
            {[[null, 'All agents'] as const, ...agents].map(([id, name]) => (
              <button
                key={id}
                type="button"
                class="chip"
                aria-pressed={id === only}
                onClick={() => setOnly(id)}
              >
                {name} <span class="count">{id === null ? data?.total : of(id).length}</span>
              </button>
            ))}
          </fieldset>
          {of(only).map((file) => (
            <FileArticle key={file.path} file={file} only={only} />
          ))}
          {next !== null && (
            <p class="empty">
              <Button does="Show more files" onClick={() => void more()} />
            </p>
          )}
          <p class="dim">
            What commands changed is not recorded: only the calls of write and patch are.
            {only === null ? ' A name at the right wrote the lines from there on.' : ''}
          </p>
        </>
      )}
    </>
  );
}

export function FileArticle({ file, only }: { readonly file: ChangedFile; readonly only: string | null }) {
  const changes = file.changes.filter(({ agent_id }) => only === null || agent_id === only);
  // Where the whole is not known, or one agent is asked for, each change stands for itself.
  const apart = only !== null || file.diff === null;
  return (
    <article class="changed-file" aria-label={file.name}>
      <header>
        <h3>
          <code>{spellHidden(file.name)}</code>
        </h3>
        <Counts diffs={apart ? changes.map(({ diff }) => diff) : [file.diff]} />
      </header>
      {!apart && file.diff !== null && <BlamedDiff text={file.diff} file={file} />}
      <ol class="changes">
        {changes.map((change) => (
          <li key={`${change.agent_id} ${change.seq}`}>
            <div>
              <a href={`/agents/${change.agent_id}?seq=${change.seq}`}>
                {change.agent} · {change.tool} #{change.seq}
              </a>
              <span class="dim">{change.prompt ?? ''}</span>
            </div>
            {apart &&
              (change.diff === null ? (
                <p class="dim">What it changed is in its conversation.</p>
              ) : (
                <BlamedDiff text={change.diff} />
              ))}
          </li>
        ))}
      </ol>
    </article>
  );
}

/** Branches on which agents work, and what merges them. */
function Worktrees({ root_id, writes }: FilesProps) {
  const [merges, setMerges] = useState(false);
  const { data, reload } = useApi<DocumentOf<'coppice/tree/v1'>>(`/v1/trees/${root_id}`);
  const rows = (data?.agents ?? []).filter(({ worktree }) => worktree !== null);
  if (rows.length === 0) return null;
  const close = () => {
    setMerges(false);
    reload();
  };
  const command = `coppice merge ${rows.map(({ id }) => id.slice(0, 8)).join(' ')}`;
  return (
    <section class="wide" aria-label="Worktrees">
      <table>
        <caption class="hidden">Worktrees</caption>
        <Heads names={['Agent', 'Branch', 'Folder']} />
        <tbody>
          {rows.map(({ id, name, worktree }) => (
            <tr key={id}>
              <td>
                <a href={`/agents/${id}`}>{name}</a>
              </td>
              <td>
                <code>{worktree?.branch}</code>
              </td>
              <td class="dim">{worktree?.path}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <p>
        {writes && <Button does="Merge…" onClick={() => setMerges(true)} />}{' '}
        <span class="dim">In a terminal:</span> <code>{command}</code>{' '}
        <CopyButton text={command} what="the command" />
      </p>
      {merges && <MergeDialog root_id={root_id} agents={rows} onClose={close} />}
    </section>
  );
}
