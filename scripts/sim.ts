import { parseArgs } from 'node:util';
import { FAULTS, type Fault } from '../test/sim/faults.ts';
import { PROMPT_KINDS, type PromptKind } from '../test/sim/promptness.ts';
import { type SimReport, simulate } from '../test/sim/simulate.ts';

/**
 * `npm run sim -- --seeds 200 --from 1`: runs the seeded simulation with many seeds. `--seed N --trace` shows everything that happens with one seed.
 * `--prompt`: there are no delays, and every wait must end promptly. `--tasks`: agents also share a task list. `--asks`: people are asked about calls that
 * create agents. `--workflows`: trees may be workflow runs, and people start, pause, stop and skip. `--pauses`: the provider takes no requests now and
 * then, while processes die and start again.
 */
const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '200' },
    from: { type: 'string', default: '1' },
    seed: { type: 'string' },
    trace: { type: 'boolean', default: false },
    prompt: { type: 'boolean', default: false },
    tasks: { type: 'boolean', default: false },
    asks: { type: 'boolean', default: false },
    workflows: { type: 'boolean', default: false },
    pauses: { type: 'boolean', default: false },
  },
});
const first = Number(values.seed ?? values.from);
const count = values.seed === undefined ? Number(values.seeds) : 1;
if (!Number.isSafeInteger(first) || !Number.isSafeInteger(count) || count < 1) {
  console.error(
    'usage: npm run sim -- [--seeds COUNT] [--from SEED] [--prompt] [--tasks] [--asks] [--workflows] [--pauses] | --seed SEED [--prompt] [--tasks] [--asks] [--workflows] [--pauses] [--trace]',
  );
  process.exit(2);
}

const totals = { virtual_ms: 0, agents: 0, steps: 0, answers: 0, stale_epochs: 0 };
const workflows = { runs: 0, agents: 0, replayed: 0 };
const prompt_ends = new Map<PromptKind, number>();
const faults = new Map<Fault, number>();
const pauses = { closed: 0, refused: 0, parked: 0 };
let failing = 0;
const started_at = performance.now();
for (let seed = first; seed < first + count; seed += 1) {
  const report = await simulate(seed, {
    prompt: values.prompt,
    tasks: values.tasks,
    asks: values.asks,
    workflows: values.workflows,
    pauses: values.pauses,
    ...(values.trace ? { show: (line: string) => console.log(line) } : {}),
  });
  for (const name of Object.keys(totals) as (keyof typeof totals)[]) totals[name] += report[name];
  for (const name of ['runs', 'agents', 'replayed'] as const) workflows[name] += report.workflows[name];
  for (const name of Object.keys(pauses) as (keyof typeof pauses)[])
    pauses[name] += report.pauses?.[name] ?? 0;
  for (const [fault, times] of report.faults) faults.set(fault, (faults.get(fault) ?? 0) + times);
  for (const [kind, times] of report.prompt_ends) prompt_ends.set(kind, (prompt_ends.get(kind) ?? 0) + times);
  if (report.failures.length > 0) {
    failing += 1;
    tell(report);
  } else if (count === 1) console.log(`seed ${seed} keeps every law; hash ${report.hash}`);
}
summarize();
process.exit(failing === 0 ? 0 : 1);

function tell({ seed, hash, failures }: SimReport): void {
  console.log(
    `seed ${seed} fails, hash ${hash}; again: npm run sim -- --seed ${seed}${values.prompt ? ' --prompt' : ''}${values.tasks ? ' --tasks' : ''}${values.asks ? ' --asks' : ''}${values.workflows ? ' --workflows' : ''}${values.pauses ? ' --pauses' : ''} --trace`,
  );
  for (const failure of failures.slice(0, 5))
    console.log(`    ${failure.split('\n').slice(0, 4).join('\n      ')}`);
}

function summarize(): void {
  const { virtual_ms, agents, steps, answers, stale_epochs } = totals;
  const seconds = ((performance.now() - started_at) / 1_000).toFixed(1);
  console.log(
    `${count} seeds in ${seconds} s, ${failing} failing: ${(virtual_ms / 3_600_000).toFixed(1)} virtual hours, ${agents} agents, ${steps} steps, ${answers} model answers, ${stale_epochs} steps with a stale epoch refused`,
  );
  if (values.workflows)
    console.log(
      `${workflows.runs} workflow runs with ${workflows.agents} agents; ${workflows.replayed} of their answers replayed`,
    );
  if (values.pauses)
    console.log(`the provider closed ${pauses.closed} times and refused ${pauses.refused} requests`);
  if (values.prompt)
    console.log(
      `went on promptly: ${PROMPT_KINDS.map((kind) => `${kind} ${prompt_ends.get(kind) ?? 0}`).join(', ')}`,
    );
  for (const fault of Object.keys(FAULTS) as Fault[])
    console.log(`  ${String(faults.get(fault) ?? 0).padStart(7)}  ${fault.padEnd(20)} ${FAULTS[fault]}`);
}
