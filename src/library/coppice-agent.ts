import { randomUUID } from 'node:crypto';
import { withForm } from '../kernel/toolsets/acts/task-options.ts';
import { mustSubmit, resultSchema } from '../records/agent/agent.ts';
import type { RuntimeFace } from '../runtime/runtime-face.ts';
import { given } from '../settings/subagent-terms.ts';
import type { Store } from '../store/store.ts';
import { derivedId } from '../trees/derived-id.ts';
import { budgetOf } from './agent-config.ts';
import { type AgentOptions, checkAgentOptions, type Picture } from './coppice-options.ts';
import { abortText, agentHandle, type Patience, patiently, type RunningAgent } from './engine.ts';
import { type AgentOutcome, jsonSchemaOf, type OutputSchema, withOutput } from './output.ts';

export interface LetterOptions extends Patience {
  /** Pictures beside the text. */
  readonly images?: readonly Picture[];
}

/** A child that a program creates; what it is not given it has of its parent. */
export interface ChildOptions<Output>
  extends Pick<AgentOptions, 'prompt' | 'name' | 'model' | 'profile' | 'budget' | 'signal' | 'timeout_ms'> {
  /** A name of your choice among the children of this agent: asked for again, the child is not created twice. */
  readonly id?: string;
  /** The form of its result. */
  readonly output?: OutputSchema<Output>;
}

export interface SpawnOptions<Output> extends ChildOptions<Output>, Pick<AgentOptions, 'system'> {
  /** Maximum model requests. */
  readonly turns?: number;
}

/** Handle on an agent and those below it. */
export interface CoppiceAgent<Output = unknown> extends Omit<RunningAgent, 'result'> {
  /** Resolves, with what it brought or why it failed, once neither it nor an agent below it is working any more. Patience ends the wait, not the work. */
  result(patience?: Patience): Promise<AgentOutcome<Output>>;
  /** Sends the agent a letter from a person. */
  send(text: string, options?: LetterOptions): Promise<void>;
  /** Creates a child with the conversation of this agent, to which it reports. */
  fork<Value = unknown>(options: ChildOptions<Value>): Promise<CoppiceAgent<Value>>;
  /** Creates a child with a conversation of its own, whose result only the program gets. */
  spawn<Value = unknown>(options: SpawnOptions<Value>): Promise<CoppiceAgent<Value>>;
}

/** What handles need of a coppice. `cwd`: the folder in which its pictures are looked for. */
export interface AgentGround {
  readonly runtime: RuntimeFace;
  readonly store: Store;
  readonly cwd: string;
}

export function coppiceAgent<Output>(
  ground: AgentGround,
  id: string,
  schema?: OutputSchema<Output>,
): CoppiceAgent<Output> {
  const handle = agentHandle(ground.runtime, id);
  return {
    ...handle,
    async result(patience) {
      const settled = await handle.result(patience);
      const { root } = settled;
      return withOutput(settled, mustSubmit(root) && resultSchema(root.config) !== null, schema);
    },
    send: (...letter) => sendLetter(ground, id, ...letter),
    fork: (options) => createChild(ground, id, 'fork', options),
    spawn: (options) => createChild(ground, id, 'spawn', options),
  };
}

const OF_CHILD = [
  ...(['prompt', 'name', 'model', 'profile', 'budget', 'signal', 'timeout_ms'] as const),
  ...(['id', 'output'] as const),
];

async function createChild<Output>(
  ground: AgentGround,
  parent_id: string,
  method: 'fork' | 'spawn',
  options: SpawnOptions<Output>,
): Promise<CoppiceAgent<Output>> {
  checkAgentOptions(options, method, method === 'fork' ? OF_CHILD : [...OF_CHILD, 'system', 'turns']);
  const { id: key, output, turns, ...agent } = options;
  const { prompt, name = method, model, profile, system, signal } = agent;
  const schema = output === undefined ? undefined : jsonSchemaOf(output, method);
  const { runtime, store } = ground;
  const id = key === undefined ? randomUUID() : derivedId(`${parent_id}\n${key}`);
  const parent = await store.agent(parent_id);
  // Rejects as `start` does for a model that cannot be used.
  if (parent !== null && model !== undefined) await runtime.checked({ ...parent.config, model });
  const common = given({ profile, model, budget: budgetOf(agent) ?? undefined });
  const task =
    method === 'spawn'
      ? given({
          task: prompt,
          description: name,
          systemPrompt: system,
          maxTurns: turns,
          output_schema: schema,
        })
      : { name, prompt: schema === undefined ? prompt : withForm(prompt, schema) };
  await runtime.create(parent_id, {
    ...{ id, tool: method === 'spawn' ? 'subagent_spawn' : 'fork', input: { ...common, ...task } },
    ...(method === 'fork' && schema !== undefined ? { schema } : {}),
  });
  if (signal !== undefined) killOn(signal, id, runtime);
  return coppiceAgent(ground, id, output);
}

/** Until the agent and those below it rest, aborting the signal kills them. */
export function killOn(signal: AbortSignal, id: string, runtime: RuntimeFace): void {
  // Whoever waits for the result is told.
  const kill = () =>
    void runtime.kill(id, abortText(signal).replace(/^aborted by /, '')).catch(() => undefined);
  signal.addEventListener('abort', kill, { once: true });
  if (signal.aborted) kill();
  const leave = () => signal.removeEventListener('abort', kill);
  runtime.settled(id).then(leave, leave);
}

export async function sendLetter(
  { runtime, cwd }: AgentGround,
  id: string,
  text: string,
  { images = [], ...patience }: LetterOptions = {},
): Promise<void> {
  const send = async () =>
    void (await runtime.send(id, text, images.length === 0 ? {} : { images: await picturesOf(images, cwd) }));
  await patiently('send', patience, send, { hint: 'The letter may have been sent all the same' });
}

/** Imported with the first picture: its packages are large. */
export async function picturesOf(pictures: readonly Picture[], cwd: string) {
  return (await import('./pictures.ts')).readPictures(pictures, cwd);
}
