import { withForm } from '../kernel/toolsets/acts/task-options.ts';
import { isAgentProgram } from '../records/agent/agent.ts';
import { isTerminal } from '../records/agent/state.ts';
import { CoppiceError } from '../records/coppice-error.ts';
import { storable } from '../records/text/text.ts';
import type { StartOptions } from '../runtime/runtime-face.ts';
import {
  type AgentGround,
  type CoppiceAgent,
  coppiceAgent,
  idOf,
  killOn,
  picturesOf,
} from './coppice-agent.ts';
import { type AgentOptions, checkAgentOptions, OPTIONS_OF_AGENT } from './coppice-options.ts';
import { jsonSchemaOf, type OutputSchema } from './output.ts';

export interface RootOptions<Output = unknown> extends AgentOptions {
  /** The form of its result, which is checked when it is submitted. */
  readonly output?: OutputSchema<Output>;
  /**
   * A name of your choice, or the uuid of a tree. Started again with it, also by another process, the agent is not started twice: it goes on from the ledger, or
   * has its result.
   */
  readonly id?: string;
}

/** Starts a root, or goes on with the one that has this id. */
export async function startRoot<Output>(
  ground: AgentGround,
  rootOf: (options: AgentOptions) => StartOptions,
  given: RootOptions<Output> = { prompt: undefined as never },
): Promise<CoppiceAgent<Output>> {
  const { runtime, store } = ground;
  checkAgentOptions(given, 'start', [...OPTIONS_OF_AGENT, 'id', 'output']);
  const { id: key, output, ...options } = given;
  const id = idOf(key, 'agent');
  const { signal } = options;
  const root = output === undefined ? rootOf(options) : withSchema(rootOf(options), output);
  const known = key === undefined ? null : await store.agent(id);
  if (known === null) {
    const { images = [] } = options;
    const pictures = images.length === 0 ? {} : { images: await picturesOf(images, root.config.cwd) };
    await runtime.start({ ...root, id, ...pictures });
  }
  // Also after a start: another call with this id may have come first.
  if (key !== undefined) await assertSame(id, key, root.prompt, ground);
  // Also one at rest: it is led here from now on, so that it can be given more to do.
  if (known !== null && !isTerminal(known.state.type)) await runtime.resume(id);
  if (signal !== undefined) killOn(signal, id, runtime);
  return coppiceAgent(ground, id, output);
}

/** A root that owes a result of this form. */
function withSchema(root: StartOptions, output: OutputSchema<unknown>): StartOptions {
  const schema = jsonSchemaOf(output, 'start');
  if (isAgentProgram(root.config.model))
    throw new CoppiceError(
      'E_INVALID_ARGUMENT',
      `start: ${root.config.model} cannot submit a checked result`,
      {
        hint: 'It is an agent program: start it without "output", or choose another model',
      },
    );
  // The runtime fills in the id of the root.
  const config = { ...root.config, output: { agent_id: '', schema } };
  return { ...root, config, prompt: withForm(root.prompt, schema) };
}

/** Rejects if the tree that has this id is another task. */
async function assertSame(id: string, key: string, prompt: string, { store }: AgentGround): Promise<void> {
  const [first] = await store.history(id, 0, 1);
  const text = first?.kind === 'user' ? first.content.text : null;
  if (text !== storable(prompt))
    throw new CoppiceError('E_INVALID_ARGUMENT', `the id "${key}" is of an agent with another prompt`, {
      hint: 'Use another id, or send() this one a message',
    });
}
