import { HELD_OUT, type Shape, TUNED } from '../test/models/gate/shapes.ts';
import { sweep, told } from '../test/models/gate/sweep.ts';

/**
 * `npm run bench:gate [-- --seeds 3] [--only TEXT]`: what the gate makes of servers whose limits it does not know, on a fake clock: time as a multiple of the
 * best possible, and refused requests after learning. First the servers on which its numbers were set, then as many others (docs/decisions/0056-the-gate-finds-the-limit.md).
 */
const flag = (name: string): string | undefined => {
  const at = process.argv.indexOf(name);
  return at < 0 ? undefined : process.argv[at + 1];
};
const seeds = Number(flag('--seeds') ?? 3);
const only = flag('--only') ?? '';

async function print(title: string, shapes: readonly Shape[]): Promise<void> {
  console.log(title);
  const wanted = shapes.filter(({ name }) => only.split('|').some((text) => name.includes(text)));
  const { summary } = await sweep(wanted, seeds, (shape, runs) => console.log(told(shape, runs)));
  console.log(`${summary}\n`);
}

const [part, parts] = (flag('--part') ?? '0/1').split('/').map(Number) as [number, number];
const which = flag('--set');
if (which !== 'held-out')
  await print(
    'Servers on which the numbers were set',
    TUNED.filter((_, index) => index % parts === part),
  );
if (which !== 'tuned') await print('Servers that were held out', HELD_OUT);
