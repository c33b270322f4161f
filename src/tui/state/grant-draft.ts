import { coveredBy, grantFault } from '../../permissions/grants/grant.ts';
import { type ProposedRules, proposeRules } from '../../permissions/grants/propose-rules.ts';
import type { Ask } from '../../records/conversation/ask.ts';
import { keptIn } from '../../records/kept-in.ts';
import type { GrantDraft, UiState } from './ui-state.ts';

/** The second step of an answer: choosing the rule to be granted and its scope, before it is granted. */

export const GRANT_SCOPES = ['turn', 'agent', 'session', 'always'] as const;

export type GrantChange =
  /** Shows the offered rule; if a rule is shown already, changes its scope. */
  | 'next_scope'
  | 'previous_scope'
  | 'narrower'
  | 'wider'
  /** Begins writing a rule; `keep` accepts what was written, if it matches the call. */
  | 'edit'
  | 'keep'
  /** Goes back by one step. */
  | 'back'
  | { readonly text: string };

/** Cache of proposals: the banner is drawn many times a second, and a question does not change. */
const CACHE = new WeakMap<Ask, ProposedRules>();

export function proposedRules(ask: Ask): ProposedRules {
  return keptIn(CACHE, ask, proposeRules);
}

/** The rule that would be granted; null if none is chosen yet. */
export function chosenRule({ rules, at, editing }: GrantDraft): string | null {
  return editing === null ? (rules[at] ?? null) : null;
}

/** The fault of the rule that is being written; null if there is none. */
export function writtenFault({ editing }: GrantDraft, ask: Ask): string | null {
  return editing === null ? null : grantFault(editing, ask);
}

/** Number of other open questions that the grant would answer. */
export function alsoAnswered({ asks }: UiState, ask: Ask, draft: GrantDraft): number {
  const rule = chosenRule(draft);
  return rule === null ? 0 : coveredBy({ ask, scope: draft.scope, rule }, asks).length;
}

/** Changes the grant for the visible question. A newly shown rule restarts the time to read it (rule Q2 of `question.ts`). */
export function granting(state: UiState, change: GrantChange): UiState {
  const { question, now } = state;
  const [ask] = state.asks;
  if (question === null || ask === undefined) return state;
  const grant = question.grant === null ? begun(ask, change) : changed(question.grant, change, ask);
  const since = question.grant === null && grant !== null ? now : question.since;
  return { ...state, question: { ...question, grant, since, held: null } };
}

function begun(ask: Ask, change: GrantChange): GrantDraft | null {
  if (change !== 'next_scope') return null;
  const { rules, first } = proposedRules(ask);
  return { rules, at: first, scope: 'agent', editing: null };
}

function changed(draft: GrantDraft, change: GrantChange, ask: Ask): GrantDraft | null {
  const last = draft.rules.length - 1;
  switch (change) {
    case 'narrower':
      return { ...draft, at: Math.max(0, draft.at - 1) };
    case 'wider':
      return { ...draft, at: Math.min(last, draft.at + 1) };
    case 'next_scope':
      return { ...draft, scope: scopeBeside(draft, 1) };
    case 'previous_scope':
      return { ...draft, scope: scopeBeside(draft, -1) };
    case 'edit':
      return { ...draft, editing: chosenRule(draft) ?? `${ask.tool}:` };
    case 'back':
      return draft.editing === null ? null : { ...draft, editing: null };
    case 'keep': {
      const { editing, rules } = draft;
      if (editing === null || writtenFault(draft, ask) !== null) return draft;
      return { ...draft, rules: [...rules, editing.trim()], at: rules.length, editing: null };
    }
    default:
      return { ...draft, editing: change.text };
  }
}

function scopeBeside({ scope }: GrantDraft, by: number): GrantDraft['scope'] {
  const at = GRANT_SCOPES.indexOf(scope) + by;
  return GRANT_SCOPES.at(at % GRANT_SCOPES.length) ?? scope;
}
