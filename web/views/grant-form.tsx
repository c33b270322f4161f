import { useState } from 'preact/hooks';
import { ASK_SCOPES } from '../../src/records/conversation/ask.ts';
import { spellHidden } from '../../src/render/hidden-characters.ts';
import { Button } from '../parts/button.tsx';
import type { ListedApproval } from '../parts/page.ts';

export interface Grant {
  readonly scope: (typeof ASK_SCOPES)[number];
  readonly rule: string;
}

export interface GrantFormProps {
  readonly approval: ListedApproval;
  readonly busy: boolean;
  readonly onGrant: (grant: Grant) => void;
  readonly onClose: () => void;
}

const SCOPES = ASK_SCOPES.filter((scope) => scope !== 'once');
const NAMES = { turn: 'this turn', agent: 'this agent', session: 'this tree', always: 'for good' } as const;

/** The rule that an answer grants, and how far: the proposed one first, and exactly what is granted, before it is. */
export function GrantForm({ approval, busy, onGrant, onClose }: GrantFormProps) {
  const { id, rules, offered_rule, subject_kind } = approval;
  // A rule for one file is of use for its next changes, too.
  const [rule, setRule] = useState((subject_kind === 'path' ? rules[0] : offered_rule) ?? '');
  const [scope, setScope] = useState<(typeof SCOPES)[number]>('agent');
  return (
    <form
      class="grant"
      aria-label="Allow from now on"
      onKeyDown={({ key }) => key === 'Escape' && onClose()}
      onSubmit={(event) => {
        event.preventDefault();
        onGrant({ scope, rule });
      }}
    >
      <div class="field">
        <label for={`${id}-rule`}>Rule, from narrow to wide</label>
        <select
          id={`${id}-rule`}
          data-first
          value={rule}
          onChange={({ currentTarget }) => setRule(currentTarget.value)}
        >
          {rules.map((one) => (
            <option key={one} value={one}>
              {spellHidden(one)}
            </option>
          ))}
        </select>
      </div>
      <div class="field">
        <label for={`${id}-scope`}>For</label>
        <select
          id={`${id}-scope`}
          value={scope}
          onChange={({ currentTarget }) => setScope(currentTarget.value as typeof scope)}
        >
          {SCOPES.map((one) => (
            <option key={one} value={one}>
              {NAMES[one]}
            </option>
          ))}
        </select>
      </div>
      <p aria-live="polite">
        Allows this call, and from now on <code>{spellHidden(rule)}</code>: {reachOf(scope, approval)}. It
        also answers the open questions that it covers.
      </p>
      <div class="buttons">
        <button type="submit" class="primary" disabled={busy}>
          Grant it
        </button>
        <Button does="Back" onClick={onClose} />
      </div>
    </form>
  );
}

function reachOf(scope: (typeof SCOPES)[number], { agent_name, cwd }: ListedApproval): string {
  return {
    turn: `only ${agent_name}, until its turn ends`,
    agent: `only ${agent_name}, until it ends`,
    session: 'every agent of this tree, until the tree ends',
    always: `every agent in ${cwd}, in later trees too, until you remove the rule`,
  }[scope];
}
