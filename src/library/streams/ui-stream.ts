import * as z from 'zod';
import { sleep } from '../../processes/waiting.ts';
import { type Agent, isActive } from '../../records/agent/agent.ts';
import { outcomeOfTree } from '../../records/run/outcome.ts';
import type { TreeOutcome } from '../../runtime/runtime-face.ts';
import { checkSettings } from '../../settings/check-settings.ts';
import { follow, type StreamGround, treeOf } from './streams.ts';
import { AnswerWriter, type UIMessageChunk } from './ui-chunks.ts';
import { agentAsUI, answerId, type Prompt, promptIn } from './ui-messages.ts';

export interface UIStreamOptions {
  /** What becomes of the work if the reader leaves before its end: it goes on, or its turns are interrupted. */
  readonly onClose?: 'continue' | 'interrupt';
}

/** Messages that are read from the ledger at once. */
const PAGE = 50;
/** Shortest time between two looks: answers come in many small pieces. */
const QUIET_MS = 30;
/** How old the agents of the tree may be while the one that is read speaks. */
const TREE_MS = 250;
/** A child that speaks is told of again after so many characters. */
const WORDS = 80;
const KEEP_ALIVE_MS = 15_000;
const HEADERS = {
  ...{ 'content-type': 'text/event-stream', 'cache-control': 'no-cache' },
  ...{ 'x-vercel-ai-ui-message-stream': 'v1', 'x-accel-buffering': 'no' },
};
const OPTIONS = z.strictObject({ onClose: z.enum(['continue', 'interrupt']).optional() });

/** Interrupts the turns of the agent and of all below it. */
export async function interruptAll(ground: StreamGround, id: string): Promise<void> {
  for (const agent of await treeOf(ground, id))
    if (isActive(agent)) await ground.runtime.interrupt(agent.id, 'by the program');
}

/** The newest turn of the agent, or the first that begins behind `after`, also if its prompt is still in the mailbox. */
export function uiStreamOf(
  ground: StreamGround,
  id: string,
  options: UIStreamOptions = {},
  after?: number,
): ReadableStream<UIMessageChunk> {
  const { onClose } = checkSettings(OPTIONS, options, 'of a UI message stream');
  const left = new AbortController();
  const chunks = turnOf(ground, id, left.signal, after);
  const source = {
    async pull(controller: ReadableStreamDefaultController<UIMessageChunk>) {
      const failed = (error: Error) =>
        ({ done: false, value: { type: 'error', errorText: error.message } }) as const;
      const { done, value } = await chunks.next().catch(failed);
      if (done === true) controller.close();
      else controller.enqueue(value);
    },
    async cancel() {
      left.abort();
      if (onClose === 'interrupt') await interruptAll(ground, id);
    },
  };
  return new ReadableStream<UIMessageChunk>(source, { highWaterMark: 0 });
}

/** The stream as server-sent events. */
export function uiResponse(chunks: ReadableStream<UIMessageChunk>): Response {
  const [reader, text] = [chunks.getReader(), new TextEncoder()];
  let next: ReturnType<typeof reader.read> | null = null;
  const events = {
    async pull(out: ReadableStreamDefaultController<Uint8Array>) {
      next ??= reader.read();
      const quiet = new AbortController();
      const read = await Promise.race([next, sleep(KEEP_ALIVE_MS, quiet.signal).then(() => null)]);
      quiet.abort();
      if (read !== null) next = null;
      const data = read?.done === true ? '[DONE]' : JSON.stringify(read?.value);
      // Proxies close what is silent for long.
      out.enqueue(text.encode(read === null ? ': at work\n\n' : `data: ${data}\n\n`));
      if (read?.done === true) out.close();
    },
    cancel: (reason: unknown) => reader.cancel(reason),
  };
  return new Response(new ReadableStream<Uint8Array>(events, { highWaterMark: 0 }), { headers: HEADERS });
}

async function* turnOf(
  ground: StreamGround,
  id: string,
  left: AbortSignal,
  after?: number,
): AsyncGenerator<UIMessageChunk> {
  const { store, runtime, live } = ground;
  let seq = after ?? (await newestPrompt(ground, id)) - 1;
  let prompt: Prompt | null = null;
  const writer = new AnswerWriter();
  const told = new Map<string, string>();
  let [agents, read_at]: [readonly Agent[], number] = [[], 0];
  const over = new AbortController();
  async function* look(): AsyncGenerator<UIMessageChunk> {
    const messages = await store.history(id, seq, PAGE);
    for (const message of messages) {
      seq = message.seq;
      if (prompt !== null) yield* writer.chunksOf(message);
      const said = promptIn(message);
      // What a person says next has a stream of its own.
      if (said !== null && prompt !== null) return over.abort();
      if (said !== null) yield { type: 'start', messageId: answerId(said.id) };
      prompt ??= said;
    }
    const parts = live.after(seq, id);
    if (prompt !== null && parts.length > 0)
      for (const chunk of writer.soFar(parts)) {
        // It takes back the parts of agents, too.
        if (chunk.type === 'reset-step') told.clear();
        yield chunk;
      }
    // Each piece of what the agent says wakes this.
    const is_old = parts.length === 0 || Date.now() - read_at >= TREE_MS;
    if (prompt !== null && is_old) [agents, read_at] = [await treeOf(ground, id), Date.now()];
    for (const agent of agents) {
      const data = agentAsUI(agent, ground);
      const spoken = Math.floor(live.textAfter(agent.last_seq, agent.id).length / WORDS);
      const version = JSON.stringify({ ...data, ...(spoken > 0 && { last_words: spoken }) });
      const is_of_turn = agent.id === id || told.has(agent.id) || isActive(agent);
      if (told.get(agent.id) === version || !(is_of_turn || agent.updated_at >= prompt!.at)) continue;
      told.set(agent.id, version);
      yield { type: 'data-agent', id: agent.id, data };
    }
    await sleep(QUIET_MS, left);
  }
  yield* follow(ground, id, { signal: AbortSignal.any([left, over.signal]) }, look, () => '');
  if (left.aborted) return;
  yield* writer.end();
  const all = await treeOf(ground, id);
  yield* endOf(
    over.signal.aborted ? { ...outcomeOfTree(id, all), failure: null } : await runtime.settled(id),
    all,
  );
}

/** The place of the newest prompt, found from the end; 1 if there is none. */
async function newestPrompt({ store }: StreamGround, id: string): Promise<number> {
  const last_seq = (await store.agent(id))?.last_seq ?? 0;
  for (let size = PAGE; ; size *= 4) {
    const found = (await store.history(id, Math.max(0, last_seq - size))).findLast((one) => promptIn(one));
    if (found !== undefined || size >= last_seq) return found?.seq ?? 1;
  }
}

const STOPPED: ReadonlySet<string> = new Set(['interrupted', 'cancelled', 'killed']);

function* endOf(
  { outcome, outcome_text, failure }: Pick<TreeOutcome, 'outcome' | 'outcome_text' | 'failure'>,
  agents: readonly Agent[],
): Generator<UIMessageChunk> {
  if (failure !== null && STOPPED.has(failure.kind)) return yield { type: 'abort', reason: failure.error };
  if (failure !== null) yield { type: 'error', errorText: failure.error };
  const reason = outcome === 'cut_short' ? 'length' : 'stop';
  const cost_usd = agents.reduce((sum, { usage }) => sum + (usage.cost_usd ?? 0), 0);
  yield {
    type: 'finish',
    finishReason: failure === null ? reason : failure.kind === 'refused' ? 'content-filter' : 'error',
    messageMetadata: { outcome, outcome_text, agents: agents.length, cost_usd },
  };
}
