import { type Elision, elided } from '../../records/conversation/checkpoint.ts';
import type { Prompt } from '../../records/conversation/prompt.ts';
import { type PromptMessage, sizeOf } from '../../records/conversation/prompt-message.ts';

/** The context window of a model in characters, so that it can be compared with the length of texts. */
export interface Room {
  readonly window: number;
  /** Fraction of the window that may be filled. */
  readonly share: number;
  /** Characters of the system text and the tools. */
  readonly overhead: number;
}

export type Relief =
  | ({ readonly type: 'elide' } & Elision)
  | { readonly type: 'summarise' }
  /** Nothing is left to shorten or summarise. */
  | { readonly type: 'stuck' };

/** An elision must bring the prompt below this fraction of its share, so that the cached prefix then stays the same for long. */
const TARGET = 0.75;
/** Fraction of the prompt, or of the window if that is smaller, that a checkpoint keeps unchanged. */
const NEWEST = 0.15;
/** Fraction of the window above which a request for a summary would not fit either. */
const FULL = 0.95;
/** Results longer than this are shortened: for old calls a number of characters, for the newest calls a fraction of the window. */
const OLD_OVER = 500;
const NEW_OVER = 0.1;

type Read = Pick<Prompt, 'messages' | 'characters' | 'cuts' | 'seqOf'>;

/** Decides how to make room for the next request; null if the prompt fits. `refused`: the provider refused it as too long. */
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
  // Give up at once if a checkpoint made no room; if only the beginning is too long, not before the provider refuses or the window is exceeded.
  return is_fresh || refused || size > window ? { type: 'stuck' } : null;
}

/** Whether nothing was answered since the newest checkpoint, so that another one would not help. */
export function isFresh({ cuts: { checkpoints, answers } }: Pick<Prompt, 'cuts'>): boolean {
  return checkpoints > 0 && answers === 0;
}

/** Number of characters that stay unchanged when the rest is summarised. */
export function newest({ characters }: Pick<Prompt, 'characters'>, window: number): number {
  return NEWEST * Math.min(window, characters);
}

/** Returns the seq of the newest row to cut so that about `characters` stay; null if nothing can be cut. Calls are never separated from their results. */
export function cutBefore(
  prompt: Pick<Prompt, 'seqOf'>,
  messages: readonly PromptMessage[],
  characters: number,
): number | null {
  // The message that stands for an earlier checkpoint has no seq; cutting only that one would gain nothing.
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
