import { hash } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';

/** Address and process of a ledger's server, in a file where other programs of the same user find them. */
const knownServer = z.object({ url: z.string(), pid: z.number() });

export type KnownServer = z.infer<typeof knownServer>;

/** Writes the file for the ledger at `location`. Returns a function that removes it. */
export function publishServer(folder: string, location: string, server: KnownServer): () => void {
  const file = fileOf(folder, location);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  writeFileSync(file, JSON.stringify(server), { mode: 0o600 });
  return () => {
    if (findServer(folder, location)?.pid === server.pid) rmSync(file, { force: true });
  };
}

/** Returns the server of that ledger on this machine; null if none is known or its process is gone. */
export function findServer(folder: string, location: string): KnownServer | null {
  let found: KnownServer | null = null;
  try {
    found = knownServer.parse(JSON.parse(readFileSync(fileOf(folder, location), 'utf8')));
    process.kill(found.pid, 0);
    return found;
  } catch (error) {
    // The process is alive, but runs as another user.
    return (error as NodeJS.ErrnoException).code === 'EPERM' ? found : null;
  }
}

function fileOf(folder: string, location: string): string {
  return join(folder, `${hash('sha256', location).slice(0, 16)}.json`);
}
