import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import type { DocumentOf } from '../../documents/shapes/all-documents.ts';
import { readCase } from '../../library/testing/cases/recorded-case.ts';
import type { AgentConfig } from '../../records/agent/agent.ts';
import { DEFAULT_SPENDING_LIMITS } from '../../records/agent/limits.ts';
import { CoppiceError } from '../../records/coppice-error.ts';
import { parsedObject } from '../../records/text/json-text.ts';
import { count, duration } from '../../render/amounts.ts';
import { clean } from '../../render/clean.ts';
import { tableLines } from '../../render/table.ts';
import type { Store } from '../../store/store.ts';
import { assertMayLeadHere } from '../../trees/leaders/leaders.ts';
import {
  type Cell,
  type SharedLimits,
  type WhatIfEnd,
  type WhatIfOrder,
  whatIfEnd,
  whatIfRoot,
} from '../../trees/rewind/what-if/what-if-run.ts';
import { workflowFailure } from '../../trees/workflow/workflow-failure.ts';
import { findRoot } from '../agents/find-agent.ts';
import { termsOfToday } from '../export/cases/terms-of-today.ts';
import { type FollowFlags, leadRun } from '../run/follow-run.ts';
import { parseLimits } from '../run/limit-option.ts';
import { askLedger } from '../setup/ask-server.ts';
import { composeRoot, composeTerms, type RootOptions } from '../setup/compose-config.ts';
import type { Context } from '../setup/context.ts';

interface CompareOptions extends FollowFlags {
  readonly prompt: readonly string[];
  readonly profile: readonly string[];
  readonly times: number;
  readonly check?: string;
  readonly schema?: string;
  readonly judge?: string;
  readonly judgeModel?: string;
  readonly limit: readonly string[];
  readonly atOnce: number;
  readonly here?: boolean;
  readonly again?: string;
}

/** What is continued or run in several ways. */
interface Compared extends Pick<WhatIfOrder, 'root_id' | 'at' | 'cases'> {
  readonly model: string;
  readonly cwd?: string;
  readonly rules?: Pick<RootOptions, 'allow' | 'deny' | 'yes'>;
  /** Names it for people. */
  readonly told: string;
}

const CELLS_MAX = 100;

/** `coppice what-if ID --at WHEN`: continues a tree from a moment in several ways, and prints the results side by side. */
export async function whatIf(
  context: Context,
  text: string,
  { at, ...options }: CompareOptions & { readonly at: string },
): Promise<number> {
  return compare(context, options, async (store) => {
    const asked = askLedger(context, store);
    const root_id = await findRoot(context, asked, text);
    const { model, cwd } = await asked.agent(root_id);
    return { root_id, at, model, cwd, told: `continuations of ${root_id.slice(0, 8)}` };
  });
}

/** `coppice tournament FILE…`: runs the tasks of recorded cases with each prompt, profile and model, and says which does best. */
export async function tournament(
  context: Context,
  files: readonly string[],
  { allow, deny, yes, ...options }: CompareOptions & Pick<RootOptions, 'allow' | 'deny' | 'yes'>,
): Promise<number> {
  const rules = { allow, deny, yes };
  return compare(context, options, async () => {
    const cases = await Promise.all(
      files.map(async (file) => {
        const { root } = readCase(await read(file), file);
        const { tokens: _, cost_usd: __, ...limits } = root.limits;
        const { config } = termsOfToday(context, root, rules);
        return { name: basename(file), prompt: root.prompt, config, limits };
      }),
    );
    const [first] = cases;
    if (first === undefined || new Set(cases.map(({ name }) => name)).size < cases.length)
      throw new CoppiceError('E_USAGE', 'two cases have the same name: give each file another one');
    return { cases, rules, model: first.config.model, told: 'runs of recorded cases' };
  });
}

async function compare(
  context: Context,
  options: CompareOptions,
  begin: (store: Store) => Promise<Compared>,
): Promise<number> {
  const { times, check, judge, here = false } = options;
  const [prompts, schema] = await Promise.all([
    Promise.all(options.prompt.map(async (file) => ({ name: basename(file), prompt: await read(file) }))),
    options.schema === undefined ? undefined : read(options.schema),
  ]);
  const form = schema === undefined ? undefined : parsedObject(schema);
  if (form === null)
    throw new CoppiceError('E_INVALID_ARGUMENT', `--schema ${options.schema}: no JSON object`);
  const models = context.options.model?.split(',').map((model) => ({ name: model, model })) ?? [];
  return leadRun(context, async (store) => {
    const { told, rules, model, cwd, ...compared } = await begin(store);
    const { root_id = null, at = null, cases } = compared;
    const terms = composeTerms(context);
    const profiles = options.profile.map((name) => ({
      name,
      profile: ofProfile(composeRoot(context, terms, { ...rules, profile: name, model, cwd }).config),
    }));
    const order: WhatIfOrder = {
      ...{ ...compared, here, cells: cellsOf([models, prompts, profiles], times, cases) },
      ...(check === undefined ? {} : { check }),
      ...(form === undefined ? {} : { schema: form }),
      ...(judge === undefined ? {} : { judge: { question: judge, model: options.judgeModel ?? model } }),
    };
    const { tokens, cost_usd } = parseLimits(options.limit);
    const is_usual = tokens === undefined && cost_usd === undefined;
    const limits = is_usual
      ? DEFAULT_SPENDING_LIMITS
      : { tokens: tokens ?? null, cost_usd: cost_usd ?? null, usual: false };
    // Of its agents, only the judge asks a model that is not a tree.
    const composed = composeRoot(context, terms, { model: order.judge?.model ?? model, cwd });
    const begun = whatIfRoot(composed, order, limits, { at_once: options.atOnce, again: options.again });
    const is_there = (await store.agent(begun.id)) !== null;
    if (is_there) await assertMayLeadHere(store, begun.id, context.env);
    const short = begun.id.slice(0, 8);
    const cells = `${order.cells.length} ${told}`;
    process.stderr.write(
      `what-if ${short}${is_there ? ', as before' : ''}: ${cells}, ${limitsText(limits)}\n`,
    );
    return {
      ...options,
      terms,
      begin: async (runtime) => (is_there ? (await runtime.resume(begun.id)).root : runtime.start(begun)),
      title: `coppice what-if  ·  ${cells}`,
      result: async (id) => {
        const end = (await whatIfEnd(store, id)) as WhatIfEnd;
        const document = { schema: 'coppice/what-if/v1', run: id, of: root_id, at, ...end } as const;
        return { document, lines: endLines(context, document) };
      },
      failure: async (id) => {
        const failure = await workflowFailure(store, id);
        if (failure !== null) return failure;
        return (await whatIfEnd(store, id))?.best === null ? 'none of them did its work and passed' : null;
      },
    };
  });
}

function limitsText({ tokens, cost_usd, usual }: SharedLimits): string {
  const most = [
    ...(tokens === null ? [] : [`${count(tokens)} tokens`]),
    ...(cost_usd === null ? [] : [`$${cost_usd}`]),
  ];
  if (most.length === 0) return 'without a limit';
  return `together at most ${most.join(' and ')}${usual ? ' of models with a price' : ''}`;
}

async function read(file: string): Promise<string> {
  return readFile(file, 'utf8').catch(({ message }: Error) => {
    throw new CoppiceError('E_INVALID_ARGUMENT', `${file} cannot be read: ${message}`);
  });
}

/** What a root that begins with a profile has from it; its model and folder are those of the tree. */
function ofProfile({
  system,
  instructions,
  thinking,
  toolsets,
  tools,
  permissions,
  require,
  turns,
}: AgentConfig) {
  const found = { system, instructions, thinking, toolsets, tools, permissions, require, turns };
  return Object.fromEntries(Object.entries(found).filter(([, value]) => value !== undefined));
}

/** Every combination of one choice of each list, for each case; an empty list changes nothing. */
function cellsOf(
  lists: readonly (readonly Cell[])[],
  times: number,
  cases: WhatIfOrder['cases'],
): readonly Cell[] {
  const entrants = combined(lists).map((cell) => ({ ...cell, entrant: cell.name || 'unchanged' }));
  const repeated = Array.from({ length: times }, (_, at) => ({ name: times === 1 ? '' : `${at + 1}` }));
  const runs = cases?.map(({ name }, place) => ({ name, place }));
  const cells = (
    runs === undefined ? combined([...lists, repeated]) : combined([runs, entrants, repeated])
  ).map((cell) => ({ ...cell, name: cell.name || 'unchanged' }));
  if (new Set(cells.map(({ name }) => name)).size < cells.length)
    throw new CoppiceError(
      'E_USAGE',
      'two of them would be the same: name each model, prompt and profile once',
      {
        hint: 'With --times 3 each is made three times',
      },
    );
  if (cells.length > CELLS_MAX)
    throw new CoppiceError('E_USAGE', `${cells.length} continuations or runs; at most ${CELLS_MAX}`);
  return cells;
}

function combined(lists: readonly (readonly Cell[])[]): readonly Cell[] {
  return lists
    .filter((list) => list.length > 0)
    .reduce<readonly Cell[]>(
      (all, list) =>
        all.flatMap((one) =>
          list.map((more) => ({ ...one, ...more, name: `${one.name} ${more.name}`.trim() })),
        ),
      [{ name: '' }],
    );
}

function endLines(context: Context, end: DocumentOf<'coppice/what-if/v1'>): string[] {
  const { cells, entrants, best, why } = end;
  const look = { width: context.width, style: context.out };
  const marks = cells.flatMap(({ check, schema_fault }) => [check, schema_fault]).some((one) => one !== null);
  const cost = (usd: number | null) => (usd === null ? '-' : `$${usd.toFixed(4)}`);
  const mark = (name: string) => (name === best ? '*' : ' ');
  const rows = cells.map((cell) => [
    `${mark(cell.entrant)} ${clean(cell.name)}`,
    cell.tree?.slice(0, 8) ?? '-',
    clean(cell.outcome_text),
    ...(marks
      ? [clean([cell.check, cell.schema_fault].find((one) => one !== null && one !== 'ok') ?? 'ok')]
      : []),
    ...[count(cell.tokens), cost(cell.cost_usd), duration(cell.seconds * 1_000), String(cell.files.length)],
    clean(cell.answer.replaceAll(/\s+/g, ' ')),
  ]);
  const named = ['tree', 'outcome', ...(marks ? ['check'] : []), 'tokens', 'cost', 'time', 'files', 'answer'];
  const table = tableLines([`  ${end.of === null ? 'run' : 'continuation'}`, ...named], rows, look);
  const found = best === null ? [] : [`best: ${clean(best)}${why === null ? '' : `, because ${clean(why)}`}`];
  if (end.of === null) {
    const standing = entrants.map(({ name, runs, passed, won, tokens, cost_usd }) => [
      `${mark(name)} ${clean(name)}`,
      ...[`${passed} of ${runs}`, ...(won === null ? [] : [String(won)]), count(tokens), cost(cost_usd)],
    ]);
    const won = entrants.some((one) => one.won !== null) ? ['won'] : [];
    return [
      ...table,
      ...tableLines(['  entrant', 'passed', ...won, 'tokens', 'cost'], standing, look),
      ...found,
    ];
  }
  const { branch, tree } = cells.find(({ name }) => name === best) ?? {};
  const short = tree?.slice(0, 8);
  const hints =
    short === undefined
      ? []
      : [
          ...(branch === null ? [] : [`its files: ${context.hint(`coppice merge ${short}`)}`]),
          `to go on with it: ${context.hint(`coppice send ${short} TEXT`)}, then ${context.hint(`coppice resume ${short}`)}`,
        ];
  return [...table, ...found, ...hints];
}
