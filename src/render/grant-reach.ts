import type { AskScope } from '../records/conversation/ask.ts';
import { clean } from './clean.ts';

/** Describes which agents a granted rule applies to, and until when: `reader, until its turn ends`. */
export function grantReach(scope: AskScope, agent_name: string | null, root_id: string | null): string {
  const name = clean(agent_name ?? '');
  const reach: Readonly<Record<AskScope, string>> = {
    once: 'this call',
    turn: `${name}, until its turn ends`,
    agent: name,
    session: `every agent of the tree ${root_id?.slice(0, 8)}`,
    always: 'every agent in the folder, for good',
  };
  return reach[scope];
}
