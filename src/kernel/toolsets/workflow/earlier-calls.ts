import type { Agent } from '../../../records/agent/agent.ts';
import { nameOfTask } from '../../../records/agent/agent-name.ts';
import type { EarlierCall } from '../../../records/workflow/earlier-call.ts';
import type { Decision, Need, NeedAnswer, ToolsetTool, ToolsetView } from '../toolset.ts';

/** How a run takes results from an earlier one (docs/workflows.md#rerun). */

interface Asked {
  readonly key: string;
  readonly prompt: string;
  readonly label?: string | undefined;
  readonly phase?: string | null | undefined;
}

type EarlierNeed = Extract<Need, { type: 'earlier' }>;

/** What must be looked up for a call; null if the run takes no results, or this one is to be new. */
export function earlierNeed(
  { config }: Pick<Agent, 'config'>,
  { key, prompt, phase = null, ...asked }: Asked,
  { name = '', worktree = null }: Partial<Pick<EarlierNeed, 'worktree'> & EarlierNeed['call']> = {},
): EarlierNeed | null {
  const { run, fresh = [] } = config.workflow?.reuses ?? {};
  const label = asked.label ?? nameOfTask(prompt, null);
  if (run === undefined || fresh.includes(label) || (phase !== null && fresh.includes(phase))) return null;
  return { type: 'earlier', run, call: { key, name, label, phase }, worktree };
}

/** What the earlier run has; `answer` is null without one. */
export function earlierCall(
  need: Need | null,
  view: Pick<ToolsetView, 'answer'>,
): { readonly call: EarlierCall | null; readonly answer: NeedAnswer | null } {
  if (need === null) return { call: null, answer: null };
  const answer = view.answer(need);
  return { call: answer.ok ? (JSON.parse(answer.text) as EarlierCall | null) : null, answer };
}

/** Settles the call with the result of the earlier run. */
export function reused({ type: _, ...output }: Extract<EarlierCall, { type: 'value' }>): Decision {
  return { type: 'settle', output: JSON.stringify(output), consequences: [] };
}

/** A tool whose result, once an earlier run has it, is taken from there. */
export function reusable(tool: ToolsetTool): ToolsetTool {
  return {
    ...tool,
    needs: (input, _call, self) => (tool.fits(input) ? [earlierNeed(self, input as Asked) ?? []].flat() : []),
    decode(input, call, view) {
      const need = tool.fits(input) ? earlierNeed(view.self, input as Asked) : null;
      const earlier = earlierCall(need, view).call;
      return earlier?.type === 'value' ? reused(earlier) : tool.decode(input, call, view);
    },
  };
}
