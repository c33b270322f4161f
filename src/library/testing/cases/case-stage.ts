import type { Model, ModelOutcome, ModelRequest } from '../../../models/model.ts';
import type { Tool, ToolResult } from '../../../records/tool.ts';

/** Nothing comes after such a silence (ms), however busy the machine is. */
const SILENCE_MS = 3_000;

interface StagedCall {
  readonly agent_id: string;
  readonly name: string;
  readonly input: unknown;
  readonly end: (result: ToolResult) => void;
}

/** The provider and the tools of a replay: holds every request and every call until it is told the outcome. */
export class CaseStage {
  /** Requests that wait for their answer, by agent. */
  readonly requests = new Map<
    string,
    { readonly request: ModelRequest; readonly end: (outcome: ModelOutcome) => void }
  >();
  readonly calls = new Set<StagedCall>();
  #wakes: (() => void)[] = [];

  /** Something has happened. */
  wake(): void {
    const wakes = this.#wakes;
    this.#wakes = [];
    for (const wake of wakes) wake();
  }

  /** Resolves to the first value that is not null; to null once nothing has happened for so long (ms). */
  async until<T>(look: () => T | null, silence_ms = SILENCE_MS): Promise<T | null> {
    for (;;) {
      const found = look();
      if (found !== null) return found;
      let timer: NodeJS.Timeout | undefined;
      const silent = await new Promise<boolean>((resolve) => {
        timer = setTimeout(() => resolve(true), silence_ms);
        this.#wakes.push(() => resolve(false));
      });
      clearTimeout(timer);
      if (silent) return look();
    }
  }

  model(id: string): Model {
    return {
      ...{ id, context_window: null, tells_cost: true, is_free: true },
      stream: (request) =>
        new Promise((resolve) => {
          const end = (outcome: ModelOutcome) => {
            this.requests.delete(request.agent.id);
            request.signal.removeEventListener('abort', aborted);
            resolve(outcome);
          };
          const aborted = () => end({ type: 'aborted' });
          this.requests.set(request.agent.id, { request, end });
          request.signal.addEventListener('abort', aborted);
          if (request.signal.aborted) aborted();
          this.wake();
        }),
    };
  }

  /** The tool as models see it; its calls do nothing. */
  tool(tool: Tool): Tool {
    const { refusal: _, difference: __, stands_for: ___, ...seen } = tool;
    return {
      ...seen,
      parse(input) {
        const parsed = tool.parse(input);
        return parsed.ok ? { ok: true, input: { input, parsed: parsed.input } } : parsed;
      },
      subject: (input, cwd) => tool.subject((input as { readonly parsed: unknown }).parsed, cwd),
      run: (given, { agent, signal }) =>
        new Promise((resolve) => {
          const { input } = given as { readonly input: unknown };
          const end = (result: ToolResult) => {
            this.calls.delete(call);
            signal.removeEventListener('abort', aborted);
            resolve(result);
          };
          const aborted = () => end({ status: 'cancelled', output: '' });
          const call: StagedCall = { agent_id: agent.id, name: tool.spec.name, input, end };
          this.calls.add(call);
          signal.addEventListener('abort', aborted);
          if (signal.aborted) aborted();
          this.wake();
        }),
    };
  }
}
