import type { Spoken } from './checkpoint.ts';
import type { PromptMessage } from './prompt-message.ts';

/** The prefix that related agents share: built once, on the first request of any of them, and immutable. */
export interface SharedPrefix {
  readonly length: number;
  readonly messages: () => readonly PromptMessage[];
  /** Absent for a prefix that is only read. */
  readonly lineage?: Lineage;
}

export const NOTHING_SHARED: SharedPrefix = { length: 0, messages: () => [] };

/** What a fork inherits beside the messages. */
interface Lineage {
  /** Where messages and results stand in the composed history. */
  readonly seqs: WeakMap<object, number>;
  readonly spoken: SpokenList | null;
  readonly cuts: Cuts;
  /** Null: to be counted. */
  readonly characters: number | null;
}

/** A list that is shared with forks: newest first, immutable. */
export interface SpokenList extends Spoken {
  readonly before: SpokenList | null;
}

/** How the history was cut (docs/context.md). */
export interface Cuts {
  readonly checkpoints: number;
  /** Answers since the newest checkpoint, or since the beginning. */
  readonly answers: number;
  /** Since then, too. */
  readonly elisions: number;
}

export function lineageOf({ length, lineage }: SharedPrefix): Lineage {
  const cuts = { checkpoints: 0, answers: 0, elisions: 0 };
  return lineage ?? { seqs: new WeakMap(), spoken: null, cuts, characters: length === 0 ? 0 : null };
}

export function spokenList(spoken: readonly Spoken[]): SpokenList | null {
  return spoken.reduce<SpokenList | null>((before, one) => ({ ...one, before }), null);
}

/** Oldest first. */
export function spokenIn(list: SpokenList | null): Spoken[] {
  const all: Spoken[] = [];
  for (let at = list; at !== null; at = at.before)
    all.push({ seq: at.seq, origin: at.origin, text: at.text });
  return all.reverse();
}

/** Built on the first request. */
export function once<T>(build: () => T): () => T {
  let built: { readonly value: T } | null = null;
  return () => {
    built ??= { value: build() };
    return built.value;
  };
}
