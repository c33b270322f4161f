import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { DocumentOf } from '../../../src/documents/shapes/all-documents.ts';
import { count, dollars, duration } from '../../data/amounts.ts';
import { useApi, useSending } from '../../data/api.ts';
import { go } from '../../data/route.ts';
import { plainWords } from '../../data/texts.ts';
import { Button } from '../../parts/button.tsx';
import { Field, type Fields, FormDialog, KnownField } from '../../parts/dialog.tsx';
import { Amount, Table } from '../../parts/heads.tsx';
import { MergeDialog } from '../tree/merge-dialog.tsx';

/** Continues a tree from a moment in several ways at once, and opens the run that compares them. */
export function WhatIf({ root_id, onClose }: { readonly root_id: string; readonly onClose: () => void }) {
  const sending = useSending();
  const begin = async (field: Fields) => {
    const listOf = (name: string) => field(name)?.split(/[\s,]+/);
    const [times, usd, prompt] = [field('times'), field('usd'), field('prompt')];
    const run = await sending.send<{ readonly id: string }>('POST', `/v1/trees/${root_id}/what-if`, {
      at: field('at') ?? '',
      models: listOf('models'),
      profiles: listOf('profiles'),
      judge: field('judge'),
      check: field('check') !== undefined,
      here: field('here') !== undefined,
      ...(prompt === undefined ? {} : { prompts: [prompt] }),
      ...(times === undefined ? {} : { times: Number(times) }),
      ...(usd === undefined ? {} : { limits: { cost_usd: Number(usd) } }),
    });
    if (run === null) return;
    onClose();
    go(`/trees/${run.id}`);
  };
  return (
    <FormDialog title="What if…" does="Continue" onClose={onClose} sending={sending} onSubmit={begin}>
      <p class="dim">
        New trees go on from one moment, each in a worktree of its own. This one stays as it is.
      </p>
      <Field
        name="at"
        label="From"
        value="1"
        hint="12, NAME#12: when this message was written; before 12; 10 minutes (ago)"
        required
        first
      />
      <KnownField
        name="models"
        label="Models"
        hint="provider/model, with commas between them; empty: as it was"
        many
      />
      <Field name="prompt" label="Another text" lines={2} hint="In place of the message, or after it" />
      <KnownField name="profiles" label="Profiles" hint="With commas between them; empty: as it was" many />
      <Field name="times" label="Times" hint="How often each of them is made" value="1" number />
      <Field
        name="judge"
        label="Judge"
        hint="What a model is asked that names the best; empty: it is the cheapest"
      />
      <Field name="usd" label="Budget in US dollars" hint="Of all together; empty: the usual limit" number />
      <label class="choice">
        <input type="checkbox" name="check" /> The test of the server (<code>merge.test</code>) must succeed
        in each
      </label>
      <label class="choice">
        <input type="checkbox" name="here" /> All work in the folder of the tree, without worktrees
      </label>
    </FormDialog>
  );
}

type Results = DocumentOf<'coppice/what-if/v1'>;

interface ResultsProps {
  readonly id: string;
  readonly writes: boolean;
  /** Shown if the run only has the name of a what-if. */
  readonly children: ComponentChildren;
}

/** The results of a what-if side by side; the best, or any other, can be taken over. */
export function WhatIfResults({ id, writes, children }: ResultsProps) {
  const { data, error } = useApi<Results>(`/v1/workflow-runs/${id}/what-if`);
  const [taken, setTaken] = useState<string | null>(null);
  if (data === null) return <>{error !== null && children}</>;
  const { of, at, best, why, cells } = data;
  return (
    <section class="trees results" aria-labelledby="results">
      <h2 id="results">Results</h2>
      {of !== null && (
        <p>
          <a href={`/trees/${of}`}>The tree that goes on</a> from <code>{at}</code>
        </p>
      )}
      {best !== null && (
        <p>
          Best: <strong>{best}</strong>
          {why !== null && `, because ${why}`}
        </p>
      )}
      <Table
        caption="Results"
        names={['Continuation', 'Outcome', 'Check', 'Tokens', 'Cost', 'Time', 'Files', 'Answer', 'Actions']}
        numbers={['Tokens', 'Cost', 'Time', 'Files']}
      >
        {cells.map((cell) => (
          <tr key={cell.name} aria-current={cell.entrant === best ? 'true' : undefined}>
            <td>{cell.tree === null ? cell.name : <a href={`/trees/${cell.tree}`}>{cell.name}</a>}</td>
            <td>{cell.outcome_text}</td>
            <td>
              {[cell.check, cell.schema_fault].find((one) => one !== null && one !== 'ok') ??
                cell.check ??
                ''}
            </td>
            <Amount is="tokens">{count(cell.tokens)}</Amount>
            <Amount is="cost">{dollars(cell.cost_usd)}</Amount>
            <Amount is="time">{duration(cell.seconds * 1_000)}</Amount>
            <td class="number" data-is="files" title={cell.files.join('\n')}>
              {cell.files.length}
            </td>
            <td class="task">
              <p>{plainWords(cell.answer)}</p>
            </td>
            <td class="number">
              {cell.tree !== null && of !== null && <a href={`/compare?a=${of}&b=${cell.tree}`}>Compare</a>}{' '}
              {writes && cell.branch !== null && (
                <Button does="Take over…" onClick={() => setTaken(cell.tree)} />
              )}
            </td>
          </tr>
        ))}
      </Table>
      {taken !== null && <TakeOver tree={taken} onClose={() => setTaken(null)} />}
    </section>
  );
}

/** Merges the branch of a continuation into the folder of the tree that it came from. */
function TakeOver({ tree, onClose }: { readonly tree: string; readonly onClose: () => void }) {
  const { data } = useApi<DocumentOf<'coppice/tree/v1'>>(`/v1/trees/${tree}`);
  const agents = data?.agents.filter(({ id }) => id === tree);
  return agents === undefined ? null : <MergeDialog root_id={tree} agents={agents} onClose={onClose} />;
}
