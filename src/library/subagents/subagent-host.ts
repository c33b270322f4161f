import { programOf } from '../../kernel/toolsets/acts/delegate-input.ts';
import type { ToolsetTerms } from '../../kernel/toolsets/toolset-terms.ts';
import type { AgentConfig } from '../../records/agent/agent.ts';
import { nameOfTask } from '../../records/agent/agent-name.ts';
import type { Limits } from '../../records/agent/limits.ts';
import { taskTerms } from '../../records/agent/task-terms.ts';
import { cutShort, resultText } from '../../records/conversation/child-text.ts';
import { CoppiceError } from '../../records/coppice-error.ts';
import type { RuntimeFace } from '../../runtime/runtime-face.ts';

/** A task that a program gives to a sub-agent directly, without a parent agent. */
export type HostTask = { readonly task: string; readonly description: string } & (
  | { readonly type: 'spawn'; readonly turns: number; readonly system: string | null }
  | {
      readonly type: 'delegate';
      readonly serverName?: string | null | undefined;
      readonly agentId?: string | null | undefined;
    }
);

/** The open coppice behind a registry. */
export interface SubagentHost {
  /** Working folder of tools that the program calls itself. */
  readonly cwd: string;
  /** Resolves to the final text; rejects if there is none. */
  run(task: HostTask): Promise<string>;
}

export interface SubagentHostOptions {
  readonly runtime: RuntimeFace;
  readonly delegation: ToolsetTerms['delegation'];
  /** Default configuration of an agent of this coppice. */
  readonly config: AgentConfig;
  readonly limits: Partial<Limits>;
}

/** Runs the tasks as roots, at the first level of delegation, as if an agent had asked for them. */
export function subagentHost({ runtime, delegation, config, limits }: SubagentHostOptions): SubagentHost {
  return {
    cwd: config.cwd,
    async run(asked) {
      const terms = taskTerms({ kind: 'delegate', label: asked.description.trim(), delegation: 1 });
      const started = await runtime.start({
        prompt: asked.task,
        name: nameOfTask(asked.task, asked.description),
        config: { ...config, ...ownPart(asked, delegation), task: terms },
        limits,
      });
      const { root, reply, failure } = await runtime.settled(started.id, 'root');
      if (failure?.kind === 'interrupted') throw new Error('the sub-agent was interrupted');
      if (failure !== null) throw new Error(`the sub-agent failed (${failure.kind}): ${failure.error}`);
      return resultText(reply, cutShort(root.state));
    },
  };
}

function ownPart(asked: HostTask, delegation: ToolsetTerms['delegation']): Partial<AgentConfig> {
  if (asked.type === 'spawn')
    return {
      toolsets: ['delegate'],
      turns: asked.turns,
      ...(asked.system === null ? {} : { system: asked.system }),
    };
  const program = programOf(asked, { delegation });
  if (!program.ok) throw new CoppiceError('E_MODEL_UNKNOWN', program.error);
  return { model: program.model, system: '', toolsets: [], turns: 1 };
}
