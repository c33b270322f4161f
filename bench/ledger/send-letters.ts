import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

/** Letters a second, each in a transaction of its own that was acknowledged: `senders` processes, each with `lanes` letters under way. */
export async function sendLetters(
  url: string,
  recipients: readonly string[],
  { senders, lanes, letters }: { senders: number; lanes: number; letters: number },
): Promise<number> {
  const share = Math.ceil(letters / senders);
  const children = Array.from({ length: senders }, (_, index) => {
    const own = recipients.filter((_, place) => place % senders === index);
    return fork(join(import.meta.dirname, 'sender.ts'), [url, String(share), String(lanes), ...own]);
  });
  await Promise.all(children.map((child) => once(child, 'message')));
  const began = performance.now();
  const sent = children.map((child) => once(child, 'message'));
  const ended = children.map((child) => once(child, 'exit'));
  for (const child of children) child.send('go');
  await Promise.all(sent);
  const seconds = (performance.now() - began) / 1_000;
  for (const [code] of await Promise.all(ended)) if (code !== 0) throw new Error('a sender failed');
  return (share * senders) / seconds;
}
