import { useState } from 'preact/hooks';
import type { DocumentOf } from '../../../src/documents/shapes/all-documents.ts';
import { duration } from '../../data/amounts.ts';
import { useApi } from '../../data/api.ts';
import { useKeys } from '../../data/keys.ts';
import { serverNow } from '../../data/server-clock.ts';
import { Button } from '../../parts/button.tsx';
import { Amount, Heads } from '../../parts/heads.tsx';
import { Older, useOlder } from '../../parts/older.tsx';
import type { PageContext } from '../../parts/page.ts';
import { Nothing, Trouble } from '../../parts/trouble.tsx';
import { When } from '../../parts/when.tsx';
import { RunStatus } from './run-panel.tsx';
import { StartWorkflow } from './start-workflow.tsx';

type Runs = DocumentOf<'coppice/workflow-runs/v1'>;

const REFRESH_MS = 3_000;
const PAGE = 100;

/** Runs of workflows, newest first, and the saved ones. */
export function WorkflowsView({ writes }: PageContext) {
  const { data, error, reload } = useApi<Runs>(`/v1/workflow-runs?limit=${PAGE}`, REFRESH_MS);
  const saved = useApi<DocumentOf<'coppice/workflows/v1'>>('/v1/workflows');
  const [starts, setStarts] = useState<string | null>(null);
  useKeys(writes ? [{ key: 'n', what: 'runs a workflow', act: () => setStarts('') }] : []);
  const newest = data?.runs ?? [];
  const older = useOlder<Runs, Runs['runs'][number]>(
    newest,
    ({ started_at, id }) => `/v1/workflow-runs?limit=${PAGE}&before=${started_at},${id}`,
    (page) => page.runs,
    PAGE,
  );
  const known = new Set(newest.map(({ id }) => id));
  const runs = [...newest, ...older.rows.filter(({ id }) => !known.has(id))];
  return (
    <section aria-labelledby="workflows">
      <div class="head">
        <h1 id="workflows">Workflows</h1>
        {writes && <Button does="Run a workflow" class="primary" title="n" onClick={() => setStarts('')} />}
      </div>
      {starts !== null && <StartWorkflow name={starts} onClose={() => setStarts(null)} onStarted={reload} />}
      <Trouble error={error} />
      {runs.length === 0 ? (
        <Nothing data={data} error={error} text="No workflow has run yet.">
          {writes && (saved.data?.workflows.length ?? 0) > 0 && (
            <Button does="Run the first one" class="primary" onClick={() => setStarts('')} />
          )}
        </Nothing>
      ) : (
        <table>
          <caption class="hidden">Runs</caption>
          <Heads names={['Run', 'Status', 'Took', 'Started', 'What']} numbers={['Took', 'Started']} />
          <tbody>
            {runs.map((run) => (
              <tr key={run.id}>
                <td>
                  <a href={hrefOf(run)} data-row>
                    {run.name}
                  </a>
                </td>
                <td>
                  <RunStatus of={run} />
                </td>
                <Amount is="took">
                  {duration(
                    (run.ended_at === null ? serverNow() : Date.parse(run.ended_at)) -
                      Date.parse(run.started_at),
                  )}
                </Amount>
                <Amount is="started">
                  <When at={run.started_at} since />
                </Amount>
                <td class="dim">
                  {run.counts.failed > 0 && <span class="status failed">✗ {run.counts.failed} failed </span>}
                  {run.outcome_text === 'done' ? run.description : run.outcome_text}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      <Older of={older} does="Show older runs" />
      <h2>
        Saved <span class="count">{saved.data?.workflows.length ?? ''}</span>
      </h2>
      <Trouble error={saved.error} />
      {saved.data?.workflows.length === 0 && (
        <p class="empty">
          Save a script as .coppice/workflows/NAME.js, in the folder of the server or at home.
        </p>
      )}
      {saved.data !== null && saved.data.workflows.length > 0 && (
        <table>
          <caption class="hidden">Saved workflows</caption>
          <Heads names={['Workflow', 'What', 'File', ...(writes ? ['Actions'] : [])]} numbers={['Actions']} />
          <tbody>
            {saved.data.workflows.map(({ name, description, when_to_use, path, error: fault }) => (
              <tr key={name} data-row tabIndex={-1}>
                <td>{name}</td>
                <td>
                  {description ?? <span class="status failed fault">✗ {fault}</span>}
                  {when_to_use !== null && <span class="dim"> {when_to_use}</span>}
                </td>
                <td class="dim">
                  <code>{path}</code>
                </td>
                {writes && (
                  <td class="number">
                    {fault === null && <Button does="Run…" onClick={() => setStarts(name)} />}
                  </td>
                )}
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}

/** The run in the picture of its tree. */
export function hrefOf({ id, root_id }: { readonly id: string; readonly root_id: string }): string {
  return `/trees/${root_id}${id === root_id ? '' : `?tab=workflow&agent=${id}`}`;
}
