import { CoppiceError } from '../../records/coppice-error.ts';
import { noSuchName } from '../../render/nearest-name.ts';
import { type ClientEvent, clientEvents, type EventsOptions } from './client-events.ts';
import { type ClientOptions, sendRequest } from './client-request.ts';
import type { Call, CallOptions, Method } from './client-types.ts';

/** The methods of the client, one for each route. What a route takes and answers with follows from the table of routes. */
export const CALLS = {
  trees: { route: 'GET /v1/trees' },
  startTree: { route: 'POST /v1/trees', creates: true },
  tree: { route: 'GET /v1/trees/:tree' },
  tasks: { route: 'GET /v1/trees/:tree/tasks' },
  files: { route: 'GET /v1/trees/:tree/files' },
  timeline: { route: 'GET /v1/trees/:tree/timeline' },
  treeMail: { route: 'GET /v1/trees/:tree/mail' },
  resumeTree: { route: 'POST /v1/trees/:tree/resume' },
  rewindTree: { route: 'POST /v1/trees/:tree/rewind', creates: true },
  whatIf: { route: 'POST /v1/trees/:tree/what-if', creates: true },
  mergeBranches: { route: 'POST /v1/trees/:tree/merge' },
  agents: { route: 'GET /v1/agents' },
  agent: { route: 'GET /v1/agents/:agent' },
  messages: { route: 'GET /v1/agents/:agent/messages' },
  diff: { route: 'GET /v1/agents/:agent/diff' },
  why: { route: 'GET /v1/agents/:agent/why' },
  mail: { route: 'GET /v1/agents/:agent/mail' },
  requests: { route: 'GET /v1/agents/:agent/requests' },
  prompt: { route: 'GET /v1/agents/:agent/prompt' },
  send: { route: 'POST /v1/agents/:agent/send', creates: true },
  fork: { route: 'POST /v1/agents/:agent/fork', creates: true },
  kill: { route: 'POST /v1/agents/:agent/kill' },
  interrupt: { route: 'POST /v1/agents/:agent/interrupt' },
  retry: { route: 'POST /v1/agents/:agent/retry' },
  compact: { route: 'POST /v1/agents/:agent/compact' },
  budget: { route: 'GET /v1/agents/:agent/budget' },
  changeBudget: { route: 'POST /v1/agents/:agent/budget' },
  capture: { route: 'POST /v1/agents/:agent/capture' },
  wait: { route: 'POST /v1/wait' },
  approvals: { route: 'GET /v1/approvals' },
  allow: { route: 'POST /v1/approvals/:approval/allow' },
  deny: { route: 'POST /v1/approvals/:approval/deny' },
  rules: { route: 'GET /v1/rules' },
  removeRule: { route: 'DELETE /v1/rules/:rule' },
  runs: { route: 'GET /v1/runs' },
  run: { route: 'GET /v1/runs/:run' },
  cancelRun: { route: 'POST /v1/runs/:run/cancel' },
  deliveries: { route: 'GET /v1/deliveries' },
  retryDeliveries: { route: 'POST /v1/deliveries/retry' },
  alerts: { route: 'GET /v1/alerts' },
  workers: { route: 'GET /v1/workers' },
  drainWorker: { route: 'POST /v1/workers/:worker/drain' },
  jobs: { route: 'GET /v1/jobs' },
  addJob: { route: 'POST /v1/jobs', creates: true },
  job: { route: 'GET /v1/jobs/:job' },
  updateJob: { route: 'PATCH /v1/jobs/:job' },
  removeJob: { route: 'DELETE /v1/jobs/:job' },
  runJob: { route: 'POST /v1/jobs/:job/run' },
  jobNext: { route: 'GET /v1/jobs/:job/next' },
  jobRuns: { route: 'GET /v1/jobs/:job/runs' },
  workflows: { route: 'GET /v1/workflows' },
  checkWorkflow: { route: 'POST /v1/workflows/check' },
  workflowRuns: { route: 'GET /v1/workflow-runs' },
  startWorkflow: { route: 'POST /v1/workflow-runs', creates: true },
  workflowRun: { route: 'GET /v1/workflow-runs/:run' },
  workflowScript: { route: 'GET /v1/workflow-runs/:run/script' },
  whatIfResults: { route: 'GET /v1/workflow-runs/:run/what-if' },
  pauseWorkflow: { route: 'POST /v1/workflow-runs/:run/pause' },
  stopWorkflow: { route: 'POST /v1/workflow-runs/:run/stop' },
  resumeWorkflow: { route: 'POST /v1/workflow-runs/:run/resume' },
  sendToWorkflow: { route: 'POST /v1/workflow-runs/:run/send' },
  saveWorkflow: { route: 'POST /v1/workflow-runs/:run/save' },
  skipAgent: { route: 'POST /v1/agents/:agent/skip' },
  retryWorkflowAgent: { route: 'POST /v1/workflow-agents/:agent/retry' },
  rerunWorkflow: { route: 'POST /v1/workflow-runs/:run/rerun', creates: true },
  usage: { route: 'GET /v1/usage' },
  estimates: { route: 'GET /v1/estimates' },
  activity: { route: 'GET /v1/activity' },
  search: { route: 'GET /v1/search' },
} as const satisfies Readonly<Record<string, Call>>;

export type Calls = { readonly [Name in keyof typeof CALLS]: Method<(typeof CALLS)[Name]['route']> };

/** The HTTP API of a server. Every method rejects with a `CoppiceError`. */
export interface CoppiceClient extends Calls {
  readonly url: string;
  events(options?: EventsOptions): AsyncGenerator<ClientEvent, void, void>;
}

const OPTIONS: readonly string[] = ['url', 'token', 'tries'] satisfies (keyof ClientOptions)[];
const invalid = (why: string) => new CoppiceError('E_INVALID_ARGUMENT', why);
const isObject = (one: unknown) => typeof one === 'object' && one !== null;

/** Client of `coppice serve`; connects at the first request. Throws `E_INVALID_ARGUMENT` for a malformed URL or token. */
export function openClient(options: ClientOptions): CoppiceClient {
  if (!isObject(options)) throw invalid('openClient takes an object: { url, token }');
  const unknown = Object.keys(options).find((name) => !OPTIONS.includes(name));
  if (unknown !== undefined)
    throw noSuchName('E_CONFIG', 'openClient has no option', unknown, OPTIONS, 'Options');
  const { url, token, tries = 1 } = options;
  if (!Number.isInteger(tries) || tries < 1) throw invalid('tries: it must be a whole number above 0');
  if (typeof url !== 'string' || !URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
    throw new CoppiceError('E_INVALID_ARGUMENT', `url: "${String(url)}" is not the URL of a server`, {
      hint: 'Such as http://127.0.0.1:4747',
    });
  if (typeof token !== 'string' || !/^[\x21-\x7e]+$/.test(token))
    throw new CoppiceError('E_INVALID_ARGUMENT', 'token: it is empty or contains invalid characters', {
      hint: 'coppice web --token prints the one of this machine',
    });
  return {
    ...methodsOf((call, parameters, input, how) => {
      const [method = '', path = ''] = call.route.split(' ');
      const creates = 'creates' in call;
      const filled = Object.entries(parameters).reduce(
        (at, [name, value]) => at.replace(`:${name}`, encodeURIComponent(value)),
        path,
      );
      // Waiting changes nothing, so it may be repeated.
      const repeatable = creates || method === 'GET' || call.route === 'POST /v1/wait';
      return sendRequest(options, { method, path: filled, input, creates, repeatable }, how);
    }),
    url,
    async *events(how = {}) {
      if (!isObject(how)) throw invalid('events takes an object of options');
      yield* clientEvents(options, how);
    },
  };
}

export type Perform = (
  call: Call,
  parameters: Readonly<Record<string, string>>,
  input: Readonly<Record<string, unknown>>,
  how: CallOptions,
) => Promise<unknown>;

/** Builds all methods; each calls `perform` once. */
export function methodsOf(perform: Perform): Calls {
  const methods = Object.entries<Call>(CALLS).map(([name, call]) => {
    const names = (call.route.match(/:\w+/g) ?? []).map((parameter) => parameter.slice(1));
    return [
      name,
      async (...args: readonly unknown[]) => {
        const [input = {}, how = {}] = args.slice(names.length) as [Record<string, unknown>?, CallOptions?];
        const missing = names.find((_, at) => typeof args[at] !== 'string' || args[at] === '');
        if (missing !== undefined) throw invalid(`${name} needs "${missing}": a text`);
        if (!isObject(input) || !isObject(how))
          throw invalid(`${name} takes objects behind ${names.join(', ') || 'nothing'}`);
        const parameters = Object.fromEntries(
          names.map((parameter, index) => [parameter, String(args[index])]),
        );
        return perform(call, parameters, input, how);
      },
    ];
  });
  return Object.fromEntries(methods) as Calls;
}
