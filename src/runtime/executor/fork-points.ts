import type { Step } from '../../kernel/step.ts';
import { placed } from '../../kernel/turn/agent-after.ts';
import type { Agent } from '../../records/agent/agent.ts';
import type { PlacedMessage } from '../../records/conversation/message.ts';
import type { InheritedFiles } from '../../records/conversation/seen-files.ts';
import type { SharedPrefix } from '../../records/conversation/shared-prefix.ts';
import type { Cell } from './cell.ts';

interface ForkPoint {
  readonly prompt: SharedPrefix;
  readonly seen: InheritedFiles;
  readonly asked: Cell['asked'];
}

export interface ForkPoints {
  readonly messages: readonly PlacedMessage[];
  /** State that a fork inherits, by the seq at which the step forks. */
  readonly points: ReadonlyMap<number, ForkPoint>;
}

/** Appends the messages of a step to the prompt, and keeps what forks inherit at each fork point, before later messages are appended. */
export function forkPoints(cell: Cell, before: Agent, step: Step): ForkPoints {
  const points = new Map<number, ForkPoint>();
  const keep = (seq: number) =>
    points.set(seq, { prompt: cell.prompt.forked(), seen: cell.seen.forked(), asked: cell.asked });
  const wanted = new Set(step.create.map((child) => child.agent.forked_from?.seq));
  if (wanted.size > 0 && before.last_seq > 0) {
    for (const seq of wanted) if (seq !== undefined && seq <= before.last_seq) keep(seq);
  }
  const messages = placed(cell.agent.id, step.messages, before.last_seq, step.at);
  for (const message of messages) {
    cell.prompt.append(message);
    cell.seen.append(message);
    if (wanted.has(message.seq)) keep(message.seq);
  }
  return { messages, points };
}
