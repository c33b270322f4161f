import type { Order } from '../../core/order.ts';
import { forkAgent } from '../../toolsets/fork-agent.ts';
import { forkIdentity } from '../../toolsets/fork-identity.ts';
import type { Draft } from './draft.ts';
import type { LedAgent } from './led-agent.ts';
import { viewOf } from './toolset-view.ts';
import type { View } from './view.ts';

/** A person's fork: the child inherits everything up to now; open calls get the placeholder, as with any fork. */
export function forkByPerson(
  order: Extract<Order, { type: 'fork' }>,
  by: string,
  draft: Draft,
  cell: LedAgent,
  around: View,
): void {
  const refuse = (text: string): void =>
    draft.append({ kind: 'event', content: { event: 'notice', text: `fork refused: ${text}` } });
  if (around.forest.agent(order.id) !== undefined) return refuse(`there is an agent ${order.id} already`);
  const view = viewOf(draft, cell, draft.last_seq, around);
  const decision = forkAgent(view, {
    id: order.id,
    name: order.name,
    profile: null,
    inherits: true,
    rests: order.prompt === null,
    text: forkIdentity(order.id, order.name, view.self, order.prompt),
    output: '',
  });
  if (decision.type !== 'settle')
    return refuse(decision.type === 'refuse' ? decision.message : 'it cannot be forked');
  const agents = decision.consequences.flatMap((one) => (one.type === 'create-agents' ? one.agents : []));
  const text = `forked ${order.name} (${order.id.slice(0, 8)}) by ${by}`;
  draft.apply({ type: 'branch', at: around.now, agents, text });
  if (order.captured === true)
    draft.apply({ type: 'capture', at: around.now, content: { text: '', mark: 'ended' } });
}
