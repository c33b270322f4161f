import { useState } from 'preact/hooks';
import { mergeLine } from '../../../src/documents/merge-line.ts';
import type { DocumentOf } from '../../../src/documents/shapes/all-documents.ts';
import { usePlan, useSending } from '../../data/api.ts';
import { type Fields, FormDialog, SayingDialog } from '../../parts/dialog.tsx';

type Merged = DocumentOf<'coppice/merge/v1'>;
type Agent = DocumentOf<'coppice/tree/v1'>['agents'][number];

interface MergeProps {
  readonly root_id: string;
  /** Agents with worktrees. */
  readonly agents: readonly Agent[];
  readonly onClose: () => void;
}

/** Merges branches of agents into the folder of their tree, after it has said what goes into what. */
export function MergeDialog({ root_id, agents, onClose }: MergeProps) {
  const sending = useSending();
  const [done, setDone] = useState<Merged | null>(null);
  const path = `/v1/trees/${root_id}/merge`;
  const ready = agents.filter(({ status }) => status === 'idle' || status === 'dead');
  const plan = usePlan<Merged>(path, { agents: (ready.length === 0 ? agents : ready).map(({ id }) => id) });
  const merge = async (field: Fields) =>
    setDone(
      await sending.send<Merged>('POST', path, {
        agents: ready.flatMap(({ id }) => (field(id) === undefined ? [] : [id])),
      }),
    );
  if (done !== null)
    return (
      <SayingDialog title={`Merged into ${done.branch}`} onClose={onClose}>
        <ul>
          {done.merges.map((row) => (
            <li key={row.agent_id}>{mergeLine(row)}</li>
          ))}
        </ul>
      </SayingDialog>
    );
  const { branch, folder, test } = plan.data ?? {};
  return (
    <FormDialog
      title={branch === undefined ? 'Merge branches' : `Merge into ${branch}?`}
      does="Merge"
      danger
      onClose={onClose}
      sending={{ busy: sending.busy || plan.data === null, error: sending.error ?? plan.error }}
      onSubmit={merge}
    >
      {agents.map(({ id, name, worktree, status }) => (
        <label key={id} class="choice">
          <input
            type="checkbox"
            name={id}
            defaultChecked={ready.some((one) => one.id === id)}
            disabled={!ready.some((one) => one.id === id)}
          />{' '}
          {name} <code>{worktree?.branch}</code>
          {!ready.some((one) => one.id === id) && <span class="dim"> {status}: merged once it rests</span>}
        </label>
      ))}
      {plan.data !== null && (
        <p>
          They are merged one after the other into <code>{branch}</code> of <code>{folder}</code>.{' '}
          {test === null ? (
            'No test is run: the configuration of the server has none (merge.test).'
          ) : (
            <>
              After each, <code>{test}</code> is run there; where it fails, the merge is undone and its author
              told.
            </>
          )}
        </p>
      )}
      <p role="status">
        {sending.busy ? 'Merging… If you leave this page, the merge that is tested is undone.' : ''}
      </p>
    </FormDialog>
  );
}
