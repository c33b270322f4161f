import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import type { DocumentOf } from '../../documents/shapes/all-documents.ts';
import type { AgentConfig } from '../../records/agent/agent.ts';
import { DEFAULT_SPENDING_LIMITS } from '../../records/agent/limits.ts';
import { CoppiceError } from '../../records/coppice-error.ts';
import { parsedObject } from '../../records/text/json-text.ts';
import { count, duration } from '../../render/amounts.ts';
import { clean } from '../../render/clean.ts';
import { tableLines } from '../../render/table.ts';
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
import { type FollowFlags, leadRun } from '../run/follow-run.ts';
import { parseLimits } from '../run/limit-option.ts';
import { askLedger } from '../setup/ask-server.ts';
import { composeRoot, composeTerms } from '../setup/compose-config.ts';
import type { Context } from '../setup/context.ts';

interface WhatIfOptions extends FollowFlags {
  readonly at: string;
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

const CELLS_MAX = 100;

/** `coppice what-if ID --at WHEN`: continues a tree from a moment in several ways, and prints the results side by side. */
export async function whatIf(context: Context, text: string, options: WhatIfOptions): Promise<number> {
  const { at, times, check, judge, here = false } = options;
  const [prompts, schema] = await Promise.all([
    Promise.all(options.prompt.map(async (file) => ({ name: basename(file), prompt: await read(file) }))),
    options.schema === undefined ? undefined : read(options.schema),
  ]);
  const form = schema === undefined ? undefined : parsedObject(schema);
  if (form === null)
    throw new CoppiceError('E_INVALID_ARGUMENT', `--schema ${options.schema}: no JSON object`);
  const models = context.options.model?.split(',').map((model) => ({ name: model, model })) ?? [];
  return leadRun(context, async (store) => {
    const asked = askLedger(context, store);
    const root_id = await findRoot(context, asked, text);
    const { model, cwd } = await asked.agent(root_id);
    const terms = composeTerms(context);
    const profiles = options.profile.map((name) => ({
      name,
      profile: ofProfile(composeRoot(context, terms, { profile: name, model, cwd }).config),
    }));
    const order: WhatIfOrder = {
      ...{ root_id, at, here, cells: cellsOf([models, prompts, profiles], times) },
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
    const cells = `${order.cells.length} continuations of ${root_id.slice(0, 8)}`;
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

/** Every combination of one choice of each list; an empty list changes nothing. */
function cellsOf(lists: readonly (readonly Cell[])[], times: number): readonly Cell[] {
  const repeated = Array.from({ length: times }, (_, at) => ({ name: times === 1 ? '' : `${at + 1}` }));
  const cells = [...lists, repeated]
    .filter((list) => list.length > 0)
    .reduce<readonly Cell[]>(
      (all, list) =>
        all.flatMap((one) =>
          list.map((more) => ({ ...one, ...more, name: `${one.name} ${more.name}`.trim() })),
        ),
      [{ name: '' }],
    )
    .map((cell) => ({ ...cell, name: cell.name === '' ? 'unchanged' : cell.name }));
  if (new Set(cells.map(({ name }) => name)).size < cells.length)
    throw new CoppiceError(
      'E_USAGE',
      'two continuations would be the same: name each model, prompt and profile once',
      {
        hint: 'With --times 3 each is made three times',
      },
    );
  if (cells.length > CELLS_MAX)
    throw new CoppiceError('E_USAGE', `${cells.length} continuations; at most ${CELLS_MAX}`);
  return cells;
}

function endLines(context: Context, { cells, best, why }: DocumentOf<'coppice/what-if/v1'>): string[] {
  const marks = cells.flatMap(({ check, schema_fault }) => [check, schema_fault]).some((one) => one !== null);
  const rows = cells.map((end) => [
    `${end.name === best ? '*' : ' '} ${clean(end.name)}`,
    end.tree?.slice(0, 8) ?? '-',
    clean(end.outcome_text),
    ...(marks
      ? [clean([end.check, end.schema_fault].find((one) => one !== null && one !== 'ok') ?? 'ok')]
      : []),
    ...[count(end.tokens), end.cost_usd === null ? '-' : `$${end.cost_usd.toFixed(4)}`],
    ...[duration(end.seconds * 1_000), String(end.files.length)],
    clean(end.answer.replaceAll(/\s+/g, ' ')),
  ]);
  const head = [
    '  continuation',
    'tree',
    'outcome',
    ...(marks ? ['check'] : []),
    'tokens',
    'cost',
    'time',
    'files',
    'answer',
  ];
  const taken = cells.find(({ name }) => name === best);
  const tree = taken?.tree?.slice(0, 8);
  return [
    ...tableLines(head, rows, { width: context.width, style: context.out }),
    ...(taken === undefined
      ? []
      : [`best: ${clean(taken.name)}${why === null ? '' : `, because ${clean(why)}`}`]),
    ...(tree === undefined || taken?.branch === null
      ? []
      : [`its files: ${context.hint(`coppice merge ${tree}`)}`]),
    ...(tree === undefined
      ? []
      : [
          `to go on with it: ${context.hint(`coppice send ${tree} TEXT`)}, then ${context.hint(`coppice resume ${tree}`)}`,
        ]),
  ];
}
