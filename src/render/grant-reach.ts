import type { AskScope } from '../records/conversation/ask.ts';
import { clean } from './clean.ts';

/** Describes which agents a granted rule applies to, and until when: `reader, until its turn ends`. */
export function grantReach(scope: AskScope, agent_name: string | null, root_id: string | null): string {
  switch (scope) {
    case 'once':
      return 'this call';
    case 'turn':
      return `${clean(agent_name ?? '')}, until its turn ends`;
    case 'agent':
      return clean(agent_name ?? '');
    case 'session':
      return `every agent of the tree ${root_id?.slice(0, 8)}`;
    case 'always':
      return 'every agent in the folder, for good';
  }
}
