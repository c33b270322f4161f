import { once } from 'node:events';
import { until } from '../until.ts';
import { RULES, type WorkflowHome, workflowHome } from './run-workflow.ts';

export interface Answer {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  readonly json: any;
}

/** A home with a `coppice serve` of its own. */
export interface ServedWorkflows extends WorkflowHome {
  readonly url: string;
  /** One request, with the token that may write; `GET` without a body. */
  ask(path: string, body?: object, headers?: Readonly<Record<string, string>>): Promise<Answer>;
  /** As `ask`, with the token that only reads. */
  look(path: string, body?: object): Promise<Answer>;
  /** The run, as soon as it is as told. */
  runWhen(id: string, fits: (run: Answer['json']) => boolean): Promise<Answer['json']>;
  close(): Promise<void>;
}

export async function serveWorkflows(
  rules: readonly object[] = RULES,
  configuration: object = {},
): Promise<ServedWorkflows> {
  const home = workflowHome(rules, configuration);
  const server = home.start(['serve', '--listen', '0']);
  const close = async () => {
    const exited = once(server.child, 'exit');
    server.child.kill('SIGTERM');
    await exited;
  };
  const printed = async (...args: readonly string[]) => (await home.run(args)).stdout.trim();
  let url = '';
  await until(async () => {
    const { code, stdout } = await home.run(['web', '--json']);
    if (code === 0) url = new URL((JSON.parse(stdout) as { url: string }).url).origin;
    return code === 0;
  }, 'the server listens');
  const [writes, reads] = [await printed('web', '--token'), await printed('web', '--read-only', '--token')];
  const send =
    (token: string): ServedWorkflows['ask'] =>
    async (path, body, headers = {}) => {
      const response = await fetch(`${url}${path}`, {
        ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
      });
      return { status: response.status, json: await response.json().catch(() => null) };
    };
  const ask = send(writes);
  return {
    ...home,
    ...{ url, ask, look: send(reads), close },
    async runWhen(id, fits) {
      let run: Answer['json'] = null;
      await until(async () => {
        run = (await ask(`/v1/workflow-runs/${id}`)).json;
        return fits(run);
      }, 'the run is as told');
      return run;
    },
  };
}
