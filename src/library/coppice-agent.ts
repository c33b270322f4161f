import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { withForm } from '../kernel/toolsets/acts/task-options.ts';
import type { SdkModel } from '../models/model.ts';
import { mustSubmit, resultSchema } from '../records/agent/agent.ts';
import { imageFault } from '../records/conversation/image-bounds.ts';
import type { Image } from '../records/conversation/message.ts';
import { CoppiceError } from '../records/coppice-error.ts';
import { given } from '../records/text/json-fields.ts';
import type { RuntimeFace } from '../runtime/runtime-face.ts';
import { livingWorkers } from '../store/process-gone.ts';
import { imageTypeOf } from '../tools/files/file-kind.ts';
import { fitImage } from '../tools/files/fit-image.ts';
import { derivedId } from '../trees/derived-id.ts';
import { budgetOf } from './agent-config.ts';
import { type AgentOptions, checkAgentOptions, type Picture } from './coppice-options.ts';
import { abortText, agentHandle, type Patience, patiently, type RunningAgent } from './engine.ts';
import { type AgentOutcome, jsonSchemaOf, type OutputSchema, withOutput } from './output.ts';
import {
  eventsOf,
  type Stream,
  type StreamGround,
  type StreamOptions,
  type TextPiece,
  type TreeEvent,
  textOf,
} from './streams/streams.ts';
import type { UIMessageChunk } from './streams/ui-chunks.ts';
import { type UIStreamOptions, uiResponse, uiStreamOf } from './streams/ui-stream.ts';

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
  /** What it says, as it says it. */
  text(options?: StreamOptions): Stream<TextPiece>;
  /** What happens to it and the agents below it. */
  events(options?: StreamOptions): Stream<TreeEvent>;
  /** Its newest turn, with the agents below it, as the AI SDK streams messages. */
  toUIMessageStream(options?: UIStreamOptions): ReadableStream<UIMessageChunk>;
  toUIMessageStreamResponse(options?: UIStreamOptions): Response;
  /** Creates a child with the conversation of this agent, to which it reports. */
  fork<Value = unknown>(options: ChildOptions<Value>): Promise<CoppiceAgent<Value>>;
  /** Creates a child with a conversation of its own, whose result only the program gets. */
  spawn<Value = unknown>(options: SpawnOptions<Value>): Promise<CoppiceAgent<Value>>;
}

/** What handles need of a coppice. `cwd`: the folder in which its pictures are looked for. */
export interface AgentGround extends StreamGround {
  readonly cwd: string;
  /** The name by which the ledger knows a model. */
  readonly nameOf: (model: string | SdkModel) => string;
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
      await assertLed(ground, id);
      const settled = await handle.result(patience);
      const { root } = settled;
      return withOutput(settled, mustSubmit(root) && resultSchema(root.config) !== null, schema);
    },
    send: (...letter) => sendLetter(ground, id, ...letter),
    text: (options) => textOf(ground, id, options),
    events: (options) => eventsOf(ground, id, options),
    toUIMessageStream: (options) => uiStreamOf(ground, id, options),
    toUIMessageStreamResponse: (options) => uiResponse(uiStreamOf(ground, id, options)),
    fork: (options) => createChild(ground, id, 'fork', options),
    spawn: (options) => createChild(ground, id, 'spawn', options),
  };
}

/** Rejects with `E_UNLED` if there is work left that nobody does: a wait for it would never end. */
async function assertLed({ store, runtime }: AgentGround, id: string): Promise<void> {
  const agent = await store.agent(id);
  if (agent === null || (agent.worker === runtime.worker_id && runtime.holdsLease())) return;
  const [alone] = await store.leftAlone([agent.root_id], await livingWorkers(store));
  if (alone !== undefined && (await store.placement(alone)) === null)
    throw new CoppiceError('E_UNLED', `no process leads the tree of ${agent.name}`, {
      hint: `resume('${alone}') continues it, and so does start() with the id it was started with`,
    });
}

const OF_CHILD = [
  ...(['prompt', 'name', 'model', 'profile', 'budget', 'signal', 'timeout_ms'] as const),
  ...(['id', 'output'] as const),
];

const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/;
export const ID_MAX = 200;

/** The id of the tree that a program calls by this name. Throws `E_INVALID_ARGUMENT` for what is no name. */
export function idOf(key: string | undefined, what: string): string {
  if (key === undefined) return randomUUID();
  if (typeof key !== 'string' || key.trim() === '' || key.length > ID_MAX)
    throw new CoppiceError('E_INVALID_ARGUMENT', `${what}: id must be a text of 1 to ${ID_MAX} characters`);
  return UUID.test(key) ? key : derivedId(`${what}\n${key}`);
}

async function createChild<Output>(
  ground: AgentGround,
  parent_id: string,
  method: 'fork' | 'spawn',
  options: SpawnOptions<Output>,
): Promise<CoppiceAgent<Output>> {
  checkAgentOptions(options, method, method === 'fork' ? OF_CHILD : [...OF_CHILD, 'system', 'turns']);
  const { id: key, output, turns, ...agent } = options;
  if (turns !== undefined && !(Number.isInteger(turns) && turns > 0))
    throw new CoppiceError('E_INVALID_ARGUMENT', `${method}: turns must be a whole number above 0`);
  const { prompt, name = method, profile, system, signal } = agent;
  const model = agent.model && ground.nameOf(agent.model);
  const schema = output === undefined ? undefined : jsonSchemaOf(output, method);
  const { runtime, store } = ground;
  const own = idOf(key, method);
  const id = key === undefined ? own : derivedId(`${parent_id}\n${own}`);
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

/** Reads a program's pictures as every provider takes them. Rejects with `E_INVALID_ARGUMENT` for what is no picture. */
export function picturesOf(pictures: readonly Picture[], cwd: string): Promise<Image[]> {
  const read = async (picture: Picture, place: number): Promise<Image> => {
    const refused = (why: string) =>
      new CoppiceError('E_INVALID_ARGUMENT', `images[${place}]: ${why}`, {
        hint: 'Give the path or the bytes of a PNG, JPEG, WebP or GIF',
      });
    const from = typeof picture === 'string' ? readFile(resolve(cwd, picture)) : Buffer.from(picture);
    const bytes = await Promise.resolve(from).catch((error: Error) => {
      throw refused(error.message);
    });
    const media_type = imageTypeOf(bytes);
    if (media_type === undefined) throw refused('it is no picture');
    const image = { media_type, base64: bytes.toString('base64') };
    if (imageFault(image) === null) return image;
    const fitted = await fitImage(bytes, media_type);
    if (fitted.ok) return fitted.image;
    throw refused(fitted.error);
  };
  return Promise.all(pictures.map(read));
}
