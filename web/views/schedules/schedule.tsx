import { useState } from 'preact/hooks';
import type { JobDocument, JobRunDocument } from '../../../src/documents/shapes/document-parts.ts';
import { duration } from '../../data/amounts.ts';
import { useApi, useSending } from '../../data/api.ts';
import { useKeys } from '../../data/keys.ts';
import { go } from '../../data/route.ts';
import { Button } from '../../parts/button.tsx';
import { OrderDialog } from '../../parts/dialog.tsx';
import { Amount, Fact, Table } from '../../parts/heads.tsx';
import { say } from '../../parts/notice.tsx';
import { Output } from '../../parts/output.tsx';
import { Standing, Status } from '../../parts/status.tsx';
import { Nothing, Trouble } from '../../parts/trouble.tsx';
import { clock, scheduleText } from './schedule-text.ts';

const REFRESH_MS = 3_000;
const NEXT = 5;

export interface ScheduleProps {
  readonly job: JobDocument;
  readonly writes: boolean;
  readonly onChanged: () => void;
}

/** One schedule: what it does, and its past runs. */
export function Schedule({ job, writes, onChanged }: ScheduleProps) {
  const path = `/v1/jobs/${job.id}`;
  const runs = useApi<{ readonly runs: readonly JobRunDocument[] }>(`${path}/runs?limit=100`, REFRESH_MS);
  const next = useApi<{ readonly instants: readonly string[] }>(
    `${path}/next?count=${NEXT}`,
    REFRESH_MS,
    Date.parse(job.updated_at),
  );
  const sending = useSending();
  const due = (at: string) => clock(at, job.schedule);
  const [removes, setRemoves] = useState(false);
  const change = async (sent: Promise<unknown>, said: string) => {
    if ((await sent) === null) return;
    say(said);
    onChanged();
    runs.reload();
  };
  const run = () => change(sending.send('POST', `${path}/run`), `${job.name} runs now`);
  const toggle = () =>
    change(
      sending.send('PATCH', path, { enabled: !job.enabled }),
      `${job.name} is ${job.enabled ? 'disabled' : 'enabled'}`,
    );
  const removed = () => {
    say(`${job.name} is removed`);
    onChanged();
    go('/schedules');
  };
  useKeys([
    { key: 'u', what: 'all schedules', act: () => go('/schedules') },
    ...(writes
      ? [
          { key: 'r', what: 'runs it now', act: run },
          { key: 'e', what: 'enables or disables it', act: toggle },
          { key: 'x', what: 'removes it', act: () => setRemoves(true) },
        ]
      : []),
  ]);
  return (
    <section aria-labelledby="schedule">
      <p class="crumbs">
        <a href="/schedules">Schedules</a>
      </p>
      <div class="head">
        <h1 id="schedule">
          {job.name} <Status word={job.enabled ? 'enabled' : 'disabled'} />
        </h1>
        {writes && (
          <div class="buttons">
            <Button does="Run now" class="primary" title="r" disabled={sending.busy} onClick={run} />
            <Button
              does={job.enabled ? 'Disable' : 'Enable'}
              title="e"
              disabled={sending.busy}
              onClick={toggle}
            />
            <Button does="Remove…" class="danger" title="x" onClick={() => setRemoves(true)} />
          </div>
        )}
      </div>
      <Trouble error={sending.error} />
      {removes && (
        <OrderDialog
          title={`Remove ${job.name}?`}
          does="Remove"
          danger
          onClose={() => setRemoves(false)}
          method="DELETE"
          path={path}
          onSent={removed}
        >
          <p>It will not fire again. Its past runs are kept.</p>
        </OrderDialog>
      )}
      <dl class="facts">
        {Object.entries(factsOf(job)).map(
          ([name, text]) =>
            text && (
              <Fact key={name} name={name}>
                {text}
              </Fact>
            ),
        )}
      </dl>
      <h2>Task</h2>
      <Output text={job.task} />
      <h2>Next runs</h2>
      <Trouble error={next.error} />
      {next.data !== null && next.data.instants.length === 0 ? (
        <p class="empty">{job.enabled ? 'None.' : 'It is disabled.'}</p>
      ) : (
        <ol class="next-runs">
          {next.data?.instants.map((at) => (
            <li key={at}>{due(at)}</li>
          ))}
        </ol>
      )}
      <h2>Past runs</h2>
      <Trouble error={runs.error} />
      {runs.data === null || runs.data.runs.length === 0 ? (
        <Nothing data={runs.data} error={runs.error} text="It has not fired yet." />
      ) : (
        <Table names={['Due', 'Status', 'Took', 'Result']} numbers={['Took']}>
          {runs.data.runs.map(({ instant, outcome, manual, missed, run }) => (
            <tr key={`${instant} ${run?.id}`} data-row tabIndex={-1}>
              <td>
                {run === null ? due(instant) : <a href={`/agents/${run.agent_id}`}>{due(instant)}</a>}
                {manual && <span class="badge">by hand</span>}
                {missed > 0 && <span class="badge">{missed} missed</span>}
              </td>
              <td>{run === null ? <Status word={outcome} /> : <Standing of={run} />}</td>
              <Amount is="took">
                {typeof run?.duration_ms === 'number' ? duration(run.duration_ms) : ''}
              </Amount>
              <td class="dim">
                {run === null ? '' : run.outcome_text === 'done' ? (run.result ?? '') : run.outcome_text}
              </td>
            </tr>
          ))}
        </Table>
      )}
    </section>
  );
}

function factsOf(job: JobDocument): Readonly<Record<string, string | null>> {
  return {
    When: scheduleText(job.schedule),
    Next: job.enabled && job.next_at !== null ? clock(job.next_at, job.schedule) : 'never',
    Model: job.model,
    Profile: job.profile,
    Folder: job.cwd,
    Session: job.session,
    'Results go to': job.deliver.join(', '),
    'While one runs': job.overlap,
    'Made by': job.created_by,
  };
}
