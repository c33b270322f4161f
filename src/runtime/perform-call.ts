import { distance } from 'fastest-levenshtein';
import type { AgentConfig } from '../core/agent.ts';
import type { ResultContent } from '../core/message.ts';
import type { Call } from '../core/state.ts';
import { storable } from '../core/text.ts';
import { decide, type Policy } from '../tools/permission-policy.ts';
import { permissionSubject } from '../tools/permission-subject.ts';
import type { Tool, ToolResult } from '../tools/tool.ts';
import { policyOf } from './agent-policy.ts';
import type { Cell } from './cell.ts';
import type { Executor } from './executor.ts';
import { parseCallInput } from './parse-call-input.ts';
import { policyRefusal } from './policy-refusal.ts';
import type { RuntimeEvent } from './runtime-event.ts';
import type { Workbench } from './workbench.ts';

export interface CallSurroundings {
  readonly executor: Executor;
  readonly workbench: Workbench;
  readonly spill_dir: string;
  readonly env_allow: readonly string[];
  readonly emit: (event: RuntimeEvent) => void;
}

type Settled = Pick<ResultContent, 'status' | 'output' | 'images'>;

/** Runs one call of a tool and brings its result back as an event. Never throws. */
export async function performCall(cell: Cell, call: Call, around: CallSurroundings): Promise<void> {
  const controller = new AbortController();
  cell.calls.set(call.id, controller);
  const settled = await runCall(cell, call, controller.signal, around).catch(
    (error: unknown): Settled => ({
      status: 'error',
      output: `${call.name} failed: ${error instanceof Error ? error.message : String(error)}`,
    }),
  );
  if (cell.calls.get(call.id) !== controller || cell.gone) return;
  cell.calls.delete(call.id);
  const result: ResultContent = {
    call_id: call.id,
    name: call.name,
    ...settled,
    output: storable(settled.output),
  };
  around.executor.happened(cell, {
    type: 'call-settled',
    at: Date.now(),
    result,
    consequences: [],
    spawned: [],
  });
}

async function runCall(
  cell: Cell,
  call: Call,
  signal: AbortSignal,
  around: CallSurroundings,
): Promise<Settled> {
  const { agent } = cell;
  const bench = around.workbench.bench(agent.config);
  const tool = bench.tools.get(call.name);
  if (tool === undefined)
    return {
      status: 'error',
      output: unknownTool(
        call.name,
        bench.specs.map((spec) => spec.name),
      ),
    };
  const json = parseCallInput(call);
  if (!json.ok) return { status: 'error', output: json.error };
  const parsed = tool.parse(json.input);
  if (!parsed.ok) return { status: 'error', output: `${call.name}: ${parsed.error}` };
  const policy = policyOf(agent.config);
  const refusal = refusalOf(tool, parsed.input, agent.config, policy);
  if (refusal !== null) return { status: 'denied', output: refusal };
  return tool.run(parsed.input, {
    cwd: agent.config.cwd,
    spill_dir: around.spill_dir,
    signal,
    agent: { id: agent.id, name: agent.name },
    env_allow: around.env_allow,
    denied: (name, path) => {
      const { verdict, rule } = decide(policy, name, path);
      return verdict === 'deny' ? rule : undefined;
    },
    onOutput: (text) => around.emit({ type: 'output', agent_id: agent.id, call_id: call.id, text }),
  }) satisfies Promise<ToolResult>;
}

function unknownTool(name: string, known: readonly string[]): string {
  const [nearest] = [...known].sort((a, b) => distance(a, name) - distance(b, name));
  const hint = nearest !== undefined && distance(nearest, name) <= 3 ? ` Did you mean ${nearest}?` : '';
  return `there is no tool "${name}".${hint} Tools: ${known.join(', ')}.`;
}

function refusalOf(tool: Tool, input: unknown, config: AgentConfig, policy: Policy): string | null {
  return policyRefusal(policy, tool.spec.name, permissionSubject(tool, input, config.cwd));
}
