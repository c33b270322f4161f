import { z } from 'zod';
import { DEFAULT_TERMS, type ToolsetTerms } from '../../../src/kernel/toolsets/toolset-terms.ts';
import type { Model, ModelOutcome, ModelRequest } from '../../../src/models/model.ts';
import type { Tool } from '../../../src/records/tool.ts';
import { defineTool } from '../../../src/tools/define-tool.ts';
import type { Line, Play, Scene } from '../stage.ts';

/** A call of `subagent_spawn`; the sub-agent is named after its description. */
export const spawn = (description: string, more: Record<string, unknown> = {}) =>
  ['subagent_spawn', { task: `do ${description}`, description, ...more }] as const;

export const ask = (description: string, more: Record<string, unknown> = {}) =>
  ['subagent_delegate', { task: `ask ${description}`, description, ...more }] as const;

export const echo = defineTool({
  name: 'echo',
  description: 'Says it again.',
  input: z.strictObject({ text: z.string() }),
  side_by_side: true,
  run: ({ text }) => `echo ${text}`,
}) as Tool;

/** A play in which the root follows `lines` and ends with `done`; sub-agents follow theirs by name, and answer at once if they have none. */
export function play(
  root: readonly ((scene: Scene) => Line | Promise<Line>)[],
  children: Record<string, (scene: Scene) => Line | Promise<Line>> = {},
): Play {
  return (scene) => {
    if (scene.name === 'main') return (root[scene.step] ?? (() => 'done'))(scene);
    return children[scene.name]?.(scene) ?? `report of ${scene.name}`;
  };
}

export function delegation(terms: Partial<ToolsetTerms['delegation']>): Pick<ToolsetTerms, 'delegation'> {
  return { delegation: { ...DEFAULT_TERMS.delegation, ...terms } };
}

export const never = (): Promise<Line> => new Promise(() => undefined);

/** A line that never comes; adds `name` to `reached` when it is requested. */
export function hang(reached: string[], name: string): () => Promise<Line> {
  return () => {
    reached.push(name);
    return never();
  };
}

/** A barrier: answers resolve when `count` callers have arrived, which proves that they were there at the same time. */
export function meeting(count: number): (text: string) => Promise<string> {
  let waiting: (() => void)[] = [];
  return (text) =>
    new Promise((resolve) => {
      waiting.push(() => resolve(text));
      if (waiting.length < count) return;
      for (const go of waiting) go();
      waiting = [];
    });
}

/** A model that is not driven by a play: it records its requests and answers each with the same outcome. */
export function fixedModel(id: string, outcome: ModelOutcome | string, seen: ModelRequest[] = []): Model {
  const usage = { input: 1, output: 1, cached: 0, reasoning: 0, cost_usd: null };
  return {
    id,
    context_window: null,
    tells_cost: true,
    async stream(request) {
      seen.push(request);
      if (typeof outcome !== 'string') return outcome;
      const content = { model: id, parts: [{ type: 'text' as const, text: outcome }] };
      return { type: 'answer', content, usage, finish: 'stop' };
    },
  };
}
