import type { ResultContent } from '../../../src/records/conversation/message.ts';
import { type Play, parsed, type Scene, type Stage } from '../stage.ts';

export const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/** A call of the tool `slash`. */
export const slash = (command: string) => ['slash', { command }] as const;

export const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/** The message by which a child of a `slash fork` reports that its work is done. */
export const completion = (summary: string): string =>
  quoted(JSON.stringify({ status: 'idle', success: true, summary }));

/** A child that reports the text of `summary`, then rests. */
export const report =
  (summary: (scene: Scene) => string) =>
  (scene: Scene): ReturnType<Play> =>
    scene.step === 0 ? [slash(`send ${scene.parent_id} ${completion(summary(scene))}`)] : 'reported';

/** Ids of the agents that this agent's forks created so far. */
export function forkedIds(scene: Scene): string[] {
  return scene.results.flatMap((result) => (UUID.test(result.output) ? [result.output] : []));
}

/** Texts of the user messages that came after the agent's last answer. */
export function newest(scene: Scene): string[] {
  const { messages } = scene.request;
  const last = messages.findLastIndex((message) => message.role === 'assistant');
  return messages.slice(last + 1).flatMap((message) => (message.role === 'user' ? [message.text] : []));
}

/** An agent that reads its mail at each notice and otherwise rests. */
export function reader(scene: Scene): ReturnType<Play> {
  return newest(scene).some((text) => text.startsWith('got mail from')) ? [slash('check-mail')] : 'resting';
}

export interface ShownLetter {
  readonly from: string;
  readonly name: string;
  readonly sent_at: string;
  readonly message?: string;
  readonly completion?: {
    readonly status: string;
    readonly success: boolean;
    readonly summary?: string;
  };
}

/** Every letter that `check-mail` has returned, in order. */
export function shownLetters(results: readonly ResultContent[]): ShownLetter[] {
  return results.flatMap((result) =>
    result.status === 'ok' && result.output.startsWith('[{')
      ? (JSON.parse(result.output) as ShownLetter[])
      : [],
  );
}

/** Every notice in one agent's conversation, in order. */
export async function noticesOf(on: Pick<Stage, 'store'>, agent_id: string): Promise<string[]> {
  return (await on.store.history(agent_id)).flatMap((message) =>
    message.agent_id === agent_id && message.kind === 'user' && message.content.origin === 'mail'
      ? [message.content.text]
      : [],
  );
}

export function errorOf(result: ResultContent | undefined): {
  readonly code: string;
  readonly message: string;
} {
  return parsed(result).error as { code: string; message: string };
}
