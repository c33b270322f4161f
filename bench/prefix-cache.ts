import { createHash } from 'node:crypto';
import type { Exchange } from '../test/servers/brain.ts';

/** A request in the order in which providers cache it: tools, system text, messages. */
export interface CachedOrder {
  /** Blocks, with their breakpoints removed. */
  readonly blocks: readonly string[];
  /** Indexes of the blocks that have a breakpoint (Anthropic). */
  readonly marks: readonly number[];
}

/** Converts a request of any of the four wire protocols. */
export function cachedOrder({ body }: Exchange): CachedOrder {
  const messages = listed(body.messages ?? body.input ?? body.contents);
  const all = [
    ...listed(body.tools),
    ...listed(body.system ?? body.instructions ?? body.systemInstruction),
    ...messages.flatMap((message) => (Array.isArray(message.content) ? message.content : [message])),
  ].map((block) => JSON.stringify(block));
  const marks = all.flatMap((block, at) => (block.includes('"cache_control"') ? [at] : []));
  return { blocks: all.map((block) => block.replace(/,"cache_control":\{[^}]*\}/g, '')), marks };
}

type Block = Readonly<Record<string, unknown>>;

function listed(part: unknown): readonly Block[] {
  if (Array.isArray(part)) return part;
  return part === undefined ? [] : [part as Block];
}

/** Number of characters in the common prefix of both requests. */
export function sameBeginning(a: CachedOrder, b: CachedOrder): number {
  const first = a.blocks.findIndex((block, at) => block !== b.blocks[at]);
  const same = a.blocks.slice(0, first < 0 ? undefined : first).reduce((sum, block) => sum + block.length, 0);
  const [one, other] = [a.blocks[first] ?? '', b.blocks[first] ?? ''];
  let more = 0;
  while (more < Math.min(one.length, other.length) && one[more] === other[more]) more += 1;
  return same + more;
}

const LOOK_BACK = 20;

/** Cache of prefixes that works like Anthropic's: written at breakpoints, found up to 20 blocks before a breakpoint. */
export class PrefixCache {
  readonly #kept = new Set<string>();

  /** `found`: characters of the longest cached prefix; `whole`: characters up to the last breakpoint. */
  read({ blocks, marks }: CachedOrder): { readonly found: number; readonly whole: number } {
    const prefixes = hashes(blocks);
    const near = marks.flatMap((mark) => Array.from({ length: LOOK_BACK }, (_, back) => mark - back));
    const found = Math.max(-1, ...near.filter((at) => at >= 0 && this.#kept.has(prefixes[at] as string)));
    return { found: characters(blocks, found), whole: characters(blocks, marks.at(-1) ?? 0) };
  }

  keep({ blocks, marks }: CachedOrder): void {
    const prefixes = hashes(blocks);
    for (const mark of marks) this.#kept.add(prefixes[mark] as string);
  }
}

function hashes(blocks: readonly string[]): string[] {
  const hash = createHash('sha256');
  return blocks.map((block) => hash.update(`${block}\n`).copy().digest('base64'));
}

function characters(blocks: readonly string[], through: number): number {
  return blocks.slice(0, through + 1).reduce((sum, block) => sum + block.length, 0);
}
