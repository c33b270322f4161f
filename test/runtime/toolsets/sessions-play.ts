import assert from 'node:assert/strict';
import { z } from 'zod';
import { DEFAULT_TERMS, type ToolsetTerms } from '../../../src/kernel/toolsets/toolset-terms.ts';
import type { Agent } from '../../../src/records/agent/agent.ts';
import type { Run } from '../../../src/records/run/run.ts';
import type { Tool } from '../../../src/records/tool.ts';
import { defineTool } from '../../../src/tools/define-tool.ts';
import { bare, type Line, type Play, parsed, type Scene, type Stage } from '../stage.ts';

/** A call of `sessions_spawn`. */
export function spawn(task: string, over: object = {}): readonly [string, unknown] {
  return ['sessions_spawn', { task, ...over }];
}

export const ROOM = { children: 300, live: 301, total: 301 };

/**
 * A play in which the root spawns `calls` in its first answer, then says `idle`, and `heard` at each announcement; the sub-agents
 * follow `child`, which gets their task.
 */
export function playOf(
  calls: readonly (readonly [string, unknown])[],
  child: (task: string, scene: Scene) => Line | Promise<Line>,
): Play {
  return (scene) => {
    if (scene.name !== 'main') return child(taskOf(scene), scene);
    if (scene.step === 0) return calls;
    return scene.user.includes('[Subagent: ') ? 'heard' : 'idle';
  };
}

/** The first user message of a sub-agent. */
export function taskOf({ request }: Scene): string {
  const [first] = request.messages;
  return first?.role === 'user' ? first.text : '';
}

export function concurrent(max_concurrent: number): Pick<ToolsetTerms, 'subagents'> {
  return { subagents: { ...DEFAULT_TERMS.subagents, max_concurrent } };
}

/** Texts of the messages that the runtime added to the agent's conversation. */
export async function announced(on: Stage, agent: Agent, shown = bare): Promise<string[]> {
  const history = await on.store.history(agent.id);
  return history.flatMap((message) =>
    message.kind === 'user' && message.content.origin === 'system' ? [shown(message.content.text)] : [],
  );
}

/** Runs of the tree in the order of their creation. */
export async function runsOf(on: Stage, root: Agent): Promise<Run[]> {
  return (await on.store.runs({ root_id: root.id })).toReversed();
}

export async function runCalled(on: Stage, root: Agent, label: string): Promise<Run> {
  const run = (await runsOf(on, root)).find((one) => one.label === label);
  assert.ok(run, `there is a run ${label}`);
  return run;
}

/** Parsed results of the root's calls. */
export async function outputs(on: Stage, root: Agent): Promise<Record<string, unknown>[]> {
  return (await on.results(root)).map(parsed);
}

/** Named gates at which a play waits until the test opens them. */
export class Doors {
  readonly #open = new Map<string, PromiseWithResolvers<void>>();

  #door(name: string): PromiseWithResolvers<void> {
    let door = this.#open.get(name);
    if (door === undefined) {
      door = Promise.withResolvers<void>();
      this.#open.set(name, door);
    }
    return door;
  }

  pass(name: string): Promise<void> {
    return this.#door(name).promise;
  }

  open(...names: readonly string[]): void {
    for (const name of names) this.#door(name).resolve();
  }
}

/** A tool that runs until the door with its name is opened, or the call is aborted. */
export function doorTool(doors: Doors, name: string): Tool {
  return defineTool({
    name,
    description: 'Takes its time.',
    input: z.strictObject({}),
    side_by_side: true,
    idempotent: true,
    run: async (_input, { signal }) => {
      await Promise.race([
        doors.pass(name),
        new Promise((resolve) => signal.addEventListener('abort', resolve)),
      ]);
      return `${name} done`;
    },
  }) as Tool;
}
