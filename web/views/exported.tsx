import type { DocumentOf } from '../../src/documents/shapes/all-documents.ts';
import { count, dollars } from '../data/amounts.ts';
import { useApi } from '../data/api.ts';
import { EXPORTED } from '../data/exported.ts';
import { Heads } from '../parts/heads.tsx';
import type { PageContext } from '../parts/page.ts';
import { Status } from '../parts/status.tsx';
import { When } from '../parts/when.tsx';
import { RunHead, RunPanel, type WorkflowRun } from './workflows/run-panel.tsx';

const NUMBERS = ['Calls', 'In', 'Cached', 'Out', 'Cost'];
const nothing = () => undefined;

/** First page of an exported tree: its agents with their usage, and their mail; of a workflow run, first what it did by phase. */
export function ExportedView(context: PageContext) {
  const path = `/v1/trees/${EXPORTED?.root_id}`;
  const agents = useApi<DocumentOf<'coppice/tree/v1'>>(path).data?.agents ?? [];
  const mail = useApi<DocumentOf<'coppice/tree-mail/v1'>>(`${path}/mail`).data?.mail ?? [];
  const at = `/v1/workflow-runs/${EXPORTED?.root_id}`;
  const run = useApi<WorkflowRun>(EXPORTED?.documents[at] === undefined ? null : at).data;
  const names = new Map(agents.map(({ id, name }) => [id, name]));
  return (
    <section aria-labelledby="tree">
      <h1 id="tree">{EXPORTED?.title}</h1>
      <p class="hint">
        As it was on {EXPORTED?.exported_at}. <a href={`/trees/${EXPORTED?.root_id}`}>Timeline</a>
      </p>
      {run !== null && (
        <>
          <RunHead run={run} onDone={nothing} writes={false} />
          <RunPanel run={run} context={context} onDone={nothing} />
          <h2>Agents</h2>
        </>
      )}
      <table>
        <Heads names={['Agent', 'Status', 'Model', ...NUMBERS, 'Last reply']} numbers={NUMBERS} />
        <tbody>
          {agents.map(({ id, name, depth, status, model, tool_calls, tokens, cost_usd, ...agent }) => (
            <tr key={id}>
              <td>
                {'› '.repeat(depth)}
                <a href={`/agents/${id}`}>{name}</a>
              </td>
              <td>
                <Status word={status} />
              </td>
              <td>{model}</td>
              <td class="number">{tool_calls}</td>
              <td class="number">{count(tokens.input)}</td>
              <td class="number">{count(tokens.cached)}</td>
              <td class="number">{count(tokens.output)}</td>
              <td class="number">{dollars(cost_usd)}</td>
              <td class="dim">{agent.error?.message ?? agent.last_reply?.slice(0, 200) ?? ''}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {mail.length > 0 && (
        <>
          <h2>
            Mail <span class="count">{mail.length}</span>
          </h2>
          <table>
            <Heads names={['Sent', 'From', 'To', 'Kind', 'Text']} />
            <tbody>
              {mail.map(({ id, sent_at, from_name, to_id, kind, body }) => (
                <tr key={id}>
                  <td>
                    <When at={sent_at} />
                  </td>
                  <td>{from_name}</td>
                  <td>
                    <a href={`/agents/${to_id}`}>{names.get(to_id) ?? to_id.slice(0, 8)}</a>
                  </td>
                  <td>{kind}</td>
                  <td>{body}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </>
      )}
    </section>
  );
}
