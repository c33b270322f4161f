import type { Finding } from '../judge/finding.ts';
import type { Death } from './journal.ts';
import type { RunJudgement } from './judge-run.ts';

/** Totals of all runs on one database. */
export interface KillTally {
  readonly database: string;
  runs: number;
  trees: number;
  agents: number;
  seconds: number;
  readonly deaths: Death[];
  readonly findings: Finding[];
  readonly acknowledged: { messages: number; letters: number; agents: number; taken: number };
  /** Steps that the ledger was committing at an `in-commit` kill, and how many of them were committed. */
  readonly in_hand: { steps: number; landed: number };
  readonly calls: { once: number; interrupted_after: number; interrupted_before: number };
  letters_delivered: number;
}

export function emptyTally(database: string): KillTally {
  return {
    database,
    runs: 0,
    trees: 0,
    agents: 0,
    seconds: 0,
    deaths: [],
    findings: [],
    acknowledged: { messages: 0, letters: 0, agents: 0, taken: 0 },
    in_hand: { steps: 0, landed: 0 },
    calls: { once: 0, interrupted_after: 0, interrupted_before: 0 },
    letters_delivered: 0,
  };
}

export function addRun(
  tally: KillTally,
  trees: number,
  deaths: readonly Death[],
  { findings, agents, journals, calls, letters }: RunJudgement,
): void {
  tally.runs += 1;
  tally.trees += trees;
  tally.agents += agents;
  tally.deaths.push(...deaths);
  tally.findings.push(...findings);
  tally.acknowledged.messages += journals.messages;
  tally.acknowledged.letters += journals.letters;
  tally.acknowledged.agents += journals.agents;
  tally.acknowledged.taken += journals.taken;
  tally.in_hand.steps += journals.in_hand;
  tally.in_hand.landed += journals.landed;
  tally.calls.once += calls.once;
  tally.calls.interrupted_after += calls.interrupted_after;
  tally.calls.interrupted_before += calls.interrupted_before;
  tally.letters_delivered += letters.delivered;
}
