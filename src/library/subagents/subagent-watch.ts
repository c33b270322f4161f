import { type Agent, isAgentProgram } from '../../records/agent/agent.ts';
import type { Failure } from '../../records/agent/failure.ts';
import { interruptionOf, isTerminal, isWorking } from '../../records/agent/state.ts';
import { cutShort } from '../../records/conversation/child-text.ts';
import type { PlacedMessage, ResultContent } from '../../records/conversation/message.ts';
import { CoppiceError } from '../../records/coppice-error.ts';
import { parsedObject } from '../../records/text/json-text.ts';
import type { RuntimeEvent } from '../../runtime/runtime-event.ts';
import { warnOfCallback } from '../engine.ts';
import type { SubagentCallbacks, SubagentInfo } from './subagent-options.ts';

interface OpenCall {
  readonly id: string;
  readonly name: string;
  /** Raw JSON text. */
  readonly input: string;
}

/** One sub-agent between its start and its end. */
interface Watched {
  turns: number;
  /** Calls of its newest answer that have no result yet. */
  readonly calls: Map<string, OpenCall>;
  readonly begun: Set<string>;
}

/** Calls the callbacks of sub-agents on events of the runtime. Events after the end of a sub-agent are dropped. */
export class SubagentWatch {
  readonly #callbacks: SubagentCallbacks;
  readonly #open = new Map<string, Watched>();
  /** Roots that rest after their task; if mail wakes one later, this is not reported as a new start. */
  readonly #rested = new Set<string>();

  constructor(callbacks: SubagentCallbacks) {
    this.#callbacks = callbacks;
  }

  see(event: RuntimeEvent): void {
    switch (event.type) {
      case 'agent':
        if (event.agent.config.task?.kind === 'delegate') this.#agent(event.agent);
        return;
      case 'message':
        this.#message(event.agent_id, event.message);
        return;
      case 'delta':
        if (event.delta.type === 'text' && this.#open.has(event.agent_id))
          this.#tell('onSubagentStreamDelta', event.agent_id, event.delta.text);
        return;
    }
  }

  /** Reports an error with the code `E_CLOSED` for every sub-agent that has not ended. */
  close(): void {
    for (const id of [...this.#open.keys()]) {
      this.#open.delete(id);
      const hint = 'It continues when its tree is resumed';
      this.#tell('onSubagentError', id, new CoppiceError('E_CLOSED', 'the coppice was closed', { hint }));
    }
  }

  #agent(agent: Agent): void {
    const { id, state } = agent;
    const watched = this.#open.get(id) ?? this.#start(agent);
    if (watched === null) return;
    if (state.type === 'executing') {
      for (const { call } of state.running) this.#begin(id, watched, call);
    }
    if (!isWorking(state.type)) this.#end(agent, watched);
  }

  #start(agent: Agent): Watched | null {
    const { id, state, config } = agent;
    if (!isWorking(state.type) || this.#rested.has(id)) return null;
    // An agent taken over from the ledger may have answered before, and may have calls left.
    const calls =
      state.type === 'executing' ? [...state.running.map(({ call }) => call), ...state.queued] : [];
    const watched: Watched = {
      turns: 'turn' in state ? state.turn.requests : 0,
      calls: new Map(calls.map((call) => [call.id, call])),
      begun: new Set(),
    };
    this.#open.set(id, watched);
    const info: SubagentInfo = { id, description: config.task?.label ?? agent.name, mode: modeOf(agent) };
    this.#tell('onSubagentStart', Object.freeze(info));
    return watched;
  }

  #message(id: string, message: PlacedMessage): void {
    const watched = this.#open.get(id);
    if (watched === undefined) return;
    if (message.kind === 'assistant') {
      watched.turns += 1;
      watched.calls.clear();
      watched.begun.clear();
      for (const part of message.content.parts)
        if (part.type === 'call') watched.calls.set(part.id, { ...part, ...part.read });
    }
    if (message.kind === 'result') this.#settled(id, watched, message.content);
  }

  #settled(id: string, watched: Watched, result: ResultContent): void {
    const call = watched.calls.get(result.call_id);
    if (call === undefined) return;
    // Some calls have their result before any event shows them running.
    this.#begin(id, watched, call);
    watched.calls.delete(call.id);
    const { name, output, status } = result;
    const told = { id: call.id, name, output, isError: status !== 'ok' };
    this.#tell('onSubagentToolCallEnd', id, Object.freeze(told));
  }

  #begin(id: string, watched: Watched, call: OpenCall): void {
    if (watched.begun.has(call.id)) return;
    watched.begun.add(call.id);
    if (this.#callbacks.onSubagentToolCallStart === undefined) return;
    const told = { id: call.id, name: call.name, arguments: parsedObject(call.input) ?? {} };
    this.#tell('onSubagentToolCallStart', id, Object.freeze(told));
  }

  #end(agent: Agent, { turns }: Watched): void {
    const { id, created_at, ended_at, updated_at } = agent;
    this.#open.delete(id);
    if (!isTerminal(agent.state.type)) this.#rested.add(id);
    const end = endOf(agent);
    if (typeof end === 'string') {
      const limit = cutShort(agent.state);
      const result = {
        text: end,
        ...(limit === null ? {} : { limit }),
        turns,
        durationMs: (ended_at ?? updated_at) - created_at,
      };
      this.#tell('onSubagentComplete', id, Object.freeze(result));
    } else this.#tell('onSubagentError', id, new Error(end.error, { cause: end }));
  }

  #tell<Name extends keyof SubagentCallbacks>(
    name: Name,
    ...told: Parameters<NonNullable<SubagentCallbacks[Name]>>
  ): void {
    try {
      // Looked up for each event and called on its object: a program may replace a callback, or pass an instance of a class.
      const callbacks = this.#callbacks as Readonly<
        Record<string, ((...told: unknown[]) => unknown) | undefined>
      >;
      if (callbacks[name] !== undefined)
        Promise.resolve(callbacks[name](...told)).catch((error: unknown) => warnOfCallback(name, error));
    } catch (error) {
      warnOfCallback(name, error);
    }
  }
}

/** `subagent_delegate` creates agents of another program that answer once and have no toolset. */
function modeOf({ config }: Agent): SubagentInfo['mode'] {
  const once = config.turns === 1 && config.toolsets.length === 0;
  return once && isAgentProgram(config.model) ? 'delegate' : 'spawn';
}

/** The final text, or the failure. */
function endOf({ state, reply }: Agent): string | Failure {
  if (state.type === 'completed') return state.result;
  return interruptionOf(state) ?? reply ?? '';
}
