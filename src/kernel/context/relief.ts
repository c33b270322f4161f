import type { Elision } from '../../records/conversation/checkpoint.ts';
import { elided } from '../../records/conversation/checkpoint.ts';
import type { Prompt } from '../../records/conversation/prompt.ts';
import { type PromptMessage, sizeOf } from '../../records/conversation/prompt-message.ts';

/** The window of a model in characters, so that texts can be compared with it. */
export interface Room {
  readonly window: number;
  /** Of the window: what may be filled. */
  readonly share: number;
  /** The system text and the tools. */
  readonly overhead: number;
}

export type Relief =
  | ({ readonly type: 'elide' } & Elision)
  | { readonly type: 'summarise' }
  /** Nothing more can be left out. */
  | { readonly type: 'stuck' };

/** Parts of the window. Below `TARGET` of the share after an elision, so that the prefix then stays the same for long. */
const TARGET = 0.75;
const NEWEST = 0.15;
/** Above this a request for a summary would not fit either. */
const FULL = 0.95;
/** Results of old calls are shortened above this number of characters; of the newest calls above this part of the window. */
const OLD_OVER = 500;
const NEW_OVER = 0.1;

type Read = Pick<Prompt, 'messages' | 'characters' | 'cuts' | 'seqOf'>;

/** How a prompt gets room for its next request; null when it has room. `refused`: the provider said that it has not. */
export function relief(prompt: Read, room: Room, refused: boolean): Relief | null {
  const { window, share, overhead } = room;
  const size = overhead + prompt.characters;
  if (!refused && size <= share * window) return null;
  const messages = prompt.messages();
  const through = cutBefore(prompt, messages, newest(prompt, window));
  const of_old: Elision = { through: through ?? 0, over: OLD_OVER };
  const of_all: Elision = { through: Number.MAX_SAFE_INTEGER, over: Math.max(OLD_OVER, NEW_OVER * window) };
  const saves = savedBy(prompt, messages, of_old);
  if (saves > 0 && size - saves <= TARGET * share * window) return { type: 'elide', ...of_old };
  const is_fresh = isFresh(prompt);
  const helps = savedBy(prompt, messages, of_all) > 0;
  if (size > FULL * window && saves > 0) return { type: 'elide', ...of_old };
  if ((size > FULL * window || through === null || is_fresh) && helps) return { type: 'elide', ...of_all };
  if (through !== null && !is_fresh) return { type: 'summarise' };
  // A long beginning is no reason to give up before a provider does; a checkpoint that gave no room is.
  return is_fresh || refused || size > window ? { type: 'stuck' } : null;
}

/** Nothing was answered since the newest checkpoint: another one would not help. */
export function isFresh({ cuts: { checkpoints, answers } }: Pick<Prompt, 'cuts'>): boolean {
  return checkpoints > 0 && answers === 0;
}

/** So many characters stay as they are when the rest is summarised. */
export function newest({ characters }: Pick<Prompt, 'characters'>, window: number): number {
  return NEWEST * Math.min(window, characters);
}

/** The newest row that a cut may take away so that about so many characters stay; null if there is none. Calls stay with their results. */
export function cutBefore(
  prompt: Pick<Prompt, 'seqOf'>,
  messages: readonly PromptMessage[],
  characters: number,
): number | null {
  // What stands for an earlier part has no place of its own.
  const first = messages[0] !== undefined && prompt.seqOf(messages[0]) === undefined ? 1 : 0;
  let [stays, through]: [number, number | null] = [0, null];
  for (const [place, message] of [...messages.entries()].reverse()) {
    stays += sizeOf(message);
    const seq = message.role === 'results' ? undefined : prompt.seqOf(message);
    if (seq === undefined) continue;
    if (through !== null && stays > characters) break;
    if (place <= first) break;
    through = seq - 1;
  }
  return through;
}

function savedBy(
  prompt: Pick<Prompt, 'seqOf'>,
  messages: readonly PromptMessage[],
  elision: Elision,
): number {
  return messages
    .flatMap((message) => (message.role === 'results' ? message.results : []))
    .reduce((sum, one) => sum + one.output.length - elided(one, prompt.seqOf(one), elision).output.length, 0);
}
