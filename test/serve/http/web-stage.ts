import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CronJobs } from '../../../src/cron/manage-jobs.ts';
import { DEFAULT_TERMS } from '../../../src/kernel/toolsets/toolset-terms.ts';
import { AgentPrompts } from '../../../src/serve/api/agent-prompts.ts';
import type { ApiSources, Scope } from '../../../src/serve/api/route.ts';
import { Access } from '../../../src/serve/http/access.ts';
import { type Listening, type ListenOptions, listen } from '../../../src/serve/http/listen.ts';
import { TreeKeeper } from '../../../src/trees/leaders/tree-keeper.ts';
import { TreeTimelines } from '../../../src/trees/timeline/tree-timelines.ts';
import { TreeActivity } from '../../../src/trees/usage/tree-activity.ts';
import { UsageRollUp } from '../../../src/trees/usage/usage-roll-up.ts';
import { type Play, type Stage, type StageOptions, setStage } from '../../runtime/stage.ts';

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  /** The body as JSON; null if it is not JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  readonly json: any;
}

export interface Ask {
  readonly method?: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** The scope of the token; default: write; null: no token. */
  readonly token?: Scope | null;
}

/** A real server on a real socket over a real ledger and runtime. */
export interface WebStage {
  readonly stage: Stage;
  readonly access: Access;
  readonly sources: ApiSources;
  readonly folder: string;
  readonly url: string;
  readonly host: string;
  /** Internal errors of the server. */
  readonly troubles: string[];
  ask(path: string, how?: Ask): Promise<Answer>;
  token(scope: Scope): string;
  close(): Promise<void>;
}

export async function setWebStage(
  play: Play,
  options: StageOptions = {},
  more: Partial<ListenOptions> = {},
): Promise<WebStage> {
  const folder = mkdtempSync(join(tmpdir(), 'coppice-web-'));
  const stage = await setStage(play, { can_ask: true, ...options });
  const { store, runtime } = stage;
  const troubles: string[] = [];
  const keeper = new TreeKeeper({
    store,
    runtime,
    onTrouble: (error) => troubles.push(String(error)),
    onEnded: () => undefined,
  });
  const access = new Access(folder);
  const sources: ApiSources = {
    store,
    runtime,
    jobs: new CronJobs({ store, canAsk: () => true, default_tz: 'UTC', checkTarget: () => null }),
    timelines: new TreeTimelines(store),
    unled: { options: {}, env: {} },
    rules_file: join(folder, 'rules.json'),
    alerts: {
      file: null,
      rules: [{ when: 'cost', usd: 5, after_minutes: null, to: ['stdout'] }],
    },
    usage: new UsageRollUp(store),
    activity: new TreeActivity(store),
    searches: true,
    merge_test: { command: 'test ! -e bad.txt', env: process.env as Record<string, string> },
    prompts: new AgentPrompts(store),
    cwd: folder,
    profiles: async () => new Map(),
    compose: async ({ model = 'play/actor', cwd = folder, allow = ['*'], deny = [], limits = {} }) => ({
      config: {
        model,
        thinking: 'off',
        system: 'system',
        toolsets: ['process'],
        tools: (options.tools ?? []).map((tool) => tool.spec.name),
        cwd,
        permissions: { cli: { allow, ask: [], deny }, config: { allow: [], ask: [], deny: [] } },
        ...options.config,
      },
      limits,
      placement: [],
    }),
    onEntered: () => keeper.wake(),
  };
  const listening: Listening = await listen({
    sources,
    mcp: async () => {
      const { mcpHandler } = await import('../../../src/mcp/serve-http.ts');
      return mcpHandler({
        ...sources,
        terms: DEFAULT_TERMS,
        version: '0',
        cwd: folder,
        lasting: true,
        env: {},
        wait_ms: 5_000,
      });
    },
    access,
    version: '0',
    host: '127.0.0.1',
    port: 0,
    hosts: [],
    tls: null,
    onTrouble: (error, what) => troubles.push(`${what}: ${(error as Error).stack}`),
    ...more,
  });
  keeper.wake();
  const host = new URL(listening.url).host;
  const token = (scope: Scope) => readFileSync(access.fileOf(scope), 'utf8').trim();
  return {
    stage,
    access,
    sources,
    folder,
    url: listening.url,
    host,
    troubles,
    token,
    ask: (path, { method = 'GET', body, headers = {}, token: scope = 'write' } = {}) =>
      ask(listening.url, path, {
        method,
        body,
        headers: { ...(scope === null ? {} : { authorization: `Bearer ${token(scope)}` }), ...headers },
      }),
    async close() {
      await listening.close();
      await keeper.stop();
      await stage.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Sends a request with arbitrary headers: `fetch` sets `Host` and `Origin` itself, an attacker does not. */
function ask(
  url: string,
  path: string,
  { method, body, headers }: { method: string; body: unknown; headers: Readonly<Record<string, string>> },
): Promise<Answer> {
  const { hostname, port } = new URL(url);
  const text = body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body);
  return new Promise((resolve, reject) => {
    const request = httpRequest(
      {
        hostname,
        port,
        path,
        method,
        headers: {
          ...(text === undefined
            ? {}
            : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }),
          ...headers,
        },
      },
      (response) => {
        let answer = '';
        response.setEncoding('utf8').on('data', (piece: string) => {
          answer += piece;
        });
        response.on('error', reject).on('end', () => {
          let json: unknown = null;
          try {
            json = JSON.parse(answer);
          } catch {
            // A page, not JSON.
          }
          resolve({ status: response.statusCode ?? 0, headers: response.headers, text: answer, json });
        });
      },
    );
    request.on('error', reject).end(text);
  });
}
