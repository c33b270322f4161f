import type { MetricTerms } from './exposition.ts';

const gauge = (help: string): MetricTerms => ({ type: 'gauge', help });
const counter = (help: string): MetricTerms => ({ type: 'counter', help });

/** Every metric of `GET /metrics`; docs/operations.md has them as a table. Counters begin with the server. */
export const METRICS = {
  coppice_agents: gauge('Agents that a process leads or that need a leader, by status'),
  coppice_trees: gauge('Trees of these agents, and trees with an open approval, by need'),
  coppice_approvals_waiting: gauge('Calls that wait for a person'),
  coppice_approvals_oldest_seconds: gauge('Age of the oldest waiting approval; 0 if there is none'),
  coppice_runs: gauge('Isolated runs that are queued or running, by source and status'),
  coppice_deliveries: gauge('Deliveries that are pending or have failed, by status'),
  coppice_workers: gauge('Processes that lead agents of this ledger, by role'),
  coppice_schedules: gauge('Scheduled jobs that are enabled'),
  coppice_schedules_due: gauge('Enabled scheduled jobs that are due and have not fired yet'),
  coppice_model_requests_total: counter('Model requests of all processes of this ledger, by model'),
  coppice_model_tokens_total: counter(
    'Tokens of model requests, by model and kind; input includes cached, output includes reasoning',
  ),
  coppice_model_cost_usd_total: counter(
    'Cost of model requests in US dollars where a price is known, by model',
  ),
  coppice_tool_calls_total: counter('Tool calls of agents that this server leads, by name and status'),
  coppice_http_requests_total: counter('HTTP requests to this server, by route, method and status'),
  coppice_stream_clients: gauge('Clients that follow the events of this server'),
  coppice_ledger_unreachable_total: counter('How often this server lost its ledger'),
  coppice_event_loop_delay_seconds: gauge(
    'Delay of the event loop of this server since the last scrape, by quantile',
  ),
  process_resident_memory_bytes: gauge('Memory of this server'),
  process_cpu_seconds_total: counter('Processor time of this server'),
  process_start_time_seconds: gauge('When this server started, seconds since the epoch'),
} as const satisfies Readonly<Record<string, MetricTerms>>;

export type MetricName = keyof typeof METRICS;
