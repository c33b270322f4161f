import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { ToolsetTerms } from '../../../kernel/toolsets/toolset-terms.ts';
import type { AgentConfig } from '../../../records/agent/agent.ts';
import type { FailureKind } from '../../../records/agent/failure.ts';
import type { Limits } from '../../../records/agent/limits.ts';
import type { AssistantPart } from '../../../records/conversation/message.ts';
import { jsonIn } from '../../../records/text/json-text.ts';
import { maskedText } from '../../../records/text/masked-text.ts';
import type { Tool, ToolResult } from '../../../records/tool.ts';
import { openRuntime } from '../../../runtime/open-runtime.ts';
import type { RuntimeEvent } from '../../../runtime/runtime-event.ts';
import type { RuntimeFace } from '../../../runtime/runtime-face.ts';
import { openEmptyStore } from '../../../store/sqlite/sqlite-store.ts';
import { FakeClock } from '../fake-clock.ts';
import { CaseStage } from './case-stage.ts';
import type { CaseStep, RecordedCase } from './recorded-case.ts';
import { differencesIn, SentTexts, type SentWhole } from './sent-text.ts';

/** What a replay takes from today: the configuration of the root, what its children get, and the tools, none of which is run. */
export interface ReplayTerms {
  readonly config: AgentConfig;
  readonly terms: Partial<ToolsetTerms>;
  readonly tools: readonly Tool[];
}

/** One way in which a replay differs from its case. */
export interface Divergence {
  /** Names from the root to the agent: `main/reader`. */
  readonly agent: string;
  /** Number of the agent's request, from 1. */
  readonly request: number;
  /** What differs: `system text`, `tool bash`, `message 3`, `order`, `reply`. */
  readonly what: string;
  readonly recorded: string;
  readonly now: string;
}

export interface Replayed {
  /** In the order in which they were met; each once, although later requests contain it, too. */
  readonly divergences: readonly Divergence[];
  /** Number of requests that were made. */
  readonly requests: number;
  /** The case as it is now: recorded answers and results, and what the models are sent today. */
  readonly replayed: RecordedCase;
}

/**
 * Runs a case again, without a provider and without acting on anything: models give the recorded answers, tools the recorded results, in the
 * recorded order and time. Prompts, descriptions of tools, profiles and the program are those of today.
 */
export async function replayCase(recorded: RecordedCase, today: ReplayTerms): Promise<Replayed> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'coppice-replay-')));
  const store = openEmptyStore('memory.db');
  const [stage, clock] = [new CaseStage(), new FakeClock()];
  const known = new Set(today.tools.map(({ spec }) => spec.name));
  const others = recorded.steps.flatMap((step) =>
    step.type === 'result' && step.status !== 'error' && !known.has(step.name) ? [step.name] : [],
  );
  const runtime = await openRuntime({
    ...{ store, clock, terms: today.terms, env_allow: [], spill_dir: join(folder, 'output') },
    openModel: async (name) => stage.model(name),
    tools: [...today.tools, ...[...new Set(others)].map(unknownTool)].map((tool) => stage.tool(tool)),
  });
  try {
    const config = { ...today.config, cwd: folder, permissions: ALLOWED };
    return await new Replay(recorded, runtime, stage, clock, [folder, today.config.cwd]).run(config);
  } finally {
    await runtime.close();
    await store.close();
    await rm(folder, { recursive: true, force: true });
  }
}

/** After such a silence (ms), the order is another one than was recorded. */
const LATE_MS = 300;

/** Nothing is run, so nothing is asked. */
const ALLOWED: AgentConfig['permissions'] = {
  cli: { allow: ['*'], ask: [], deny: [] },
  config: { allow: [], ask: [], deny: [] },
};

/** A tool that this program does not have, such as one of an MCP server: its recorded calls are answered. */
function unknownTool(name: string): Tool {
  return {
    spec: { name, description: 'Known from the recorded case only.', input: { type: 'object' } },
    permission: { name, default: 'allow', allowed: [], subject: 'text', bound_by: [] },
    ...{ side_by_side: true, idempotent: true },
    parse: (input) => ({ ok: true, input }),
    subject: (input) => JSON.stringify(input),
    run: async () => ({ status: 'error', output: '' }),
  };
}

class Replay {
  readonly #case: RecordedCase;
  readonly #runtime: RuntimeFace;
  readonly #stage: CaseStage;
  readonly #clock: FakeClock;
  readonly #folders: readonly string[];
  /** Ids of this run by place in the case. */
  readonly #ids: string[] = [];
  /** Number of children, answers and requests by agent of the case. */
  readonly #children: number[] = [];
  readonly #answers: number[] = [];
  readonly #requests: number[] = [];
  /** Calls that have a result, by agent and id. */
  readonly #ended = new Set<string>();
  readonly #divergences: Divergence[] = [];
  readonly #met = new Set<string>();
  readonly #was: SentTexts;
  readonly #is: SentTexts;

  constructor(
    recorded: RecordedCase,
    runtime: RuntimeFace,
    stage: CaseStage,
    clock: FakeClock,
    folders: readonly string[],
  ) {
    this.#case = recorded;
    this.#runtime = runtime;
    this.#stage = stage;
    this.#clock = clock;
    this.#folders = [...folders, recorded.root.cwd];
    this.#was = new SentTexts(this.#folders, recorded.texts);
    this.#is = new SentTexts(this.#folders);
  }

  async run(config: AgentConfig): Promise<Replayed> {
    const { root, steps, reply } = this.#case;
    const stop = this.#runtime.subscribe((event) => this.#see(event));
    const began = this.#clock.now();
    const { prompt, name } = root;
    // Its event comes before the call is over.
    const id = crypto.randomUUID();
    this.#ids.push(id);
    await this.#runtime.start({ id, prompt, name, config, limits: root.limits as Partial<Limits> });
    const done: CaseStep[] = [];
    const left = [...steps];
    for (let [first] = left; first !== undefined; [first] = left) {
      const gap_ms = first.at_ms - (done.at(-1)?.at_ms ?? 0);
      const now = await this.#next(left, first, [
        Math.max(0, began + first.at_ms - this.#clock.now()),
        gap_ms,
      ]);
      const played = await Promise.all(now.map((step) => this.#play(step)));
      if (played.includes(null)) break;
      for (const step of now) left.splice(left.indexOf(step), 1);
      done.push(...played.filter((step) => step !== null));
    }
    if (left.length === 0) await this.#end(reply);
    stop();
    const replayed = { ...this.#case, steps: done, texts: this.#is.texts };
    return {
      divergences: this.#divergences,
      requests: this.#requests.reduce((sum, number) => sum + number, 0),
      replayed,
    };
  }

  #see(event: RuntimeEvent): void {
    if (event.type === 'agent' && event.created) this.#created(event.agent.id, event.agent.parent_id);
    if (event.type === 'message') {
      const { kind, content } = event.message;
      const place = this.#ids.indexOf(event.agent_id);
      if (kind === 'result') this.#ended.add(`${place} ${content.call_id}`);
      if (kind === 'assistant' || (kind === 'event' && content.event === 'error'))
        this.#answers[place] = (this.#answers[place] ?? 0) + 1;
    }
    this.#stage.wake();
  }

  /** The next child of its parent. */
  #created(id: string, parent_id: string | null): void {
    const parent = parent_id === null ? -1 : this.#ids.indexOf(parent_id);
    if (parent < 0) return;
    const number = this.#children[parent] ?? 0;
    this.#children[parent] = number + 1;
    const places = this.#case.agents.flatMap((agent, place) => (agent.parent === parent ? [place] : []));
    const place = places[number];
    if (place !== undefined) this.#ids[place] = id;
  }

  /**
   * Steps that can happen now. Those of a round happen together where they can, the last one of each agent last: what agents are told of
   * them, they are told in one go, as they were. Time passes only if nothing comes without it, so that no time-out comes early; and once
   * more by the gap to the step before, for a timer that a busy machine had not set by then.
   */
  async #next(
    left: readonly CaseStep[],
    first: CaseStep,
    passes_ms: readonly [number, number],
  ): Promise<readonly CaseStep[]> {
    const later = left.findIndex(({ round }) => round > first.round);
    const together = left.slice(0, later < 0 ? left.length : later);
    const lastOf = new Map(together.map((step) => [step.agent, step]));
    const inRound = (all: boolean) => {
      const ready = this.#readyIn(together);
      const before = ready.filter((step) => lastOf.get(step.agent) !== step);
      if (before.length > 0) return before;
      return ready.length > 0 && (!all || ready.length === lastOf.size) ? ready : null;
    };
    for (const ms of [0, ...passes_ms]) {
      this.#clock.pass(ms);
      const ready = (await this.#stage.until(() => inRound(true), LATE_MS)) ?? inRound(false);
      if (ready !== null) return ready;
    }
    const another = () => this.#readyIn(left).slice(0, 1);
    return (await this.#stage.until(() => (another().length > 0 ? another() : null))) ?? [first];
  }

  /** Of each agent the next step, if it can happen now. */
  #readyIn(steps: readonly CaseStep[]): CaseStep[] {
    const seen = new Set<number>();
    return steps.filter((step) => {
      const is_next = !seen.has(step.agent);
      seen.add(step.agent);
      return is_next && this.#isReady(step);
    });
  }

  #isReady(step: CaseStep): boolean {
    const id = this.#ids[step.agent];
    if (id === undefined) return false;
    if (step.type === 'answer' || step.type === 'failure') return this.#stage.requests.has(id);
    if (step.type !== 'result') return true;
    return this.#ended.has(`${step.agent} ${step.call_id}`) || this.#callOf(step, id) !== undefined;
  }

  #callOf({ name, input }: Extract<CaseStep, { type: 'result' }>, id: string) {
    const wanted = jsonIn(this.#translated(input));
    const fit = [...this.#stage.calls].filter((one) => one.agent_id === id && one.name === name);
    return fit.find((one) => isDeepStrictEqual(one.input, wanted)) ?? fit[0];
  }

  /** Lets one recorded step happen; resolves to it as it is now, or to null if it does not come. */
  async #play(step: CaseStep): Promise<CaseStep | null> {
    const id = this.#ids[step.agent] ?? '';
    switch (step.type) {
      case 'answer':
      case 'failure':
        return this.#answer(step, id);
      case 'result':
        return this.#result(step, id);
      case 'letter':
        await this.#runtime.send(id, this.#translated(step.text));
        return step;
      case 'kill':
        await this.#runtime.kill(id);
        return step;
      case 'retry':
        await this.#runtime.retry(id);
        return step;
    }
  }

  async #answer(
    step: Extract<CaseStep, { type: 'answer' | 'failure' }>,
    id: string,
  ): Promise<CaseStep | null> {
    const number = (this.#requests[step.agent] ?? 0) + 1;
    const asked = this.#stage.requests.get(id) ?? null;
    if (asked === null) {
      this.#diverge(step.agent, number, 'order', 'the model is asked', this.#instead());
      return null;
    }
    this.#requests[step.agent] = number;
    const sent = this.#is.add(asked.request);
    const now = this.#is.whole(id, sent);
    if (step.sent !== undefined) this.#compare(step.agent, number, this.#was.whole(id, step.sent), now);
    const before = this.#answers[step.agent] ?? 0;
    const { request, end } = asked;
    const [kind, retryable] = [step.type === 'failure' ? (step.kind as FailureKind) : null, true];
    if (step.type === 'failure' && kind !== null)
      end({ type: 'failure', failure: { kind, error: step.error, retryable } });
    else if (step.type === 'answer') {
      const parts = step.parts.map((part) => this.#translatedPart(part));
      const model = this.#case.root.model;
      const calls = parts.some(({ type }) => type === 'call');
      const usage = { ...step.usage, reasoning: 0, cost_usd: null };
      end({
        ...{ type: 'answer', content: { model, parts }, usage },
        finish: step.finish ?? (calls ? 'calls' : 'stop'),
      });
    }
    const heard = await this.#stage.until(() => ((this.#answers[step.agent] ?? 0) > before ? true : null));
    if (heard === null && !request.signal.aborted) {
      this.#diverge(step.agent, number, 'order', 'the answer is taken', this.#instead());
      return null;
    }
    return { ...step, sent };
  }

  async #result(step: Extract<CaseStep, { type: 'result' }>, id: string): Promise<CaseStep | null> {
    const { call_id, name, status, output } = step;
    const key = `${step.agent} ${call_id}`;
    const found = this.#ended.has(key) ? 'ended' : (this.#callOf(step, id) ?? null);
    if (found === null) {
      const number = this.#requests[step.agent] ?? 0;
      this.#diverge(step.agent, number, 'order', `${name} ${step.input} is called`, this.#instead());
      return null;
    }
    if (found === 'ended') return step;
    found.end(resultOf(name, status, this.#translated(output)));
    await this.#stage.until(() => (this.#ended.has(key) ? true : null));
    return step;
  }

  /** After the last step. */
  async #end(reply: string): Promise<void> {
    let now: string | null = null;
    const settled = this.#runtime.settled(this.#ids[0] ?? '').then((outcome) => {
      now = outcome.reply;
      this.#stage.wake();
    });
    settled.catch(() => undefined);
    const more = () => this.#stage.requests.size + this.#stage.calls.size > 0;
    await this.#stage.until(() => (now !== null || more() ? true : null));
    const number = this.#requests[0] ?? 0;
    const masked = (text: string) => maskedText(text, this.#folders);
    if (now === null) this.#diverge(0, number, 'order', 'the run ends', this.#instead());
    else if (masked(now) !== masked(this.#translated(reply))) this.#diverge(0, number, 'reply', reply, now);
  }

  #compare(agent: number, number: number, was: SentWhole, now: SentWhole): void {
    for (const { what, recorded, now: text } of differencesIn(was, now)) {
      const key = `${what.startsWith('message') ? agent : ''} ${what} ${text.length}`;
      if (!this.#met.has(key)) this.#diverge(agent, number, what, recorded, text);
      this.#met.add(key);
    }
  }

  #diverge(agent: number, request: number, what: string, recorded: string, now: string): void {
    this.#divergences.push({ agent: this.#path(agent), request, what, recorded, now });
  }

  #path(place: number): string {
    const { name = '', parent = null } = this.#case.agents[place] ?? {};
    return parent === null ? name : `${this.#path(parent)}/${name}`;
  }

  /** What waits on the stage. */
  #instead(): string {
    const nameOf = (id: string) => {
      const place = this.#ids.indexOf(id);
      return place < 0 ? 'a new agent' : this.#path(place);
    };
    const waiting = [
      ...[...this.#stage.requests.keys()].map((id) => `${nameOf(id)} asks its model`),
      ...[...this.#stage.calls].map(
        ({ agent_id, name, input }) => `${nameOf(agent_id)} calls ${name} ${JSON.stringify(input)}`,
      ),
    ];
    return waiting.length === 0 ? 'nothing more happens' : waiting.join('\n');
  }

  #translatedPart(part: AssistantPart): AssistantPart {
    if (part.type !== 'call') return { ...part, text: this.#translated(part.text) };
    const { read: _, ...call } = part;
    return { ...call, input: this.#translated(call.input) };
  }

  /** The text with the ids of this run, whole or as people shorten them. */
  #translated(text: string): string {
    let now = text;
    for (const [place, { id }] of this.#case.agents.entries()) {
      const is = this.#ids[place];
      if (is === undefined) continue;
      now = now.replaceAll(id, is).replaceAll(new RegExp(`\\b${id.slice(0, 8)}\\b`, 'g'), is.slice(0, 8));
    }
    return now;
  }
}

function resultOf(name: string, status: string, output: string): ToolResult {
  if (status === 'cancelled') return { status, output };
  // The evidence that a profile requires is a command that succeeded.
  const ok = status === 'ok';
  return { status: ok ? status : 'error', output, ...(name === 'bash' ? { exit_code: ok ? 0 : 1 } : {}) };
}
