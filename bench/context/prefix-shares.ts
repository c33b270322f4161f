import type { Tool } from '../../src/records/tool.ts';
import { defineTool } from '../../src/tools/define-tool.ts';
import { open, type PROTOCOLS } from '../../test/models/protocols.ts';
import { setStage } from '../../test/runtime/stage.ts';
import type { Exchange } from '../../test/servers/brain.ts';
import { countingServer } from '../../test/servers/counting-server.ts';
import { type CachedOrder, cachedOrder, PrefixCache, sameBeginning } from '../prefix-cache.ts';

/** Number of characters that an agent sent in all its turns, and how many of them a provider knew already. */
export interface PrefixShares {
  readonly requests: number;
  readonly elisions: number;
  readonly checkpoints: number;
  readonly sent: number;
  /** Characters equal to the beginning of the previous request. */
  readonly same: number;
  /** Characters that Anthropic's cache would have, by its rules and breakpoints; null for other protocols. */
  readonly found: number | null;
}

export interface PrefixTerms {
  readonly turns: number;
  /** Window in tokens, for which the conversation is cut; null: it is never cut. */
  readonly window: number | null;
  /** Characters of each result. */
  readonly results: number;
}

const ENDLESS = 1_000_000_000;

/** Runs one agent over a wire protocol, with a call and its result in each turn. */
export async function prefixShares(
  protocol: (typeof PROTOCOLS)[number],
  { turns, window, results }: PrefixTerms,
): Promise<PrefixShares> {
  const cache = new PrefixCache();
  const brain = countingServer(window ?? ENDLESS, protocol.type, [], ['work', {}]);
  let before: CachedOrder | null = null;
  const tally = { requests: 0, sent: 0, same: 0, found: 0, elisions: 0, checkpoints: 0 };
  const answer = (exchange: Exchange) => {
    const order = cachedOrder(exchange);
    const sent = order.blocks.reduce((sum, block) => sum + block.length, 0);
    tally.requests += 1;
    tally.sent += sent;
    if (before !== null) tally.same += sameBeginning(before, order);
    tally.found += cache.read(order).found;
    cache.keep(order);
    before = order;
    return brain(exchange);
  };
  const { server, model } = await open(protocol, answer, { window: window ?? ENDLESS });
  let done = 0;
  const work = defineTool({
    name: 'work',
    description: 'Works.',
    input: { type: 'object', properties: {} },
    permission: { default: 'allow' },
    run: () => {
      done += 1;
      return `${done === turns ? 'last' : 'more'} ${done}: ${'lorem ipsum '.repeat(results / 12)}`;
    },
  });
  const stage = await setStage(() => 'unused', {
    models: { [model.id]: model },
    config: { model: model.id },
    tools: [work as Tool],
  });
  stage.runtime.subscribe((event) => {
    if (event.type !== 'message' || event.message.kind !== 'event') return;
    if (event.message.content.event === 'elided') tally.elisions += 1;
    if (event.message.content.event === 'checkpoint') tally.checkpoints += 1;
  });
  const { reply } = await stage.perform('Count to the end.', { turns: 1_000_000, tokens: 1_000_000_000_000 });
  if (reply !== 'All counted.') throw new Error(`ended otherwise: ${reply}`);
  await stage.close();
  await server.close();
  return { ...tally, found: protocol.type === 'anthropic' ? tally.found : null };
}
