import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import type { DocumentOf } from '../../documents/shapes/all-documents.ts';
import { readCase } from '../../library/testing/cases/recorded-case.ts';
import { meantPath } from '../../processes/working-folder.ts';
import { CoppiceError } from '../../records/coppice-error.ts';
import { nameOf } from '../../records/run/outcome.ts';
import { parsedObject } from '../../records/text/json-text.ts';
import { count, duration } from '../../render/amounts.ts';
import { clean } from '../../render/clean.ts';
import { tableLines } from '../../render/table.ts';
import type { Store } from '../../store/store.ts';
import { assertMayLeadHere } from '../../trees/leaders/leaders.ts';
import { type SharedLimits, whatIfDocument, whatIfEnd } from '../../trees/rewind/what-if/what-if-run.ts';
import { assertModels, type Compared, whatIfStart } from '../../trees/rewind/what-if/what-if-start.ts';
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

/** What is continued or run in several ways. `told`: its name for people. */
interface Begun extends Compared {
  readonly rules?: Pick<RootOptions, 'allow' | 'deny' | 'yes'>;
  readonly told: string;
}

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
  begin: (store: Store) => Promise<Begun>,
): Promise<number> {
  const { times, check, judge, here = false } = options;
  const [prompts, schema] = await Promise.all([
    Promise.all(options.prompt.map(async (file) => ({ name: basename(file), prompt: await read(file) }))),
    options.schema === undefined ? undefined : read(options.schema),
  ]);
  const form = schema === undefined ? undefined : parsedObject(schema);
  if (form === null)
    throw new CoppiceError('E_INVALID_ARGUMENT', `--schema ${options.schema}: no JSON object`);
  return leadRun(context, async (store) => {
    const { told, rules, ...compared } = await begin(store);
    const terms = composeTerms(context);
    const asked = {
      ...{ models: context.options.model?.split(','), prompts, profiles: options.profile, times },
      ...{ check, schema: form, judge, judge_model: options.judgeModel, here, again: options.again },
      ...{ limits: parseLimits(options.limit), at_once: options.atOnce },
    };
    const found = await whatIfStart(store, compared, asked, ({ profile, ...one }) =>
      composeRoot(context, terms, profile === undefined ? one : { ...rules, profile, ...one }),
    );
    const { start: begun, limits } = found;
    const is_there = (await store.agent(begun.id)) !== null;
    if (is_there) await assertMayLeadHere(store, begun.id, context.env);
    const short = begun.id.slice(0, 8);
    const cells = `${found.cells} ${found.cells === 1 ? told.replace(/s(?= of)/, '') : told}`;
    process.stderr.write(
      `what-if ${short}${is_there ? ', as before' : ''}: ${cells}, ${limitsText(limits)}\n`,
    );
    return {
      ...options,
      terms,
      begin: async (runtime) => {
        if (is_there) return (await runtime.resume(begun.id)).root;
        await assertModels(runtime, begun.config, asked.models);
        return runtime.start(begun);
      },
      title: `coppice what-if  ·  ${cells}`,
      result: async (id) => {
        const document = { schema: 'coppice/what-if/v1', ...(await whatIfDocument(store, id)) } as const;
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
  return readFile(meantPath(file), 'utf8').catch(({ message }: Error) => {
    throw new CoppiceError('E_INVALID_ARGUMENT', `${file} cannot be read: ${message}`);
  });
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
    nameOf(cell.outcome),
    ...(marks
      ? [clean([cell.check, cell.schema_fault].find((one) => one !== null && one !== 'ok') ?? 'ok')]
      : []),
    ...[count(cell.tokens), cost(cell.cost_usd), duration(cell.seconds * 1_000), String(cell.files.length)],
    clean(cell.answer.replaceAll(/\s+/g, ' ')),
  ]);
  const named = ['tree', 'outcome', ...(marks ? ['check'] : []), 'tokens', 'cost', 'time', 'files', 'answer'];
  const reasons = cells.flatMap(({ name, outcome, outcome_text }) =>
    outcome_text === nameOf(outcome) ? [] : [`${clean(name)}: ${clean(outcome_text)}`],
  );
  const table = [
    ...tableLines([`  ${end.of === null ? 'run' : 'continuation'}`, ...named], rows, look),
    ...reasons,
  ];
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
