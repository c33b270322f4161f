import { once } from 'node:events';
import { openStore } from '../../../src/store/open-store.ts';
import { until } from '../../until.ts';
import type { Home } from '../run-cli.ts';

export interface FloodedServer {
  readonly url: string;
  readonly pid: number;
  readonly log: () => string;
  stop(): Promise<void>;
}

/** A server that finds `count` deliveries to webhooks that are not configured. Resolves once it listens. */
export async function floodedServer(home: Home, database: string, count: number): Promise<FloodedServer> {
  const store = await openStore(database);
  const enter = (n: number) => {
    const about = { root_id: '', agent_id: '', about: null, body: 'x', created_at: 1 };
    return store.enterDelivery({ id: `alert-${n}`, kind: 'alert', target: `webhook:none-${n}`, ...about });
  };
  for (let n = 0; n < count; n += 100) await Promise.all(Array.from({ length: 100 }, (_, k) => enter(n + k)));
  await store.close();
  const { child, ended } = home.start(['serve', '--listen', '0', '--database', database, '--log', 'json']);
  let log = '';
  child.stderr?.on('data', (text: string) => {
    log += text;
  });
  const url = () => /listening on (http:\/\/[\d.:]+)/.exec(log)?.[1];
  await until(() => url() !== undefined, 'it listens');
  return {
    url: url() ?? '',
    pid: child.pid ?? 0,
    log: () => log,
    stop: async () => {
      if (child.exitCode === null) child.kill('SIGKILL');
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
      await ended;
    },
  };
}
