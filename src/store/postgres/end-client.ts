import type { Socket } from 'node:net';
import type pg from 'pg';

const GOODBYE_MS = 1_000;

/** Ends a connection; one whose other side does not say goodbye is cut off. Never rejects. */
export async function endClient(client: pg.ClientBase): Promise<void> {
  const { connection, end } = client as unknown as {
    readonly connection: { readonly stream: Socket };
    readonly end: () => Promise<void>;
  };
  const cut = setTimeout(() => connection.stream.destroy(), GOODBYE_MS);
  await end.call(client).catch(() => undefined);
  clearTimeout(cut);
}
