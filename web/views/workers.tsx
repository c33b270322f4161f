import { useState } from 'preact/hooks';
import type { WorkerDocument } from '../../src/documents/shapes/document-parts.ts';
import { useApi, useSending } from '../data/api.ts';
import { FormDialog } from '../parts/dialog.tsx';
import { Table } from '../parts/heads.tsx';
import { say } from '../parts/notice.tsx';
import type { PageContext } from '../parts/page.ts';
import { Status } from '../parts/status.tsx';
import { Nothing, Trouble } from '../parts/trouble.tsx';
import { When } from '../parts/when.tsx';

const REFRESH_MS = 3_000;

/** The processes that lead agents of this ledger. */
export function WorkersView({ writes }: PageContext) {
  const { data, error, reload } = useApi<{ readonly workers: readonly WorkerDocument[] }>(
    '/v1/workers',
    REFRESH_MS,
  );
  const [drained, setDrained] = useState<WorkerDocument | null>(null);
  return (
    <section aria-labelledby="workers">
      <div class="head">
        <h1 id="workers">Workers</h1>
      </div>
      <Trouble error={error} />
      {drained !== null && <Drain worker={drained} onClose={() => setDrained(null)} onDrained={reload} />}
      {data === null || data.workers.length === 0 ? (
        <Nothing data={data} error={error} text="No process leads agents.">
          <a href="/trees">Start a tree</a>
        </Nothing>
      ) : (
        <Table
          names={['Worker', 'State', 'Role', 'Agents', 'Labels', 'Since', ...(writes ? ['Actions'] : [])]}
          numbers={['Agents', 'Since']}
        >
          {data.workers.map((worker) => (
            <tr key={worker.id} data-row tabIndex={-1}>
              <td>
                {worker.host} <span class="dim">process {worker.pid}</span>
              </td>
              <td>
                <Status word={worker.state} />
              </td>
              <td>{worker.role}</td>
              <td class="number" data-is="agents">
                {worker.agents}
              </td>
              <td class="dim">{worker.labels.join(', ')}</td>
              <td class="number" data-is="since">
                <When at={worker.started_at} since />
              </td>
              {writes && (
                <td>
                  {worker.role === 'worker' && worker.state === 'works' && (
                    <button type="button" onClick={() => setDrained(worker)}>
                      Drain…
                    </button>
                  )}
                </td>
              )}
            </tr>
          ))}
        </Table>
      )}
    </section>
  );
}

interface DrainProps {
  readonly worker: WorkerDocument;
  readonly onClose: () => void;
  readonly onDrained: () => void;
}

function Drain({ worker: { id, host, pid, agents }, onClose, onDrained }: DrainProps) {
  const sending = useSending();
  const drain = async () => {
    if ((await sending.send('POST', `/v1/workers/${id}/drain`)) === null) return;
    say(`Process ${pid} on ${host} finishes its turns and stops`);
    onClose();
    onDrained();
  };
  return (
    <FormDialog
      title={`Drain process ${pid} on ${host}?`}
      does="Drain"
      danger
      onClose={onClose}
      sending={sending}
      onSubmit={drain}
    >
      <p>
        It takes no more trees, finishes the turns of {agents === 1 ? '1 agent' : `${agents} agents`}, and
        stops.
      </p>
    </FormDialog>
  );
}
