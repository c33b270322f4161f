import { createServer, connect as dial, type Socket } from 'node:net';

export interface FaultyWire {
  /** The URL of the database through the proxy. */
  readonly url: string;
  /** Which answers of the server pass: all; some, the others being lost with their connection; or no more at all. */
  say: 'all' | 'some' | 'nothing';
  readonly lost: () => number;
  close(): Promise<void>;
}

/** A proxy to a PostgreSQL server that loses answers of the server, one in `one_in`; `seed` decides which. */
export async function faultyWire(
  url: string,
  { seed, one_in }: { readonly seed: number; readonly one_in: number },
): Promise<FaultyWire> {
  const { port, hostname } = new URL(url);
  const sockets = new Set<Socket>();
  let [at, lost] = [seed, 0];
  const chance = () => {
    // Numerical Recipes' linear congruential generator: the same losses for the same seed and traffic.
    at = (Math.imul(at, 1_664_525) + 1_013_904_223) >>> 0;
    return at / 2 ** 32;
  };
  const wire = { say: 'all' as FaultyWire['say'] };
  const server = createServer((client) => {
    const upstream = dial(Number(port), hostname);
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => sockets.delete(socket));
    }
    client.on('data', (bytes) => upstream.write(bytes));
    client.on('close', () => upstream.destroy());
    upstream.on('close', () => client.destroy());
    let dead = false;
    upstream.on('data', (bytes) => {
      if (wire.say === 'nothing') dead = true;
      if (dead) return;
      if (wire.say === 'some' && chance() < 1 / one_in) {
        lost += 1;
        client.destroy();
        upstream.destroy();
      } else client.write(bytes);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return Object.assign(wire, {
    url: url.replace(`:${port}/`, `:${(server.address() as { port: number }).port}/`),
    lost: () => lost,
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  });
}
