import type { Step } from '../../kernel/step.ts';
import type { Agent } from '../../records/agent/agent.ts';
import { promptOf } from '../../records/conversation/prompt.ts';
import { seenIn } from '../../records/conversation/seen-files.ts';
import type { Store } from '../../store/store.ts';
import type { ForkPoint } from './cell.ts';

type Place = NonNullable<Agent['forked_from']>;

/** Conversations that are kept for the next agents that inherit them. */
const KEPT = 16;

/** Conversations that new agents inherit from another agent than their creator (docs/workflows.md). Nobody here need hold them, so they are read before the step that creates the agents. */
export class ForeignForks {
  /** By agent and message; those used last come last. */
  readonly #points = new Map<string, ForkPoint>();

  async read(store: Pick<Store, 'history'>, steps: readonly Step[]): Promise<void> {
    const created = steps.flatMap(({ create }) => create);
    const places = created.flatMap(({ agent: { forked_from: from, parent_id } }) =>
      from === null || from.agent_id === parent_id ? [] : [from],
    );
    if (places.length === 0) return;
    for (const key of [...this.#points.keys()].slice(0, -KEPT)) this.#points.delete(key);
    for (const place of places) {
      const known = this.#points.get(keyOf(place));
      this.#points.delete(keyOf(place));
      this.#points.set(keyOf(place), known ?? (await pointIn(store, place)));
    }
  }

  at(place: Place): ForkPoint | undefined {
    return this.#points.get(keyOf(place));
  }
}

function keyOf({ agent_id, seq }: Place): string {
  return `${agent_id} ${seq}`;
}

async function pointIn(store: Pick<Store, 'history'>, { agent_id, seq }: Place): Promise<ForkPoint> {
  const history = (await store.history(agent_id)).filter((message) => message.seq <= seq);
  return { prompt: promptOf(history).forked(), seen: seenIn(history).forked(), asked: undefined };
}
