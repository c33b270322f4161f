import { join } from 'node:path';
import { isTerminal } from '../../src/records/agent/state.ts';
import type { Mail } from '../../src/records/conversation/mail.ts';
import type { EndedLedger } from '../judge/ended-ledger.ts';
import { brokenLaws } from '../judge/ended-ledger.ts';
import type { Finding } from '../judge/finding.ts';
import { type CallJudgement, judgeCalls } from '../judge/judge-calls.ts';
import { COUNTING } from './counting-tools.ts';
import type { Journals } from './journal.ts';
import { type JournalJudgement, judgeJournals } from './judge-journals.ts';
import { kindOf, treeShape } from './tree-shape.ts';

export interface RunEvidence {
  readonly ledger: EndedLedger;
  readonly journals: Journals;
  /** The folder of `counts`. */
  readonly folder: string;
  /** Names of the trees of the run. */
  readonly trees: readonly string[];
  /** Shapes of undisturbed trees, by kind. */
  readonly expected: ReadonlyMap<string, readonly string[]>;
}

export interface RunJudgement {
  readonly findings: readonly Finding[];
  readonly agents: number;
  readonly journals: JournalJudgement;
  readonly calls: CallJudgement;
  readonly letters: LetterJudgement;
}

/** Checks everything that must hold in a run whose trees have ended. */
export function judgeRun({ ledger, journals, folder, trees, expected }: RunEvidence): RunJudgement {
  const written = judgeJournals(journals, ledger);
  const calls = judgeCalls(join(folder, 'counts'), COUNTING, ledger);
  const letters = judgeLetters(ledger);
  return {
    findings: [
      ...written.findings,
      ...calls.findings,
      ...letters.findings,
      ...laws(ledger),
      ...endings(ledger, trees, expected),
    ],
    agents: ledger.agents.size,
    journals: written,
    calls,
    letters,
  };
}

function laws({ database, agents }: EndedLedger): Finding[] {
  const created = new Map<string, number>();
  for (const { root_id } of agents.values()) created.set(root_id, (created.get(root_id) ?? 0) + 1);
  return brokenLaws(database, created).map((text): Finding => {
    if (text.startsWith('law 11')) return { law: 'gap', text };
    return { law: text.includes('was never read') ? 'lost' : 'wrong', text };
  });
}

function endings(
  ledger: EndedLedger,
  trees: readonly string[],
  expected: RunEvidence['expected'],
): Finding[] {
  const all = [...ledger.agents.values()].filter(({ parent_id }) => parent_id === null);
  const roots = all.filter(({ was }) => was === undefined);
  // How a tree goes on that was taken back hangs on the moment: the laws hold, and it comes to rest.
  const cuts = all.filter(({ was }) => was !== undefined);
  const taken_back = trees.flatMap((name): Finding[] => {
    const own = cuts.filter((root) => root.name === name);
    if (own.length > 1) return [{ law: 'doubled', text: `${name} was taken back ${own.length} times` }];
    if (own[0]?.state.type === 'idle') return [];
    return [{ law: 'lost', text: `${name}, taken back, is ${own[0]?.state.type ?? 'not there'}` }];
  });
  const found = trees.flatMap((name): Finding[] => {
    const times = roots.filter((root) => root.name === name).length;
    if (times === 0) return [{ law: 'lost', text: `the tree ${name} is not there` }];
    return times === 1 ? [] : [{ law: 'doubled', text: `the tree ${name} is there ${times} times` }];
  });
  const differences = roots.flatMap((root): Finding[] => {
    const [shape, right] = [treeShape(root, ledger), expected.get(kindOf(root)) ?? []];
    const [more, less] = [without(shape, right), without(right, shape)];
    return more.length + less.length === 0
      ? []
      : [
          {
            law: 'wrong',
            text: `${root.name} (${root.id}): ${more.join('; ')} instead of ${less.join('; ')}`,
          },
        ];
  });
  return [...found, ...differences, ...taken_back];
}

/** Multiset difference of `these` and `others`. */
function without(these: readonly string[], others: readonly string[]): string[] {
  const left = [...others];
  return these.filter((one) => {
    const at = left.indexOf(one);
    if (at >= 0) left.splice(at, 1);
    return at < 0;
  });
}

export interface LetterJudgement {
  readonly findings: readonly Finding[];
  /** Letters between agents that stand exactly once in the conversation of their recipient. */
  readonly delivered: number;
}

/** Letters between agents have unique texts: each must stand exactly once in the conversation of its recipient. */
export function judgeLetters({ mail, agents, messages }: EndedLedger): LetterJudgement {
  const letters = [...mail.values()].filter(({ kind, from_id }) => kind === 'letter' && from_id !== null);
  const findings: Finding[] = [];
  const bodies = new Map<string, Mail>();
  let delivered = 0;
  for (const letter of letters) {
    const { id, to_id, body } = letter;
    const twin = bodies.get(`${to_id} ${body}`);
    if (twin !== undefined)
      findings.push({ law: 'doubled', text: `the letters ${twin.id} and ${id} to ${to_id} are the same` });
    bodies.set(`${to_id} ${body}`, letter);
    const heard = (messages.get(to_id) ?? []).filter(({ kind }) => kind === 'user' || kind === 'result');
    // Facts are for viewers, and no part of what is told.
    const told = heard.map(({ content }) => JSON.stringify({ ...content, facts: undefined }));
    const times = told.reduce((sum, text) => sum + timesIn(text, body), 0);
    if (times === 1) delivered += 1;
    else if (times > 1)
      findings.push({ law: 'doubled', text: `the letter ${id} was told ${times} times to ${to_id}` });
    else if (!isTerminal(agents.get(to_id)?.state.type ?? 'idle'))
      findings.push({ law: 'lost', text: `the letter ${id} was never told to ${to_id}` });
  }
  return { findings, delivered };
}

function timesIn(text: string, part: string): number {
  return text.split(part).length - 1;
}
