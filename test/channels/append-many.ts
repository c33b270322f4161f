import { once } from 'node:events';
import { openFile } from '../../src/channels/file/file-channel.ts';
import { newContext, newParcel } from './parcel-fixture.ts';

/**
 * `append-many.ts PATH WRITER COUNT`: reports that it is ready and, once its input ends, appends COUNT parcels of many sizes, two at a time. Exits with 1 if
 * one was not delivered.
 */
const [path = '', writer = '', count = '0'] = process.argv.slice(2);
const channel = openFile({});
process.stdout.write('ready\n');
await once(process.stdin.resume(), 'end');
for (let n = 0; n < Number(count); n += 2) {
  const results = await Promise.all(
    [n, n + 1].map((number) => {
      const text = `${writer}-${number} `.repeat(1 + ((number * 733) % 9_000)).trim();
      return channel.deliver(newParcel(path, { id: `${writer}-${number}`, text }), newContext());
    }),
  );
  const failed = results.find(({ type }) => type !== 'delivered');
  if (failed === undefined) continue;
  console.error(JSON.stringify(failed));
  process.exitCode = 1;
}
