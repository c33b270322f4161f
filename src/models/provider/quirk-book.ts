import type { Quirks } from './provider-config.ts';

/** What the server of each `provider/model` does not take, as its refusals have said. Shared by all models of a process. */
export interface QuirkBook {
  of(model: string): Quirks;
  learn(model: string, quirks: Quirks): void;
}

/** A book without memory beyond the process. */
export function memoryQuirks(): QuirkBook {
  const learnt = new Map<string, Quirks>();
  return { of: (model) => learnt.get(model) ?? {}, learn: (model, quirks) => void learnt.set(model, quirks) };
}

/** All that is not taken by any of these. */
export function mergeQuirks(...all: readonly (Quirks | undefined)[]): Quirks {
  const omit = [...new Set(all.flatMap((one) => one?.omit ?? []))];
  return { ...Object.assign({}, ...all), ...(omit.length === 0 ? {} : { omit }) };
}

/** In words for people: what is left out of requests to a model. */
export function quirksTold({
  omit = [],
  userAfterResults,
  systemRole,
  toolDescriptionMax: most,
  refusedTools = [],
}: Quirks): string {
  return [
    ...(omit.length === 0 ? [] : [`without ${omit.join(', ')}`]),
    ...(userAfterResults === false ? ['no user message after results'] : []),
    ...(systemRole === false ? ['no system role'] : []),
    ...(most === undefined ? [] : [`with tool descriptions of at most ${most} characters`]),
    ...(refusedTools.length === 0 ? [] : [`without the tools that it refused: ${refusedTools.join(', ')}`]),
  ].join('; ');
}
