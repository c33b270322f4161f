import type {
  WorkflowFunction,
  WorkflowGlobals,
} from '../../src/models/workflow/globals/workflow-function.ts';
import { scriptModel } from '../../src/models/workflow/script-model.ts';
import type { Agent } from '../../src/records/agent/agent.ts';
import type { WorkflowTerms } from '../../src/records/workflow/workflow-terms.ts';
import type { RuntimeOptions } from '../../src/runtime/runtime-options.ts';
import { askPerson } from '../../src/tools/ask-person.ts';
import type { Random } from './random.ts';

/** What a planned workflow does, as data: one function carries out every plan, so any process can go on with any run, without an interpreter and its threads. */
type Plan =
  | { readonly does: 'agent'; readonly label: string; readonly throws: boolean; readonly more: boolean }
  | { readonly does: 'sleep'; readonly seconds: number }
  | { readonly does: 'throw' | 'notify' }
  | { readonly does: 'all'; readonly how: keyof typeof ALL; readonly of: readonly Plan[] }
  | { readonly does: 'pipeline'; readonly items: number; readonly stages: readonly Plan[] }
  | { readonly does: 'then'; readonly first: Plan; readonly next: Plan }
  | { readonly does: 'inner'; readonly plan: Plan };

const ALL = {
  parallel: (thunks: readonly (() => Promise<unknown>)[], { parallel }: WorkflowGlobals) => parallel(thunks),
  race: (thunks: readonly (() => Promise<unknown>)[]) => Promise.race(thunks.map((thunk) => thunk())),
  any: (thunks: readonly (() => Promise<unknown>)[]) => Promise.any(thunks.map((thunk) => thunk())),
  settled: (thunks: readonly (() => Promise<unknown>)[]) =>
    Promise.allSettled(thunks.map((thunk) => thunk())).then((all) => all.map(({ status }) => status)),
};

const INNER = 'inner';

function planOf(random: Random, depth: number, nested: boolean): Plan {
  const leaf = depth === 0 ? 1 : 0.35;
  if (random.chance(leaf)) {
    const at = random.next();
    if (at < 0.75) {
      const label = random.pick(['a', 'b', 'c']);
      return { does: 'agent', label, throws: random.chance(0.2), more: random.chance(0.15) };
    }
    if (at < 0.85) return { does: 'sleep', seconds: random.between(0, 90) };
    return { does: random.pick(['throw', 'notify'] as const) };
  }
  const inner = () => planOf(random, depth - 1, nested);
  const some = () => Array.from({ length: random.between(1, 3) }, inner);
  const at = random.next();
  if (at < 0.5) {
    const how = random.pick(['parallel', 'parallel', 'race', 'any', 'settled'] as const);
    return { does: 'all', how, of: some() };
  }
  if (at < 0.7) return { does: 'pipeline', items: random.between(1, 3), stages: some() };
  if (at < 0.85 || nested) return { does: 'then', first: inner(), next: inner() };
  return { does: 'inner', plan: planOf(random, depth - 1, true) };
}

/** The terms of a run whose plan is drawn. */
export function planWorkflow(random: Random, started_at: number): WorkflowTerms {
  const plan = planOf(random, 3, false);
  return {
    ...{ name: 'planned', description: 'a drawn plan', script: '', program: true },
    ...{ args: JSON.stringify(plan), seed: 'seed', started_at, calls: random.between(3, 20) },
  };
}

async function carryOut(plan: Plan, globals: WorkflowGlobals, index = 0): Promise<unknown> {
  const { agent, sleep, notify, pipeline, workflow, phase, log } = globals;
  switch (plan.does) {
    case 'agent': {
      const { label, throws, more } = plan;
      phase(`phase ${label}`);
      const options = {
        ...(more ? { continue: label } : { label }),
        ...(throws ? { onFailure: 'throw' as const } : {}),
      };
      const said = await agent(`work on ${label} ${index}`, options);
      log(`${label}: ${said}`);
      return said?.length ?? null;
    }
    case 'sleep':
      return sleep(plan.seconds);
    case 'notify':
      return notify('a word');
    case 'throw':
      throw new Error('planned');
    case 'all':
      return ALL[plan.how](
        plan.of.map((one, at) => () => carryOut(one, globals, at)),
        globals,
      );
    case 'pipeline': {
      const stages = plan.stages.map(
        (stage) => (_: unknown, __: unknown, at: number) => carryOut(stage, globals, at),
      );
      return (pipeline as (...given: unknown[]) => Promise<unknown>)(
        Array(plan.items).fill('item'),
        ...stages,
      );
    }
    case 'then': {
      const first = await carryOut(plan.first, globals).catch(() => 'thrown');
      return first === null ? first : carryOut(plan.next, globals);
    }
    case 'inner':
      return workflow(INNER, plan.plan);
  }
}

const carriedOut: WorkflowFunction = async (globals) => ({
  done: await carryOut(globals.args as Plan, globals).catch((error: unknown) => String(error)),
  failures: globals.agent.failures().length,
});

export function plannedModel(agent: Agent, terms: WorkflowTerms) {
  // One within another has no word of the program's function.
  return scriptModel(agent, { ...terms, program: true }, () => carriedOut);
}

/** What a simulated process runs planned workflows with. */
export const PLANNED_WORKFLOWS: NonNullable<RuntimeOptions['workflows']> = {
  modelOf: async (agent, terms) => plannedModel(agent, terms),
  load: async () => ({ name: INNER, description: 'a plan within a plan', script: '' }),
  ask: askPerson,
};
