import { coveredBy, grantFault } from '../../permissions/grants/grant.ts';
import { type ProposedRules, proposeRules } from '../../permissions/grants/propose-rules.ts';
import type { Ask } from '../../records/conversation/ask.ts';
import { keptIn } from '../../records/kept-in.ts';
import type { GrantDraft, UiState } from './ui-state.ts';

/** The second step of an answer: choosing the rule to be granted and its scope, before it is granted. */

export const GRANT_SCOPES = ['waiting', 'turn', 'agent', 'session', 'always'] as const;

export type GrantChange =
  /** Shows the offered rule; if a rule is shown already, changes its scope. */
  | 'next_scope'
  /** Shows the narrowest rule. */
  | 'narrow'
  /** Shows which other open questions are like this one. */
  | 'alike'
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

/** The other open questions that the grant would answer; without a rule, those about the same call. */
export function alsoAnswered({ asks }: UiState, ask: Ask, draft: GrantDraft): readonly Ask[] {
  const rule = chosenRule(draft);
  const is_once = draft.scope === 'waiting';
  const open = is_once ? asks.filter(({ id }) => draft.waiting.includes(id)) : asks;
  if (rule !== null) return coveredBy({ ask, scope: is_once ? 'session' : draft.scope, rule }, open);
  const is_same = (one: Ask) => one.tool === ask.tool && one.input === ask.input && one.cwd === ask.cwd;
  return is_once ? open.filter((one) => one.id !== ask.id && is_same(one)) : [];
}

/** Changes the grant for the visible question. A newly shown rule restarts the time to read it (rule Q2 of `question.ts`); what was not `typed` arms letters. */
export function granting(state: UiState, change: GrantChange, typed: string | null = null): UiState {
  const { question, now } = state;
  const [ask] = state.asks;
  if (question === null || ask === undefined) return state;
  const before = question.grant;
  const grant = before === null ? begun(state, ask, change) : changed(before, change, ask);
  const since = before === null && grant !== null ? now : question.since;
  const next = grant && { ...grant, typed };
  return {
    ...state,
    armed: next !== null && typed === null,
    question: { ...question, grant: next, since, held: null },
  };
}

const BEGUN: Readonly<Record<string, GrantDraft['scope']>> = {
  next_scope: 'agent',
  narrow: 'session',
  alike: 'waiting',
};

function begun({ asks }: UiState, ask: Ask, change: GrantChange): GrantDraft | null {
  const scope = typeof change === 'string' ? BEGUN[change] : undefined;
  if (scope === undefined) return null;
  const { rules, first } = proposedRules(ask);
  const at = change === 'narrow' ? 0 : first;
  return { rules, at, scope, waiting: asks.map(({ id }) => id), editing: null, typed: null };
}

function changed(draft: GrantDraft, change: GrantChange, ask: Ask): GrantDraft | null {
  const last = draft.rules.length - 1;
  switch (change) {
    case 'narrower':
      return { ...draft, at: Math.max(0, draft.at - 1) };
    case 'wider':
      return { ...draft, at: Math.min(last, draft.at + 1) };
    case 'narrow':
      return { ...draft, at: 0 };
    case 'alike':
      return { ...draft, scope: 'waiting' };
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
