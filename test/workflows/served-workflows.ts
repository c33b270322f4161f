import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { ROUTES } from '../../src/serve/api/all-routes.ts';
import { documentSchema } from '../../src/serve/api/openapi.ts';
import type { Route } from '../../src/serve/api/route.ts';
import { until } from '../until.ts';
import { RULES, type WorkflowHome, workflowHome } from './run-workflow.ts';

const ajv = new Ajv2020({ strict: false, validateFormats: false });
const patternOf = (path: string) => new RegExp(`^${path.replaceAll(/:\w+/g, '[^/]+')}$`);

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
  /** Routes that were called; each answer was as its document says. */
  readonly called: ReadonlySet<Route>;
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
  const called = new Set<Route>();
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
        // A connection that is kept may be closed by the server just before a slow machine uses it again.
        headers: {
          authorization: `Bearer ${token}`,
          'content-type': 'application/json',
          connection: 'close',
          ...headers,
        },
      });
      const json = await response.json().catch(() => null);
      const { pathname } = new URL(path, url);
      const method = body === undefined ? 'GET' : 'POST';
      const found = ROUTES.find((one) => one.method === method && patternOf(one.path).test(pathname));
      assert.ok(found !== undefined, pathname);
      called.add(found);
      const shape = documentSchema(response.status === 200 ? found.answer : 'coppice/error/v1');
      assert.ok(ajv.validate(shape, json), `${path}: ${ajv.errorsText()} ${JSON.stringify(json)}`);
      return { status: response.status, json };
    };
  const ask = send(writes);
  return {
    ...home,
    ...{ url, called, ask, look: send(reads), close },
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
