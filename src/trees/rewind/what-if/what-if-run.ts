import type { DocumentOf } from '../../../documents/shapes/all-documents.ts';
import { readMeta } from '../../../models/workflow/script-source.ts';
import { type Agent, type AgentConfig, WHAT_IF } from '../../../records/agent/agent.ts';
import { addUsage, NO_USAGE, type Usage } from '../../../records/agent/usage.ts';
import { CoppiceError } from '../../../records/coppice-error.ts';
import { outcomeOf } from '../../../records/run/outcome.ts';
import { fieldsOf, given } from '../../../records/text/json-fields.ts';
import { parseJson } from '../../../records/text/json-text.ts';
import type { StartOptions } from '../../../runtime/runtime-face.ts';
import type { Store } from '../../../store/store.ts';
import { derivedId } from '../../derived-id.ts';
import type { Root } from '../../open-tree.ts';
import { workflowValue } from '../../workflow/run-document.ts';
import { workflowRoot } from '../../workflow/workflow-root.ts';

/** A what-if is a workflow whose agents are continuations of a tree (docs/decisions/0072-a-what-if-is-a-workflow.md). */

/** One continuation, or one run of a case: what is different in it. */
export interface Cell {
  /** Its name among the cells, and the label of its agent. */
  readonly name: string;
  /** Of a run of a case: the name of what all cases are run with, and the place of the case. */
  readonly entrant?: string;
  readonly place?: number;
  readonly model?: string;
  /**
   * Takes the place of the message at the cut if a person wrote it; else it comes after it. In a run of a case, it comes before its task, which `{{task}}` in it
   * stands for.
   */
  readonly prompt?: string;
  /** What the root has from another profile. */
  readonly profile?: Partial<AgentConfig>;
}

/** What a run of a recorded case begins with. */
export interface CaseStart extends Required<Pick<StartOptions, 'prompt' | 'config' | 'limits'>> {
  readonly name: string;
}

/** What is done with every cell. */
export interface WhatIfOrder {
  /** The tree that is continued, and from where, as `cutPoint` reads it; without them, cases are run. */
  readonly root_id?: string;
  readonly at?: string;
  readonly cases?: readonly CaseStart[];
  readonly cells: readonly Cell[];
  /** Whether all work in the folder of the tree, without worktrees. */
  readonly here: boolean;
  /** A command, run in the worktree of each cell: whether it exits with 0. */
  readonly check?: string;
  /** What the answer, as JSON, must match. */
  readonly schema?: Readonly<Record<string, unknown>>;
  /** What an agent is asked that reads all answers, and its model. */
  readonly judge?: { readonly question: string; readonly model: string };
}

/** What the script of a what-if returns. */
export type WhatIfEnd = Pick<DocumentOf<'coppice/what-if/v1'>, 'cells' | 'entrants' | 'best' | 'why'>;
/** How a continuation ended: the answer of its agent, as JSON. */
export type CellEnd = Omit<WhatIfEnd['cells'][number], 'case' | 'entrant'>;

/** What all cells together may use; null: no limit. `usual`: nobody has said so, and models without a price are not bound by it. */
export interface SharedLimits {
  readonly tokens: number | null;
  readonly cost_usd: number | null;
  readonly usual: boolean;
}

/** The value that the script sees as `args`. */
interface WhatIfArgs extends WhatIfOrder {
  readonly share: SharedLimits;
  /** Of the judge. */
  readonly budget: { readonly tokens?: number; readonly usd?: number };
  readonly at_once: number;
}

const SCRIPT = `export const meta = {
  name: 'what-if',
  description: 'Continues a tree, or runs cases, in several ways, and compares the results',
  phases: [{ title: 'Continue' }, { title: 'Judge' }],
};
const { cells, cases = [], budget, at_once, judge } = args;
const ends = [];
let next = 0;
const work = async () => {
  while (next < cells.length) {
    const at = next++;
    const { name, entrant = name, place } = cells[at];
    const options = { label: name, phase: 'Continue', model: '${WHAT_IF}' };
    const end = await agent('Go on: ' + name, { ...options, onFailure: 'throw' })
      .then(JSON.parse, (error) => ({ name, tree: null, outcome: 'failed', outcome_text: error.message.replace(name + ' ', ''), answer: '',
        branch: null, files: [], tokens: 0, cost_usd: null, seconds: 0, check: null, schema_fault: null, passed: false }));
    ends[at] = { ...end, case: cases[place]?.name ?? null, entrant };
    log(name + ': ' + end.outcome_text + (end.check === null ? '' : ', check: ' + end.check));
  }
};
await Promise.all(Array.from({ length: at_once }, work));

const entrants = [...new Set(ends.map((end) => end.entrant))].map((name) => {
  const own = ends.filter((end) => end.entrant === name);
  const costs = own.flatMap((end) => end.cost_usd ?? []);
  return { name, runs: own.length, passed: own.filter((end) => end.passed).length, won: judge ? 0 : null,
    tokens: own.reduce((sum, end) => sum + end.tokens, 0),
    cost_usd: costs.length === 0 ? null : costs.reduce((sum, cost) => sum + cost, 0) };
});
let said = null;
let unheard = 0;
for (const of of judge ? new Set(ends.map((end) => end.case)) : []) {
  const passed = ends.filter((end) => end.case === of && end.passed);
  let won = passed[0];
  if (passed.length > 1) {
    const task = cases.find(({ name }) => name === of)?.prompt;
    const asked = judge.question + (task === undefined ? '' : '\\n\\nThe task:\\n\\n' + task);
    const shown = passed.map((end) => '## ' + end.name + '\\n' + end.answer + '\\nFiles: ' + (end.files.join(', ') || 'none'));
    const verdict = await agent(asked + '\\n\\nThe candidates:\\n\\n' + shown.join('\\n\\n'), {
      label: 'judge', phase: 'Judge', model: judge.model, ...('tokens' in budget || 'usd' in budget ? { budget } : {}),
      schema: { type: 'object', required: ['best', 'why'], additionalProperties: false,
        properties: { best: { enum: passed.map((end) => end.name) }, why: { type: 'string' } } },
    });
    if (!verdict) unheard += 1;
    said = verdict?.why ?? null;
    won = passed.find((end) => end.name === verdict?.best);
  }
  if (won) entrants.find(({ name }) => name === won.entrant).won += 1;
}

const worth = (one) => [-one.won, -one.passed, one.cost_usd ?? 0, one.tokens];
const [first, second] = entrants.filter(({ passed }) => passed > 0)
  .sort((a, b) => worth(a).map((value, at) => value - worth(b)[at]).find((apart) => apart !== 0) ?? 0);
const cheapest = second && first.won === second.won && first.passed === second.passed ? 'it cost least' : null;
const unjudged = unheard === 0 ? '' : cases.length === 0 ? ': the judge gave no answer' : '; cases without an answer of the judge: ' + unheard;
const found = cases.length === 0 || !first ? said : judge ? 'it was the best in ' + first.won + ' of ' + cases.length + ' cases'
  : 'it passed ' + first.passed + ' of ' + first.runs;
const why = [found, cheapest].filter((one) => one !== null).join(', and ') + unjudged;
return { cells: ends, entrants, best: first?.name ?? null, why: why === '' ? null : why };
`;

/** The root that runs the script. Its id follows from the order and its limits, so the same order goes on where it was. */
export function whatIfRoot<R extends Root>(
  root: R,
  order: WhatIfOrder,
  { tokens, cost_usd, usual }: SharedLimits,
  { at_once, again }: { readonly at_once: number; readonly again?: string | undefined },
) {
  const parts = order.cells.length + (order.judge === undefined ? 0 : (order.cases?.length ?? 1));
  const share = {
    tokens: tokens && Math.floor(tokens / parts),
    cost_usd: cost_usd && cost_usd / parts,
    usual,
  };
  const budget = usual ? {} : given({ tokens: share.tokens ?? undefined, usd: share.cost_usd ?? undefined });
  const args: WhatIfArgs = { ...order, share, budget, at_once: Math.min(at_once, order.cells.length) };
  // Each tree is bound by its share; without a named limit, a judge is bound as any tree is. It reads answers, and needs no tools.
  const bare = {
    ...root,
    config: { ...root.config, tools: [], toolsets: [] },
    limits: usual ? root.limits : { ...root.limits, tokens: null, cost_usd: null },
  };
  const script = { meta: readMeta(SCRIPT), source: SCRIPT, within: [] };
  const begun = workflowRoot(bare, script, { args: JSON.stringify(args), calls: parts });
  return { ...begun, id: derivedId(`what-if ${JSON.stringify([order, share])} ${again ?? ''}`) };
}

/** What a what-if returned; null if it did not. A continuation that somebody ended has a tree, too. */
export async function whatIfEnd(store: Store, run_id: string): Promise<WhatIfEnd | null> {
  const end = (await workflowValue(store, run_id)) as WhatIfEnd | undefined;
  if (end === undefined) return null;
  const agents = await store.agents({ root_id: run_id });
  const treeOf = async (cell: WhatIfEnd['cells'][number]) => {
    const agent = agents.find(({ config }) => config.task?.label === cell.name);
    const tree = cellTree(agent?.id ?? '');
    if (cell.tree !== null || (await store.agent(tree)) === null) return cell;
    return { ...cell, tree, ...usedIn(await store.agents({ root_id: tree })) };
  };
  return { ...end, cells: await Promise.all(end.cells.map(treeOf)) };
}

/** The results side by side. Rejects with `E_REFUSED` if the run has none yet, or is no what-if. */
export async function whatIfDocument(store: Store, run_id: string) {
  const run = await store.agent(run_id);
  const order = orderOf(run);
  const end = order && (await whatIfEnd(store, run_id));
  if (order && end) return { run: run_id, of: order.root_id ?? null, at: order.at ?? null, ...end };
  const why = run && order ? outcomeOf(run).outcome_text : 'it is no what-if';
  throw new CoppiceError('E_REFUSED', `${run_id.slice(0, 8)} has no results to compare: ${why}`);
}

/** The root of the tree of a cell. */
export function cellTree(agent_id: string): string {
  return derivedId(`what-if cell ${agent_id}`);
}

export function usedIn(agents: readonly Agent[]): Pick<CellEnd, 'tokens' | 'cost_usd'> {
  const { input, output, cost_usd } = agents.reduce<Usage>((sum, one) => addUsage(sum, one.usage), NO_USAGE);
  return { tokens: input + output, cost_usd };
}

/** The cell that an agent of a what-if is, with the order; undefined for any other agent. */
export function cellOf({ config }: Agent, parent: Agent | null) {
  const order = orderOf(parent);
  const cell = order?.cells.find(({ name }) => name === config.task?.label);
  return order && cell && { order, cell };
}

function orderOf(run: Agent | null): WhatIfArgs | undefined {
  const args = parseJson(run?.config.workflow?.args ?? '');
  return args.ok && Array.isArray(fieldsOf(args.value).cells) ? (args.value as WhatIfArgs) : undefined;
}
