import { randomUUID } from 'node:crypto';
import * as z from 'zod';
import { messagesAfter } from '../../documents/messages-after.ts';
import { type Agent, descendantsOf } from '../../records/agent/agent.ts';
import { assistantText } from '../../records/conversation/child-text.ts';
import { CoppiceError, orElse } from '../../records/coppice-error.ts';
import type { RuntimeEvent } from '../../runtime/runtime-event.ts';
import type { RuntimeFace } from '../../runtime/runtime-face.ts';
import { checkSettings } from '../../settings/check-settings.ts';
import type { Store } from '../../store/store.ts';
import { hintsOf } from '../../trees/rest.ts';
import { checkPatience } from '../engine.ts';
import type { LiveAnswers } from './live-answers.ts';

/** Where streams read. `live`: the answers under way in this process. */
export interface StreamGround {
  readonly runtime: RuntimeFace;
  readonly store: Store;
  readonly live: LiveAnswers;
}

export interface StreamOptions {
  /** A position of an earlier stream, also of another process: goes on behind it. */
  readonly after?: string;
  /** Ends the stream. */
  readonly signal?: AbortSignal;
}

/** Items as they are asked for: what is not read yet waits in the ledger, not in memory. Ends once the agent and those below it rest. */
export interface Stream<Item> extends AsyncIterable<Item> {
  /** Where what was read so far ends. */
  readonly position: string;
}

/** A piece of what an agent says. `again`: the answer broke off and begins again; what was read of it is void. */
export interface TextPiece {
  readonly text: string;
  readonly again?: true;
}

/** A change of an agent, of which only the newest counts, or one of its messages. The messages of each agent come in order. */
export type TreeEvent =
  | Extract<RuntimeEvent, { type: 'message' }>
  | { readonly type: 'agent'; readonly agent: Agent };

const POLL_MS = 500;
/** Messages that are read from the ledger at once. */
const PAGE = 50;

/** What the agent says, from its first answer on. */
export function textOf(ground: StreamGround, id: string, options: StreamOptions = {}): Stream<TextPiece> {
  let [seq = -1, offset = 0] = placeIn(options, /^\d+:\d+$/, (text) => text.split(':').map(Number));
  let given: string | null = offset === 0 ? '' : null;
  /** What is new of the answer that is now so long. */
  const piece = (whole: string): TextPiece[] => {
    const again = whole.length < offset || (given !== null && !whole.startsWith(given));
    const text = again ? whole : whole.slice(offset);
    [offset, given] = [whole.length, whole];
    return text === '' && !again ? [] : [again ? { text, again } : { text }];
  };
  async function* look() {
    if (seq < 0) seq = (await ground.store.agent(id))?.forked_from?.seq ?? 0;
    for (const message of await ground.store.history(id, seq, PAGE)) {
      const pieces = message.kind === 'assistant' ? piece(assistantText(message.content)) : [];
      if (message.kind === 'assistant') [offset, given] = [0, ''];
      seq = message.seq;
      yield* pieces;
    }
    const live = ground.live.textAfter(seq, id);
    if (live !== '') yield* piece(live);
  }
  return follow(ground, id, options, look, () => `${Math.max(seq, 0)}:${offset}`);
}

/** The agent and those below it. */
export async function treeOf({ store }: Pick<StreamGround, 'store'>, id: string): Promise<Agent[]> {
  const all = await store.agents({ root_id: (await store.agent(id))?.root_id ?? id });
  return [...all.filter((one) => one.id === id), ...descendantsOf(id, all)];
}

/** What happens to the agent and those below it. */
export function eventsOf(ground: StreamGround, id: string, options: StreamOptions = {}): Stream<TreeEvent> {
  const { store } = ground;
  const seqs = new Map(placeIn(options, /^\{.*\}$/, (text) => Object.entries(SEQS.parse(JSON.parse(text)))));
  const versions = new Map<string, string>();
  async function* look(): AsyncGenerator<TreeEvent> {
    for (const agent of await treeOf(ground, id)) {
      const { updated_at, state, last_seq, calls, mail_count } = agent;
      const version = [updated_at, state.type, last_seq, calls, mail_count].join(' ');
      if (versions.get(agent.id) !== version) yield { type: 'agent', agent };
      versions.set(agent.id, version);
      const seq = seqs.get(agent.id) ?? agent.forked_from?.seq ?? 0;
      if (seq >= last_seq) continue;
      for await (const message of messagesAfter(store, agent.id, seq)) {
        seqs.set(agent.id, message.seq);
        yield { type: 'message', agent_id: agent.id, message };
      }
    }
  }
  return follow(ground, id, options, look, () => JSON.stringify(Object.fromEntries(seqs)));
}

const STREAM = z.strictObject({ after: z.unknown(), signal: z.unknown() }).partial();
const SEQS = z.record(z.string(), z.int().min(0));

function placeIn<Part>(options: StreamOptions, form: RegExp, read: (text: string) => Part[]): Part[] {
  const { after } = checkSettings(STREAM, options, 'of a stream');
  if (after === undefined) return [];
  const place = typeof after === 'string' && form.test(after) ? orElse(() => read(after), null) : null;
  if (place !== null) return place;
  throw new CoppiceError('E_INVALID_ARGUMENT', `after: ${JSON.stringify(after)} is no position`, {
    hint: 'Give the "position" of an earlier stream of this agent',
  });
}

/** Looks again whenever something may have changed, until the agent rests and nothing is new. */
export function follow<Item>(
  { runtime, store }: StreamGround,
  id: string,
  { signal }: StreamOptions,
  look: () => AsyncIterable<Item>,
  position: () => string,
): Stream<Item> {
  checkPatience({ ...(signal && { signal }) }, 'stream');
  async function* items(): AsyncGenerator<Item> {
    const [ended, rest] = [new AbortController(), { reached: false }];
    const hints = await hintsOf(async (wake) => {
      const stop = runtime.subscribe(() => wake());
      const unlisten = await store.listen(randomUUID(), () => wake());
      const stopped = AbortSignal.any([ended.signal, ...(signal ? [signal] : [])]);
      stopped.addEventListener('abort', () => wake());
      runtime.settled(id, 'tree', stopped).then(
        () => {
          rest.reached = true;
          wake();
        },
        (error) => wake(stopped.aborted ? undefined : error),
      );
      return () => {
        stop();
        return unlisten();
      };
    }, POLL_MS);
    try {
      while (signal?.aborted !== true) {
        const last = rest.reached;
        let is_new = false;
        for await (const item of look()) {
          is_new = true;
          yield item;
          if (signal?.aborted) return;
        }
        if (!is_new && last) return;
        if (!is_new) await hints.next();
      }
    } finally {
      ended.abort();
      await hints.stop();
    }
  }
  return {
    [Symbol.asyncIterator]: items,
    get position() {
      return position();
    },
  };
}
