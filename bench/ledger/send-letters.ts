import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

/** Letters a second, each acknowledged when durable, from `senders` processes with `concurrency` letters under way in each. Rejects when one of them fails. */
export async function sendLetters(
  url: string,
  recipients: readonly string[],
  { senders, concurrency, letters }: { senders: number; concurrency: number; letters: number },
): Promise<number> {
  const share = Math.ceil(letters / senders);
  const children = Array.from({ length: senders }, (_, index) => {
    const own =
      recipients.length < senders ? recipients : recipients.filter((_, place) => place % senders === index);
    return fork(join(import.meta.dirname, 'sender.ts'), [url, String(share), String(concurrency), ...own]);
  });
  const ended = Promise.all(
    children.map(async (child) => {
      const [code] = await once(child, 'exit');
      if (code !== 0) throw new Error('a sender has failed');
    }),
  );
  const told = () => Promise.all(children.map((child) => once(child, 'message')));
  await Promise.race([told(), ended]);
  const began = performance.now();
  const sent = told();
  for (const child of children) child.send('go');
  await Promise.race([sent, ended]);
  const seconds = (performance.now() - began) / 1_000;
  await ended;
  return (share * senders) / seconds;
}
