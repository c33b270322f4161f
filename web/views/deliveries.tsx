import type { DocumentOf } from '../../src/documents/shapes/all-documents.ts';
import { duration } from '../data/amounts.ts';
import { useApi, useSending } from '../data/api.ts';
import { useKeys } from '../data/keys.ts';
import { go } from '../data/route.ts';
import { serverNow } from '../data/server-clock.ts';
import { Button } from '../parts/button.tsx';
import { Amount, Table } from '../parts/heads.tsx';
import { Markdown } from '../parts/markdown.tsx';
import { say } from '../parts/notice.tsx';
import type { PageContext } from '../parts/page.ts';
import { Status } from '../parts/status.tsx';
import { Nothing, Trouble } from '../parts/trouble.tsx';
import { When } from '../parts/when.tsx';

const REFRESH_MS = 3_000;
const STATES = ['all', 'pending', 'delivered', 'failed', 'alerts'] as const;

/** Deliveries through channels: their status, and retrying them. */
export function DeliveriesView({ route, writes }: PageContext) {
  const shown = STATES.find((one) => one === route.query.get('status')) ?? 'all';
  const { data, error, reload } = useApi<DocumentOf<'coppice/deliveries/v1'>>(
    `/v1/deliveries?limit=200${shown === 'all' ? '' : shown === 'alerts' ? '&kind=alert' : `&status=${shown}`}`,
    REFRESH_MS,
  );
  const sending = useSending();
  const retry = async (deliveries?: readonly string[]) => {
    const done = await sending.send<{ readonly retried: number }>('POST', '/v1/deliveries/retry', {
      deliveries,
    });
    if (done !== null)
      say(`${done.retried} ${done.retried === 1 ? 'delivery' : 'deliveries'} will be retried`);
    reload();
  };
  const failed = data?.deliveries.filter(({ status }) => status === 'failed').length ?? 0;
  useKeys(
    STATES.map((state, index) => ({
      key: String(index + 1),
      what: state,
      act: () => go(hrefOf(state), { replace: true }),
    })),
  );
  return (
    <section aria-labelledby="deliveries">
      <div class="head">
        <h1 id="deliveries">Deliveries</h1>
        <nav class="tabs" aria-label="Status">
          {STATES.map((state, index) => (
            <a
              key={state}
              href={hrefOf(state)}
              aria-current={state === shown ? 'true' : undefined}
              title={String(index + 1)}
            >
              {state}
            </a>
          ))}
        </nav>
        {writes && failed > 0 && (
          <Button does="Retry all failed" disabled={sending.busy} onClick={() => retry()} />
        )}
      </div>
      {shown === 'alerts' && <AlertRules />}
      <Trouble error={error ?? sending.error} />
      {data === null || data.deliveries.length === 0 ? (
        <Nothing
          data={data}
          error={error}
          text={shown === 'alerts' ? 'No alert was sent.' : 'No deliveries.'}
        >
          <a href="/schedules">A schedule has its results delivered</a>
        </Nothing>
      ) : (
        <Table
          names={[
            'Target',
            'Status',
            'What',
            'From',
            'Tries',
            'Since',
            'Last error',
            ...(writes ? ['Actions'] : []),
          ]}
          numbers={['Tries', 'Since']}
        >
          {data.deliveries.map((one) => (
            <tr key={one.id} data-row tabIndex={-1}>
              <td>
                <code>{one.target}</code>
              </td>
              <td>
                <Status word={one.status} />
                {one.next_at !== null && <span class="dim"> {nextTry(one.next_at)}</span>}
              </td>
              <td>{one.text === null ? one.kind : <Markdown text={one.text} />}</td>
              <td>
                {one.agent_id !== '' && (
                  <a href={`/agents/${one.agent_id}`}>
                    <code>{one.agent_id.slice(0, 8)}</code>
                  </a>
                )}
              </td>
              <Amount is="tries">{one.attempts}</Amount>
              <Amount is="since">
                <When at={one.created_at} since />
              </Amount>
              <td class="dim">{one.error}</td>
              {writes && (
                <td>
                  {one.status !== 'delivered' && (
                    <Button does="Retry" disabled={sending.busy} onClick={() => retry([one.id])} />
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

/** What alerts are sent for, and where that is changed. */
function AlertRules() {
  const { data, error } = useApi<DocumentOf<'coppice/alerts/v1'>>('/v1/alerts');
  return (
    <>
      <Trouble error={error} />
      {data !== null && data.rules.length > 0 && (
        <Table names={['Alert when', 'To']}>
          {data.rules.map(({ to, ...rule }) => (
            <tr key={JSON.stringify([rule, to])}>
              <td>{conditionOf(rule)}</td>
              <td>
                <code>{to.join(', ')}</code>
              </td>
            </tr>
          ))}
        </Table>
      )}
      {data !== null && (
        <p class="dim">
          {data.rules.length === 0 ? 'There is no rule for alerts. ' : ''}
          Rules are changed under <code>alerts</code> of the server's configuration
          {data.file !== null && (
            <>
              , <code>{data.file}</code>
            </>
          )}
          ; it reads them when it starts.
        </p>
      )}
    </>
  );
}

type AlertRule = DocumentOf<'coppice/alerts/v1'>['rules'][number];

function conditionOf({ when, after_minutes, usd }: Omit<AlertRule, 'to'>): string {
  if (when === 'cost') return `a tree has cost $${usd} or more`;
  if (when === 'worker-gone') return 'a worker or server is gone';
  if (when === 'tree-failed') return 'a tree fails';
  return after_minutes === 0
    ? 'a call waits for a person'
    : `a call has waited ${after_minutes} min for a person`;
}

function hrefOf(state: (typeof STATES)[number]): string {
  return state === 'all' ? '/deliveries' : `/deliveries?status=${state}`;
}

function nextTry(at: string): string {
  const ms = Date.parse(at) - serverNow();
  return ms <= 0 ? 'now' : `in ${duration(ms)}`;
}
