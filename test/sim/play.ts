import type { ModelRequest } from '../../src/models/model.ts';
import type { AssistantPart } from '../../src/records/conversation/message.ts';
import type { Random } from './random.ts';

/** One call by a simulated model. */
export type Line = readonly [name: string, input: unknown];

/** Inputs from which a simulated model chooses its answer. */
export interface Scene {
  readonly request: ModelRequest;
  readonly random: Random;
  /** Whether the model ends at once and starts nothing new. */
  readonly calm: boolean;
  readonly patient: boolean;
  /** Number of answers with calls before the model ends. */
  readonly rounds: number;
}

const UUID = /[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-a[\da-f]{3}-[\da-f]{12}/g;
const CALL_WEIGHTS: Readonly<Record<string, number>> = {
  fork: 5,
  send: 4,
  wait: 5,
  kill: 1,
  slash: 7,
  spawn_agents: 3,
  sessions_spawn: 3,
  subagent_spawn: 3,
  subagent_delegate: 1,
  count: 4,
  look: 2,
  guarded: 1,
  task_add: 20,
  task_claim: 20,
  task_done: 20,
  task_release: 1,
  task_list: 1,
};
/** Tools that a patient model calls more often: waits, and work that is waited for. */
const PARKING: ReadonlySet<string> = new Set(['wait', 'sessions_spawn', 'subagent_spawn']);

/** Returns an answer of a simulated model: for some rounds calls to its tools, then the end that its tools require. */
export function answer(scene: Scene): { readonly text: string } | { readonly lines: readonly Line[] } {
  const { request, random, calm, rounds } = scene;
  const own = request.messages.slice(request.shared_prefix);
  // A person's letter begins a new piece of work.
  const asked = own.findLastIndex(
    (message) => message.role === 'user' && message.text.startsWith('more work'),
  );
  const answered = own.slice(asked + 1).filter((message) => message.role === 'assistant').length;
  const newest = own.at(-1);
  const told = newest?.role === 'user' ? newest.text : '';
  const names = new Set(request.tools.map((tool) => tool.name));
  if (told.startsWith('got mail') && names.has('slash') && (calm || random.chance(0.7)))
    return { lines: [['slash', { command: 'check-mail' }]] };
  const finishes = calm || answered >= rounds || (told.startsWith('Finish now') && random.chance(0.8));
  if (finishes || random.chance(0.1)) return end(scene, names, answered);
  const many = random.chance(0.6) ? 1 : random.between(2, 4);
  return { lines: Array.from({ length: many }, () => line(scene, names, idsIn(own))) };
}

/** Ids of all agents mentioned in its messages, oldest first. */
function idsIn(own: ModelRequest['messages']): string[] {
  return [...new Set(JSON.stringify(own).match(UUID) ?? [])];
}

function end(
  { request, random, calm }: Scene,
  names: ReadonlySet<string>,
  answered: number,
): ReturnType<typeof answer> {
  if (names.has('submit_result')) {
    if (!calm && random.chance(0.1)) return { text: 'I stop without a result' };
    if (!calm && random.chance(0.15)) return { lines: [['submit_error', { error: 'it cannot be done' }]] };
    return { lines: [['submit_result', { result: `result of ${request.agent.name}` }]] };
  }
  const { parent_id } = request.agent;
  if (names.has('slash') && parent_id !== null && answered === 0 && random.chance(0.6)) {
    const done = JSON.stringify({ status: 'idle', success: true, summary: 'done' });
    return { lines: [['slash', { command: `send ${parent_id} ${done}` }]] };
  }
  return { text: `${request.agent.name} is done after ${answered}` };
}

function line(scene: Scene, names: ReadonlySet<string>, ids: readonly string[]): Line {
  const { random } = scene;
  if (random.chance(0.02)) return ['no_such_tool', { a: 1 }];
  if (names.has('submit_result') && random.chance(0.1)) return ['submit_result', { result: 'early' }];
  const known = Object.entries(CALL_WEIGHTS)
    .filter(([name]) => names.has(name))
    .map(([name, weight]) => [name, scene.patient && PARKING.has(name) ? weight * 4 : weight] as const);
  let at = random.next() * known.reduce((sum, [, weight]) => sum + weight, 0);
  for (const [name, weight] of known) {
    at -= weight;
    if (at < 0) return [name, inputOf(name, scene, ids)];
  }
  return ['look', {}];
}

function inputOf(name: string, { random, request, patient }: Scene, ids: readonly string[]): unknown {
  const somebody = () => {
    const id = random.pick([...ids, request.agent.parent_id ?? 'main', 'main']);
    return random.chance(0.2) ? id.slice(0, 8) : id;
  };
  const title = `n${random.between(0, 999)}`;
  switch (name) {
    case 'fork':
      return { name: title, prompt: `work on ${title}` };
    case 'send':
      return { to: somebody(), message: `word ${title}` };
    case 'kill':
      return { agent_id: somebody() };
    case 'wait':
      return { ...waitInput(random, somebody), ...(patient ? { timeout: 100 } : {}) };
    case 'slash':
      return { command: command(random, somebody, title) };
    case 'spawn_agents':
      return {
        tasks: Array.from({ length: random.between(1, 4) }, (_, index) => task(random, `${title}-${index}`)),
      };
    case 'sessions_spawn':
      return {
        task: `session ${title}`,
        cleanup: random.pick(['keep', 'delete']),
        timeoutSeconds: random.chance(0.3) ? random.between(5, 120) : 0,
      };
    case 'subagent_spawn':
      return { task: `task ${title}`, description: title, maxTurns: random.between(1, 6) };
    case 'subagent_delegate':
      return { task: `delegated ${title}`, description: title };
    case 'count':
    case 'guarded':
      return { key: random.uuid() };
    case 'task_add':
      return {
        title,
        ...(random.chance(0.3) ? { depends_on: [random.between(1, 6)] } : {}),
        ...(random.chance(0.2) ? { blocks: [random.between(1, 6)] } : {}),
      };
    case 'task_claim':
      return random.chance(0.7) ? {} : { number: random.between(1, 6) };
    case 'task_done':
    case 'task_release':
      return { number: heldIn(request) ?? random.between(1, 6) };
    default:
      return {};
  }
}

/** Number of the task that it was given last, or null. */
function heldIn({ messages }: ModelRequest): number | null {
  const found = JSON.stringify(messages)
    .match(/\{\\+"number\\+":(\d+),\\+"title/g)
    ?.at(-1);
  return found === undefined ? null : Number(/\d+/.exec(found)?.[0]);
}

function waitInput(random: Random, somebody: () => string): object {
  const timeout = random.pick([0, 1, 5, 20, 60, 300]);
  if (random.chance(0.3)) return { timeout };
  return { timeout, from_agents: Array.from({ length: random.between(1, 4) }, somebody) };
}

function task(random: Random, title: string): unknown {
  return {
    task: `part ${title}`,
    ...(random.chance(0.3) ? { timeout_seconds: random.between(5, 120) } : {}),
    ...(random.chance(0.1) ? { output_schema: { type: 'object' } } : {}),
  };
}

function command(random: Random, somebody: () => string, title: string): string {
  const at = random.next();
  if (at < 0.25) return 'fork';
  if (at < 0.5) return `fork work on ${title}`;
  if (at < 0.75) return `send ${somebody()} word ${title}`;
  return at < 0.93 ? 'check-mail' : `kill ${somebody()}`;
}

/** Converts calls to message parts. */
export function callParts(lines: readonly Line[], random: Random): AssistantPart[] {
  return lines.map(([name, input]) => ({
    type: 'call',
    id: `call_${random.uuid().slice(0, 13)}`,
    name,
    input: typeof input === 'string' ? input : JSON.stringify(input),
  }));
}
