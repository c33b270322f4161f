import type { Agent, Tree } from '../../records/agent/agent.ts';
import { framedName } from '../../records/agent/agent-name.ts';
import { treeBudget } from '../../records/agent/budget.ts';
import { isTerminal } from '../../records/agent/state.ts';
import { type Checkpoint, spokenWithin } from '../../records/conversation/checkpoint.ts';
import { isLetter } from '../../records/conversation/mail.ts';
import type { Prompt } from '../../records/conversation/prompt.ts';
import type { SeenFiles } from '../../records/conversation/seen-files.ts';
import { cutText } from '../../records/text/cut-text.ts';
import type { Mailbox } from '../mailbox/taken-mail.ts';
import { cutBefore, isFresh, newest } from './context-relief.ts';

/** Maximum fractions of the window that the summary and the messages kept word for word may take. */
const SUMMARY = 0.08;
const SPOKEN = 0.12;
const CHILDREN_MAX = 50;

export interface Surroundings {
  readonly tree: Tree | undefined;
  readonly children: readonly Agent[];
}

/** The conversation whose older part the checkpoint replaces. */
interface Cut {
  readonly prompt: Prompt;
  readonly inbox: Mailbox;
  readonly seen: Pick<SeenFiles, 'marks'>;
}

/**
 * Returns the checkpoint that replaces the older part of a conversation; null if there is nothing to cut. `summary`: null if the model gave none.
 * `window`: in characters.
 */
export function checkpointOf(
  { prompt, inbox, seen }: Cut,
  summary: string | null,
  window: number,
  { tree, children }: Surroundings,
): Checkpoint | null {
  const through = cutBefore(prompt, prompt.messages(), newest(prompt, window));
  if (through === null || isFresh(prompt)) return null;
  const said = prompt.spoken.filter(({ seq }) => seq <= through);
  const letters = [...inbox.all()].filter(isLetter).length;
  return {
    through,
    number: prompt.cuts.checkpoints + 1,
    summary: summary === null ? null : cutText(summary, Math.floor(SUMMARY * window)).toWellFormed(),
    spoken: spokenWithin(said, Math.floor(SPOKEN * window)),
    files: seen.marks(),
    facts: [
      ...childFacts(children),
      ...(letters === 0 ? [] : [`Unread letters in your mailbox: ${letters}.`]),
      ...(tree === undefined ? [] : limitFacts(tree)),
    ],
  };
}

function childFacts(children: readonly Agent[]): string[] {
  const living = children.filter(({ state }) => !isTerminal(state.type));
  if (living.length === 0) return [];
  const named = living
    .slice(0, CHILDREN_MAX)
    .map(
      ({ id, name, state, doing }) =>
        `- ${framedName(name)} (${id}): ${state.type}${doing === null ? '' : `, ${doing}`}`,
    );
  const more = living.length - named.length;
  return [`Your living sub-agents: ${living.length}.`, ...named, ...(more > 0 ? [`- and ${more} more`] : [])];
}

function limitFacts(tree: Tree): string[] {
  const { limits, cost_usd } = tree;
  // As they count towards the limit, without those read from a cache.
  const { tokens } = treeBudget(tree).spent;
  return [
    ...(limits.tokens === null ? [] : [`Tokens used by all agents: ${tokens} of ${limits.tokens}.`]),
    ...(limits.cost_usd === null
      ? []
      : [`Spent by all agents: $${cost_usd.toFixed(2)} of $${limits.cost_usd}.`]),
  ];
}
