import type { DocumentOf } from '../../../src/documents/shapes/all-documents.ts';
import { useApi } from '../../data/api.ts';
import { Table } from '../../parts/heads.tsx';
import { Status } from '../../parts/status.tsx';
import { Nothing, Trouble } from '../../parts/trouble.tsx';

const REFRESH_MS = 2_000;

/** The task list that the agents of a tree share. */
export function TasksTable({ root_id }: { readonly root_id: string }) {
  const { data, error } = useApi<DocumentOf<'coppice/tasks/v1'>>(`/v1/trees/${root_id}/tasks`, REFRESH_MS);
  const tasks = data?.tasks ?? [];
  return (
    <>
      <Trouble error={error} />
      {tasks.length === 0 ? (
        <Nothing data={data} error={error} text="No tasks: agents with the toolset tasks add them." />
      ) : (
        <Table caption="Tasks" names={['Task', 'State', 'Agent', 'What', 'Result']} numbers={['Task']}>
          {tasks.map(({ number, state, agent_id, agent_name, title, depends_on, result }) => (
            <tr key={number} data-row tabIndex={-1}>
              <td class="number">{number}</td>
              <td>
                <Status word={state} />
              </td>
              <td>{agent_id !== null && <a href={`/agents/${agent_id}`}>{agent_name}</a>}</td>
              <td>
                {title} {depends_on.length > 0 && <span class="dim">after {depends_on.join(', ')}</span>}
              </td>
              <td>{result}</td>
            </tr>
          ))}
        </Table>
      )}
    </>
  );
}
