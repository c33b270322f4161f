import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { PostgresServer } from '../test/postgres/start-postgres.ts';

export interface SharedPostgres {
  /** HTTP address that answers with the URL of the PostgreSQL server. */
  readonly address: string;
  stop(): Promise<void>;
}

/** Offers one PostgreSQL server to all test files; it starts at the first request. */
export async function offerPostgres(): Promise<SharedPostgres> {
  let started: Promise<PostgresServer> | undefined;
  const http: Server = createServer((_request, response) => {
    started ??= import('../test/postgres/shared-postgres.ts').then(({ startShared }) => startShared());
    started.then(
      (server) => response.end(server.url),
      (error) => response.writeHead(500).end(String(error)),
    );
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  return {
    address: `http://127.0.0.1:${(http.address() as AddressInfo).port}`,
    async stop() {
      http.close();
      http.closeAllConnections();
      const server = await started?.catch(() => undefined);
      await server?.stop();
    },
  };
}
