import { useState } from 'preact/hooks';
import type { JobDocument, JobRunDocument } from '../../../src/documents/shapes/document-parts.ts';
import { nameOf, shownWord } from '../../../src/records/run/outcome.ts';
import { useApi } from '../../data/api.ts';
import { useKeys } from '../../data/keys.ts';
import { Button } from '../../parts/button.tsx';
import { Table } from '../../parts/heads.tsx';
import type { PageContext } from '../../parts/page.ts';
import { Status, StatusSign } from '../../parts/status.tsx';
import { Nothing, Trouble } from '../../parts/trouble.tsx';
import { AddSchedule } from './add-schedule.tsx';
import { Schedule } from './schedule.tsx';
import { clock, scheduleText } from './schedule-text.ts';

const REFRESH_MS = 3_000;
/** Runs whose outcomes a row shows, and how often they are asked for at most. */
const LAST = 5;
const LAST_MS = 5_000;

/** All schedules, or the one that the path names. */
export function SchedulesView(context: PageContext) {
  const { route, writes } = context;
  const { data, error, reload } = useApi<{ readonly jobs: readonly JobDocument[] }>('/v1/jobs', REFRESH_MS);
  const [adds, setAdds] = useState(false);
  useKeys(writes ? [{ key: 'n', what: 'adds a schedule', act: () => setAdds(true) }] : []);
  const [, id] = route.path;
  const job = data?.jobs.find((one) => one.id === id);
  if (job !== undefined) return <Schedule key={job.id} job={job} writes={writes} onChanged={reload} />;
  return (
    <section aria-labelledby="schedules">
      <div class="head">
        <h1 id="schedules">Schedules</h1>
        {writes && <Button does="Add a schedule" class="primary" title="n" onClick={() => setAdds(true)} />}
      </div>
      <Trouble error={error} />
      {data !== null && id !== undefined && <p class="empty">There is no such schedule any more.</p>}
      {adds && <AddSchedule onClose={() => setAdds(false)} onAdded={reload} />}
      {data === null || data.jobs.length === 0 ? (
        <Nothing data={data} error={error} text="Nothing is scheduled.">
          {writes && <Button does="Add the first one" class="primary" onClick={() => setAdds(true)} />}
        </Nothing>
      ) : (
        <Table names={['Schedule', 'Status', 'When', 'Next', 'Last outcomes', 'Task', 'Results go to']}>
          {data.jobs.map((one) => (
            <tr key={one.id}>
              <td>
                <a href={`/schedules/${one.id}`} data-row>
                  {one.name}
                </a>
              </td>
              <td>
                <Status word={one.enabled ? 'enabled' : 'disabled'} />
              </td>
              <td>
                <code>{scheduleText(one.schedule)}</code>
              </td>
              <td data-is="next">
                {one.enabled && one.next_at !== null ? (
                  clock(one.next_at, one.schedule)
                ) : (
                  <span class="dim">–</span>
                )}
              </td>
              <td data-is="last">
                <LastOutcomes {...one} />
              </td>
              <td class="dim">{one.task.split('\n')[0]}</td>
              <td class="dim">{one.deliver.join(', ')}</td>
            </tr>
          ))}
        </Table>
      )}
    </section>
  );
}

/** What its newest runs came to, the newest first; each opens its agent. */
function LastOutcomes({ id, schedule }: Pick<JobDocument, 'id' | 'schedule'>) {
  const path = `/v1/jobs/${id}/runs?limit=${LAST}`;
  const { data } = useApi<{ readonly runs: readonly JobRunDocument[] }>(path, LAST_MS);
  if (data?.runs.length === 0) return <span class="dim">not yet fired</span>;
  return (
    <>
      {data?.runs.map(({ instant, outcome, run }) => {
        if (run === null) return <StatusSign key={instant} word={outcome} />;
        const word = shownWord(run.status, run.outcome);
        const said = `${nameOf(word)}, ${clock(instant, schedule)}`;
        return (
          <a key={instant} class="outcome" href={`/agents/${run.agent_id}`} aria-label={said} title={said}>
            <StatusSign word={word} />
          </a>
        );
      })}
    </>
  );
}
