import { useApi } from '../data/api.ts';
import type { TreeAgents } from '../views/agent/agent.tsx';
import { OrderDialog } from './dialog.tsx';
import { say } from './notice.tsx';

const NAMES_SHOWN = 8;

interface KillDialogProps {
  readonly agent: { readonly id: string; readonly root_id: string; readonly name: string };
  readonly onClose: () => void;
}

/** Asks before an agent is killed, and says how many descendants go with it. */
export function KillDialog({ agent: { id, root_id, name }, onClose }: KillDialogProps) {
  const { data } = useApi<TreeAgents>(`/v1/trees/${root_id}`);
  const names = data === null ? [] : livingBelow(id, data.agents);
  return (
    <OrderDialog
      title={`Kill ${name}?`}
      does={names.length === 0 ? 'Kill' : `Kill ${names.length + 1} agents`}
      danger
      onClose={onClose}
      path={`/v1/agents/${id}/kill`}
      onSent={() => say(`Killed ${name}`)}
    >
      <p>
        {data === null
          ? 'All its descendants are killed, too.'
          : names.length === 0
            ? 'It has no living descendants.'
            : `${names.length} ${names.length === 1 ? 'descendant is' : 'descendants are'} killed, too: ${names.slice(0, NAMES_SHOWN).join(', ')}${names.length > NAMES_SHOWN ? ', …' : '.'}`}
      </p>
      <p class="dim">Nothing of it can go on afterwards. The conversations stay readable.</p>
    </OrderDialog>
  );
}

function livingBelow(id: string, agents: TreeAgents['agents']): string[] {
  return agents
    .filter(({ parent_id }) => parent_id === id)
    .flatMap((child) => [...(child.ended_at === null ? [child.name] : []), ...livingBelow(child.id, agents)]);
}
