import type { Spoken } from './checkpoint.ts';
import type { PromptMessage } from './prompt-message.ts';

/** The immutable prefix that related agents share; built once, on the first request of any of them. */
export interface SharedPrefix {
  readonly length: number;
  readonly messages: () => readonly PromptMessage[];
  /** Absent if the prompt is only read and not continued. */
  readonly lineage?: Lineage;
}

export const NOTHING_SHARED: SharedPrefix = { length: 0, messages: () => [] };

/** State that a fork inherits in addition to the messages. */
interface Lineage {
  /** Seqs of messages and results in the composed history. */
  readonly seqs: WeakMap<object, number>;
  readonly spoken: SpokenList | null;
  readonly cuts: Cuts;
  /** Null: must be computed. */
  readonly characters: number | null;
}

/** Immutable linked list, newest first, that forks share. */
export interface SpokenList extends Spoken {
  readonly before: SpokenList | null;
}

/** Counts of how the history was shortened (docs/context.md). */
export interface Cuts {
  readonly checkpoints: number;
  /** Answers since the newest checkpoint, or since the beginning. */
  readonly answers: number;
  /** Elisions since the newest checkpoint, or since the beginning. */
  readonly elisions: number;
}

export function lineageOf({ length, lineage }: SharedPrefix): Lineage {
  const cuts = { checkpoints: 0, answers: 0, elisions: 0 };
  return lineage ?? { seqs: new WeakMap(), spoken: null, cuts, characters: length === 0 ? 0 : null };
}

export function spokenList(spoken: readonly Spoken[]): SpokenList | null {
  return spoken.reduce<SpokenList | null>((before, one) => ({ ...one, before }), null);
}

/** The entries, oldest first. */
export function spokenIn(list: SpokenList | null): Spoken[] {
  const all: Spoken[] = [];
  for (let at = list; at !== null; ) {
    const { before, ...one }: SpokenList = at;
    all.push(one);
    at = before;
  }
  return all.reverse();
}

/** Caches the result of `build`, which runs on the first call. */
export function once<T>(build: () => T): () => T {
  let built: { readonly value: T } | null = null;
  return () => {
    built ??= { value: build() };
    return built.value;
  };
}
