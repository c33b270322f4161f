import type { Agent } from '../../records/agent/agent.ts';
import { failureOf } from '../../records/agent/state.ts';
import { CoppiceError } from '../../records/coppice-error.ts';
import { outcomeOf } from '../../records/run/outcome.ts';
import { count } from '../../render/amounts.ts';
import { clean } from '../../render/clean.ts';
import { findAgentOrRoot } from '../agents/find-agent.ts';
import { ask } from '../setup/ask-server.ts';
import type { Context } from '../setup/context.ts';
import { printResult } from '../setup/output.ts';

/** `coppice workflow show RUN`: its agents by phase, failures first. */
export async function workflowShow(context: Context, text: string): Promise<number> {
  const id = await ask(context, (asked) => findAgentOrRoot(context, asked, text));
  const store = await context.openStore();
  try {
    const run = await store.agent(id);
    if (run?.config.workflow === undefined)
      throw new CoppiceError('E_INVALID_ARGUMENT', `${text} is not a workflow run`, {
        hint: 'Runs are agents: coppice ps --all lists them',
      });
    const { name, description } = run.config.workflow;
    const agents = (await store.agents({ root_id: run.root_id })).filter(({ parent_id }) => parent_id === id);
    const rows = agents.map(rowOf).sort((a, b) => Number(b.error !== null) - Number(a.error !== null));
    const phases = [...Map.groupBy(rows, ({ phase }) => phase)].map(([title, inside]) => ({
      title,
      ...{ agents: inside.length, done: inside.filter(({ outcome }) => outcome === 'done').length },
      ...{ failed: inside.filter(({ error }) => error !== null).length },
      tokens: inside.reduce((sum, { tokens }) => sum + tokens, 0),
      cost_usd: inside.reduce((sum, { cost_usd }) => sum + cost_usd, 0),
    }));
    const own = outcomeOf(run);
    const document = {
      ...{ schema: 'coppice/workflow-run/v1', id, name, description, ...own },
      ...{ phases, agents: rows },
    };
    return printResult(context, document, () => [
      `${clean(name)}: ${clean(own.outcome_text)}`,
      ...phases.map(
        (one) =>
          `  ${clean(one.title ?? '(no phase)')}  ${one.done}/${one.agents}${one.failed > 0 ? `, ${one.failed} failed` : ''}  ${count(one.tokens)} tokens${one.cost_usd > 0 ? `, $${one.cost_usd.toFixed(4)}` : ''}`,
      ),
      ...rows
        .filter(({ error, outcome }) => error !== null || outcome !== 'done')
        .map(
          ({ id: agent, label, outcome_text }) =>
            `  ${agent.slice(0, 8)}  ${clean(label)}  ${clean(outcome_text)}`,
        ),
    ]);
  } finally {
    await store.close();
  }
}

function rowOf(agent: Agent) {
  const { id, name, config, usage, state } = agent;
  return {
    ...{ id, label: config.task?.label ?? name, phase: config.task?.workflow?.phase ?? null },
    ...outcomeOf(agent),
    ...{ error: failureOf(state)?.error ?? null, tokens: usage.input + usage.output },
    cost_usd: usage.cost_usd ?? 0,
  };
}
