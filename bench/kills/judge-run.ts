import { brokenAtRest } from '../../test/sim/final-laws.ts';
import { brokenNow } from '../../test/sim/moment-laws.ts';
import type { Finding } from './finding.ts';
import { type CallJudgement, judgeCalls } from './judge-calls.ts';
import { type JournalJudgement, judgeJournals } from './judge-journals.ts';
import { judgeLetters, type LetterJudgement } from './judge-letters.ts';
import type { Journals } from './read-journals.ts';
import type { RunLedger } from './run-ledger.ts';
import { kindOf, treeShape } from './tree-shape.ts';

export interface RunEvidence {
  readonly ledger: RunLedger;
  readonly journals: Journals;
  /** Where `counts` is. */
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

/** Everything that must be true of a run whose trees have ended. */
export function judgeRun({ ledger, journals, folder, trees, expected }: RunEvidence): RunJudgement {
  const written = judgeJournals(journals, ledger);
  const calls = judgeCalls(folder, ledger);
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

/** The numbered laws, of a ledger at rest. */
function laws({ database, agents }: RunLedger): Finding[] {
  const created = new Map<string, number>();
  for (const { root_id } of agents.values()) created.set(root_id, (created.get(root_id) ?? 0) + 1);
  const at_rest = {
    database,
    created,
    removed: new Set<string>(),
    promised: [],
    promised_mail: new Set<string>(),
  };
  return [...brokenNow(database), ...brokenAtRest(at_rest, new Map())].map((text): Finding => {
    if (text.startsWith('law 11')) return { law: 'gap', text };
    return { law: text.includes('was never read') ? 'lost' : 'wrong', text };
  });
}

function endings(ledger: RunLedger, trees: readonly string[], expected: RunEvidence['expected']): Finding[] {
  const roots = [...ledger.agents.values()].filter(({ parent_id }) => parent_id === null);
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
  return [...found, ...differences];
}

/** What of `these` is not in `others`, each as often as it is missing there. */
function without(these: readonly string[], others: readonly string[]): string[] {
  const left = [...others];
  return these.filter((one) => {
    const at = left.indexOf(one);
    if (at >= 0) left.splice(at, 1);
    return at < 0;
  });
}
