import { isWorking } from '../../records/agent/state.ts';
import { statusWord } from '../../render/agent-status.ts';
import { paneOf, totalUsage, type UiState } from '../state/ui-state.ts';
import { runUserScript } from '../terminal/user-script.ts';

/** Minimum time between two starts of the script. */
const PAUSE_MS = 500;

/** The last line of the screen, filled by a command of the user's, which is run again when its input has changed. */
export class StatusScript {
  readonly #command: string;
  readonly #cwd: string;
  readonly #ended = new AbortController();
  #line: string | null = null;
  #told = '';
  #running = false;
  #started_at = 0;

  constructor(command: string, cwd: string) {
    this.#command = command;
    this.#cwd = cwd;
  }

  /** The line that the command printed last, null if none. `onChange` is called after each run, and when the pause before the next one is over. */
  line(state: UiState, onChange: () => void): string | null {
    const document = statusDocument(state, this.#cwd);
    const told = JSON.stringify(document);
    if (told === this.#told || this.#running || this.#ended.signal.aborted) return this.#line;
    if (state.now - this.#started_at < PAUSE_MS) {
      // Nothing else may cause another frame, so one is requested.
      this.#running = true;
      setTimeout(() => {
        this.#running = false;
        if (!this.#ended.signal.aborted) onChange();
      }, PAUSE_MS).unref();
      return this.#line;
    }
    [this.#told, this.#running, this.#started_at] = [told, true, state.now];
    void runUserScript(this.#command, document, this.#cwd, this.#ended.signal).then((line) => {
      this.#running = false;
      // After a failure the previous line would be stale.
      this.#line = line === '' ? null : line;
      if (!this.#ended.signal.aborted) onChange();
    });
    return this.#line;
  }

  close(): void {
    this.#ended.abort();
  }
}

/** The input of the command (docs/tui.md). */
export function statusDocument(state: UiState, cwd: string): object {
  const agents = [...state.agents.values()];
  const agent = state.view === null ? undefined : state.agents.get(state.view);
  const { input, output, cost_usd } = totalUsage(state);
  return {
    schema: 'coppice/status-line/v1',
    cwd,
    tree_id: state.root_id,
    agent:
      agent === undefined
        ? null
        : {
            id: agent.id,
            name: agent.name,
            status: statusWord(agent),
            model: agent.config.model,
            context_tokens: paneOf(state, agent.id).request_tokens,
          },
    agents: agents.length,
    working: agents.filter(({ state: { type } }) => isWorking(type)).length,
    approvals: state.asks.length,
    tokens: input + output,
    cost_usd,
    turn_began_at: state.turn === null ? null : new Date(state.turn.began_at).toISOString(),
  };
}
