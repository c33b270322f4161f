import { createHash } from 'node:crypto';
import type { Answer, Exchange, SeenMessage } from './brain.ts';

/**
 * A model for whole runs whose answers depend on the conversation alone: told `FORK n`, the root forks n children in one message and waits
 * for all; each child runs three `bash` calls, one after the other, and sends their outputs to its parent. A call that was
 * interrupted is made again. The root's answer is `answerFor(n)` if and only if nothing was lost.
 */
export function forkingBrain({ messages }: Exchange): Answer {
  const users = messages.filter((message) => message.role === 'user');
  const identity = users
    .map((user) => /You are now "(\w+)"[\s\S]*a fork of "[^"]*" \(agent ([0-9a-f-]{36})\)/.exec(user.text))
    .findLast((match) => match !== null);
  if (identity) return child(messages, identity[1] as string, identity[2] as string);
  return root(messages, Number(/FORK (\d+)/.exec(users[0]?.text ?? '')?.[1]));
}

function root(messages: readonly SeenMessage[], count: number): Answer {
  const outputs = messages.flatMap((message) => message.results.map((result) => parsed(result.output)));
  const ids = outputs.flatMap((output) =>
    typeof output?.agent_id === 'string' && typeof output.name === 'string' && output.status === undefined
      ? [output.agent_id]
      : [],
  );
  if (ids.length === 0)
    return {
      calls: Array.from({ length: count }, (_, index) => ({
        name: 'fork',
        input: { name: `c${index}`, prompt: `task ${index}` },
      })),
    };
  const rows = outputs.flatMap((output) =>
    Array.isArray(output?.results)
      ? (output.results as { agent_id: string; status: string; message?: string }[])
      : [],
  );
  const received = new Map(
    rows.flatMap((row) => (row.status === 'received' ? [[row.agent_id, row.message ?? '']] : [])),
  );
  const missing = ids.filter((id) => !received.has(id));
  if (missing.length > 0) return { calls: [{ name: 'wait', input: { timeout: 600, from_agents: missing } }] };
  return { text: answer([...received.values()]) };
}

function child(messages: readonly SeenMessage[], name: string, parent: string): Answer {
  const outputs = messages.flatMap((message) => message.results.map((result) => result.output.trim()));
  const done = [0, 1, 2].filter((step) => outputs.includes(`${name}-${step}`));
  if (done.length < 3)
    return {
      calls: [{ name: 'bash', input: { command: `echo ${name}-${done.length} | tee -a effects.log` } }],
    };
  const sent = messages.some((message) =>
    message.results.some((result) => parsed(result.output)?.sent_to === parent),
  );
  return sent
    ? { text: 'reported' }
    : {
        calls: [
          {
            name: 'send',
            input: { to: parent, message: [0, 1, 2].map((step) => `${name}-${step}`).join(' ') },
          },
        ],
      };
}

function answer(reports: readonly string[]): string {
  const hash = createHash('sha256')
    .update([...reports].sort().join('\n'))
    .digest('hex')
    .slice(0, 16);
  return `received ${reports.length} checksum ${hash}`;
}

/** What the root must answer to `FORK count`. */
export function answerFor(count: number): string {
  return answer(
    Array.from({ length: count }, (_, index) => [0, 1, 2].map((step) => `c${index}-${step}`).join(' ')),
  );
}

function parsed(text: string): Record<string, unknown> | null {
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return null;
  }
}
