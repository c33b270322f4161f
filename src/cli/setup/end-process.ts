/** By now even the pauses and connection attempts of an unreachable database are over. */
const LATEST_MS = 10_000;

/**
 * For when everything is closed: ends the process if something that was overlooked still keeps it alive, and first tells what (kinds of resources,
 * as Node names them). Output that somebody still reads is waited for.
 */
export function endProcessSoon(tell = tellPerson): void {
  // Started with a channel to its parent, it belongs to that one.
  if (process.connected) return;
  setInterval(() => {
    if (process.stdout.writableLength > 0) return;
    const kinds = Map.groupBy(process.getActiveResourcesInfo(), (kind) => kind);
    tell([...kinds].map(([kind, all]) => `${all.length} ${kind}`).join(', '));
    process.exit();
  }, LATEST_MS).unref();
}

function tellPerson(open: string): void {
  process.stderr.write(`ended by force: something was left open: ${open}\n`);
}
