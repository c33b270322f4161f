import type { Agent } from '../../../src/records/agent/agent.ts';
import type { ResultContent } from '../../../src/records/conversation/message.ts';
import { type Line, type Play, parsed, type Scene, type Stage } from '../stage.ts';

/** One row of the message with the outcomes of a parent's children (docs/vocabularies.md). */
export interface Row {
  readonly agent_id: string;
  readonly task: string;
  readonly did: string;
  readonly outcome: {
    readonly success?: { readonly result: string; readonly note?: string; readonly limit?: string };
    readonly failure?: { readonly error: string; readonly error_kind: string; readonly partial?: string };
  };
}

export type Call = readonly [string, unknown];
export type Part = (scene: Scene) => Line | Promise<Line>;

export const spawn = (...tasks: readonly object[]): Call => ['spawn_agents', { tasks }];
export const submit = (result: unknown): Line => [['submit_result', { result }]];
export const never = (): Promise<Line> => new Promise(() => undefined);

/** A play in which the root says these lines, then `done`; children have parts by name, and submit their name if they have none. */
export function cast(root: readonly Part[], children: Readonly<Record<string, Part>> = {}): Play {
  return (scene) => {
    if (scene.name === 'main') return (root[scene.step] ?? (() => 'done'))(scene);
    return (children[scene.name] ?? (() => submit(`result of ${scene.name}`)))(scene);
  };
}

/** The messages with outcomes of children in this agent's history, oldest first. */
export async function rounds(on: Stage, agent: Agent): Promise<Row[][]> {
  return (await texts(on, agent)).flatMap((text) => rowsOf(text) ?? []);
}

/** The rows of a message with outcomes of children, in an array; null for any other text. */
function rowsOf(text: string): [Row[]] | null {
  if (!text.startsWith('{"sub_agent_results"')) return null;
  return [(JSON.parse(text) as { sub_agent_results: Row[] }).sub_agent_results];
}

async function texts(on: Stage, agent: Agent): Promise<string[]> {
  const history = await on.store.history(agent.id);
  return history.flatMap((message) => (message.kind === 'user' ? [message.content.text] : []));
}

/** The result or the error of a row, short enough to compare. */
export function brief({ outcome }: Row): string {
  if (outcome.success !== undefined) return outcome.success.result;
  return `${outcome.failure?.error_kind}: ${outcome.failure?.error}`;
}

export function errorOf(result: ResultContent | undefined): {
  readonly code: string;
  readonly message: string;
} {
  return parsed(result).error as { code: string; message: string };
}
