import { useState } from 'preact/hooks';
import type { DocumentOf } from '../../src/documents/shapes/all-documents.ts';
import { useApi } from '../data/api.ts';
import { Button } from '../parts/button.tsx';
import { OrderDialog } from '../parts/dialog.tsx';
import { Amount, Table } from '../parts/heads.tsx';
import { say } from '../parts/notice.tsx';
import type { PageContext } from '../parts/page.ts';
import { Status } from '../parts/status.tsx';
import { Nothing, Trouble } from '../parts/trouble.tsx';
import { When } from '../parts/when.tsx';

type Workers = DocumentOf<'coppice/workers/v1'>;
type Worker = Workers['workers'][number];

const REFRESH_MS = 3_000;

/** The processes that lead agents of this ledger. */
export function WorkersView({ writes }: PageContext) {
  const { data, error, reload } = useApi<Workers>('/v1/workers', REFRESH_MS);
  const [drained, setDrained] = useState<Worker | null>(null);
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
              <Amount is="agents">{worker.agents}</Amount>
              <td class="dim">{worker.labels.join(', ')}</td>
              <Amount is="since">
                <When at={worker.started_at} since />
              </Amount>
              {writes && (
                <td>
                  {worker.role === 'worker' && worker.state === 'works' && (
                    <Button does="Drain…" onClick={() => setDrained(worker)} />
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
  readonly worker: Worker;
  readonly onClose: () => void;
  readonly onDrained: () => void;
}

function Drain({ worker: { id, host, pid, agents }, onClose, onDrained }: DrainProps) {
  const drained = () => {
    say(`Process ${pid} on ${host} finishes its turns and stops`);
    onDrained();
  };
  return (
    <OrderDialog
      title={`Drain process ${pid} on ${host}?`}
      does="Drain"
      danger
      onClose={onClose}
      path={`/v1/workers/${id}/drain`}
      onSent={drained}
    >
      <p>
        It takes no more trees, finishes the turns of {agents === 1 ? '1 agent' : `${agents} agents`}, and
        stops.
      </p>
    </OrderDialog>
  );
}
