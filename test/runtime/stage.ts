import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ALL_TOOLSETS } from '../../src/kernel/toolsets/all-toolsets.ts';
import type { Toolset } from '../../src/kernel/toolsets/toolset.ts';
import type { ToolsetTerms } from '../../src/kernel/toolsets/toolset-terms.ts';
import type { Model, ModelRequest } from '../../src/models/model.ts';
import type { Agent, AgentConfig } from '../../src/records/agent/agent.ts';
import type { Limits } from '../../src/records/agent/limits.ts';
import type { AssistantPart, ResultContent } from '../../src/records/conversation/message.ts';
import { CoppiceError } from '../../src/records/coppice-error.ts';
import type { Tool } from '../../src/records/tool.ts';
import { openRuntime } from '../../src/runtime/open-runtime.ts';
import type { RuntimeClock } from '../../src/runtime/runtime-clock.ts';
import type { RuntimeEvent } from '../../src/runtime/runtime-event.ts';
import type { RuntimeFace, TreeOutcome } from '../../src/runtime/runtime-face.ts';
import type { RuntimeOptions } from '../../src/runtime/runtime-options.ts';
import { createModelHost } from '../../src/settings/agent-program-host.ts';
import { openStore } from '../../src/store/open-store.ts';
import type { Store } from '../../src/store/store.ts';
import { closeLater } from '../close-opened.ts';
import { newLedger } from '../store/new-ledger.ts';
import { unframed } from '../unframed.ts';
import { NO_POLLS, WITHOUT_POLLS } from './no-polls.ts';

/** What an agent's model sees of the agent's own part of the conversation. */
export interface Scene {
  readonly name: string;
  readonly id: string;
  readonly parent_id: string;
  /** Answers given so far. */
  readonly step: number;
  /** Results of the newest round of calls. */
  readonly last: readonly ResultContent[];
  /** Every result so far, oldest first. */
  readonly results: readonly ResultContent[];
  /** The newest user message. */
  readonly user: string;
  readonly request: ModelRequest;
}

/** An answer that its model did not complete. */
export interface Broken {
  readonly text: string;
  readonly finish: 'length' | 'refused';
  readonly reason?: string;
}

/** A text ends the turn; calls are `[name, input]`; an `input` that is a string is sent unchanged, other values as JSON. */
export type Line = string | readonly (readonly [string, unknown])[] | Broken;
export type Play = (scene: Scene) => Line | Promise<Line>;

export interface Stage {
  readonly store: Store;
  readonly runtime: RuntimeFace;
  readonly requests: ModelRequest[];
  readonly events: RuntimeEvent[];
  start(prompt?: string, limits?: Partial<Limits>): Promise<Agent>;
  /** Starts a tree and waits until it is settled. */
  perform(prompt?: string, limits?: Partial<Limits>): Promise<TreeOutcome>;
  agent(name: string): Promise<Agent>;
  /** Results of one agent's own calls, in the order of the calls. */
  results(agent: Agent): Promise<ResultContent[]>;
  /** A second connection, as another process would have: SQLite sends no hint for what its own connection wrote. */
  elsewhere(): Promise<Store>;
  /** Closes the runtime and opens another one on the same ledger. */
  reopen(play?: Play, more?: Partial<StageOptions>): Promise<Stage>;
  /** Closes the stage before the end of the test. */
  close(): Promise<void>;
}

const ALL = { allow: ['*'], ask: [], deny: [] };
const NONE = { allow: [], ask: [], deny: [] };
let calls = 0;

export interface StageOptions {
  readonly tools?: readonly Tool[];
  /** Default: a new SQLite file. */
  readonly database?: string | undefined;
  /** MCP servers. */
  readonly openServers?: RuntimeOptions['openServers'];
  /** In addition to the built-in ones. */
  readonly more_toolsets?: readonly Toolset[];
  /** Default `process`. */
  readonly toolsets?: readonly string[];
  readonly terms?: Partial<ToolsetTerms>;
  /** Part of the root's configuration. */
  readonly config?: Partial<AgentConfig>;
  /** Models by name that are not driven by the play. */
  readonly models?: Readonly<Record<string, Model>>;
  /** Names of models that cannot be opened. */
  readonly missing_models?: readonly string[];
  /** Cost of each request of a played model; default unknown. */
  readonly cost_usd?: number;
  /** Runs the scripts of workflows. */
  readonly workflows?: RuntimeOptions['workflows'];
  readonly hooks?: RuntimeOptions['hooks'];
  /** How conversations are kept within the windows of models. */
  readonly context?: RuntimeOptions['context'];
  /** Whether calls that need approval wait for a person. */
  readonly can_ask?: boolean | 'terminal';
  /** File for rules that are granted permanently. */
  readonly rules_file?: string;
  /** A clock that the test controls. */
  readonly clock?: RuntimeClock;
  /** Wraps the store that the runtime uses. */
  readonly wrap?: (store: Store) => Store;
  /** An open store and an existing folder, which many stages use one after the other and which a stage does not close. */
  readonly ground?: { readonly store: Store; readonly folder: string };
}

/** A runtime whose models are one function: real ledger, real executor, the play in place of a model. Closed by `closeOpened`. */
export async function setStage(play: Play, options: StageOptions = {}): Promise<Stage> {
  const folder = options.ground?.folder ?? mkdtempSync(join(tmpdir(), 'coppice-stage-'));
  const shared = options.ground === undefined ? undefined : `sqlite:${join(folder, 'ledger.db')}`;
  return open(play, options, folder, options.database ?? shared ?? (await newLedger(folder)));
}

async function open(play: Play, options: StageOptions, folder: string, database: string): Promise<Stage> {
  const store = (options.wrap ?? ((one) => one))(
    options.ground?.store ?? (await openStore(database, { polls: !NO_POLLS })),
  );
  const requests: ModelRequest[] = [];
  const events: RuntimeEvent[] = [];
  const tools = options.tools ?? [];
  const clock = options.clock ?? (NO_POLLS ? WITHOUT_POLLS : undefined);
  const runtime = await openRuntime({
    store,
    openModel: async (name) => {
      if (options.missing_models?.includes(name) === true)
        throw new CoppiceError('E_MODEL_UNKNOWN', `no model ${name}`);
      return options.models?.[name] ?? actor(play, requests, options.cost_usd ?? null);
    },
    tools,
    toolsets: [...ALL_TOOLSETS, ...(options.more_toolsets ?? [])],
    ...(options.terms === undefined ? {} : { terms: options.terms }),
    ...(clock === undefined ? {} : { clock }),
    ...(options.workflows === undefined ? {} : { workflows: options.workflows }),
    ...(options.openServers === undefined ? {} : { openServers: options.openServers }),
    ...(options.rules_file === undefined ? {} : { rules_file: options.rules_file }),
    ...(options.hooks === undefined ? {} : { hooks: options.hooks }),
    ...(options.context === undefined ? {} : { context: options.context }),
    ...(options.can_ask === undefined ? {} : { can_ask: options.can_ask }),
    spill_dir: folder,
    env_allow: [],
    openHost: async (agent, { bounds: _, ...terms }, ...asked) => createModelHost(agent, terms, ...asked),
  });
  runtime.subscribe((event) => events.push(event));
  const config = {
    model: 'play/actor',
    thinking: 'off' as const,
    system: 'system',
    toolsets: options.toolsets ?? ['process'],
    tools: tools.map((tool) => tool.spec.name),
    cwd: folder,
    permissions: { cli: ALL, config: NONE },
    ...options.config,
  };
  let root: Agent | null = null;
  let elsewhere: Promise<Store> | null = null;
  const closeStores = async () => {
    await (await elsewhere)?.close();
    await store.close();
  };
  let closed = false;
  const stage: Stage = {
    store,
    runtime,
    requests,
    events,
    async start(prompt = 'begin', limits = {}) {
      root = await runtime.start({ prompt, config, limits });
      return root;
    },
    async perform(prompt, limits) {
      return runtime.settled((await stage.start(prompt, limits)).id);
    },
    async agent(name) {
      const [found] = await store.find(name, root?.id);
      if (found === undefined) throw new Error(`nobody is called ${name}`);
      return found;
    },
    async results(agent) {
      const own = (await store.history(agent.id)).filter((message) => message.agent_id === agent.id);
      const results = new Map(
        own.flatMap((message) =>
          message.kind === 'result' ? [[message.content.call_id, message.content]] : [],
        ),
      );
      const calls = own.flatMap((message) => (message.kind === 'assistant' ? message.content.parts : []));
      return calls.flatMap((part) => (part.type === 'call' ? (results.get(part.id) ?? []) : []));
    },
    elsewhere() {
      elsewhere ??= openStore(database);
      return elsewhere;
    },
    async reopen(next = play, more = {}) {
      closed = true;
      await runtime.close();
      await closeStores();
      return open(next, { ...options, ...more }, folder, database);
    },
    async close() {
      if (closed) return;
      closed = true;
      await runtime.close();
      if (options.ground !== undefined) return;
      await closeStores();
      rmSync(folder, { recursive: true, force: true });
    },
  };
  if (options.ground === undefined) closeLater(() => stage.close());
  return stage;
}

function actor(play: Play, requests: ModelRequest[], cost_usd: number | null): Model {
  return {
    id: 'play/actor',
    context_window: null,
    tells_cost: cost_usd !== null,
    async stream(request, onDelta) {
      requests.push(request);
      const line = await Promise.race([
        Promise.try(play, sceneOf(request)).catch((error: Error) => error),
        new Promise<null>((resolve) => request.signal.addEventListener('abort', () => resolve(null))),
      ]);
      if (line === null || request.signal.aborted) return { type: 'aborted' };
      if (line instanceof Error)
        return { type: 'failure', failure: { kind: 'no_model', error: line.message, retryable: true } };
      const usage = { input: 10, output: 2, cached: 0, reasoning: 0, cost_usd };
      if (typeof line === 'object' && 'text' in line) {
        const { text, ...ending } = line;
        const content = { model: 'play/actor', parts: [{ type: 'text' as const, text }] };
        return { type: 'answer', content, usage, ...ending };
      }
      if (typeof line === 'string') onDelta({ type: 'text', text: line });
      const parts: AssistantPart[] =
        typeof line === 'string'
          ? [{ type: 'text', text: line }]
          : line.map(([name, input]) => {
              calls += 1;
              return {
                type: 'call',
                id: `call-${calls}`,
                name,
                input: typeof input === 'string' ? input : JSON.stringify(input),
              };
            });
      return {
        type: 'answer',
        content: { model: 'play/actor', parts },
        usage,
        finish: typeof line === 'string' ? 'stop' : 'calls',
      };
    },
  };
}

function sceneOf(request: ModelRequest): Scene {
  const own = request.messages.slice(request.shared_prefix);
  const rounds = own.flatMap((message) => (message.role === 'results' ? [message.results] : []));
  const users = own.flatMap((message) => (message.role === 'user' ? [message.text] : []));
  return {
    name: request.agent.name,
    id: request.agent.id,
    parent_id: request.agent.parent_id ?? '',
    step: own.filter((message) => message.role === 'assistant').length,
    last: rounds.at(-1) ?? [],
    results: rounds.flat(),
    user: users.at(-1) ?? '',
    request,
  };
}

/** The play of a root that first forks a child which works for as long as the stage lasts: waits for the next message then have somebody to wait for. */
export function besideWorker(play: Play): Play {
  return (scene) => {
    if (scene.name === 'worker') return new Promise(() => undefined);
    if (scene.name !== 'main') return play(scene);
    return scene.step === 0
      ? [['fork', { name: 'worker', prompt: 'work' }]]
      : play({ ...scene, step: scene.step - 1 });
  };
}

/** Ids of the agents that this agent's forks created so far. */
export function forked(scene: Scene): string[] {
  return scene.results
    .filter((result) => result.name === 'fork')
    .map((result) => (JSON.parse(result.output) as { agent_id: string }).agent_id);
}

/** A result without its frame and without the last line, which says what the child really did. */
export function bare(text: string): string {
  return unframed(text).replace(/\n\n\[Did: .*\]$/, '');
}

export function parsed(result: ResultContent | undefined): Record<string, unknown> {
  return JSON.parse(result?.output ?? 'null') as Record<string, unknown>;
}
