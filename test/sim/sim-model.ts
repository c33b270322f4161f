import { behindDoors } from '../../src/models/gate/closed-provider.ts';
import { Gate, gated } from '../../src/models/gate/gate.ts';
import type { Model, ModelOutcome, ModelRequest } from '../../src/models/model.ts';
import type { AssistantPart } from '../../src/records/conversation/message.ts';
import type { Faults } from './faults.ts';
import { answer, callParts } from './play.ts';
import type { Random } from './random.ts';
import type { SimProvider } from './sim-provider.ts';
import type { Actor, VirtualTime } from './virtual-time.ts';

export interface SimModelSurroundings {
  readonly actor: Actor;
  readonly time: VirtualTime;
  readonly faults: Faults;
  readonly random: Random;
  readonly rounds: number;
  /** Answers arrive at multiples of this interval, so that those of several agents coincide. */
  readonly beat_ms: number;
  /** Whether the model waits with very long timeouts. */
  readonly patient: boolean;
  /** Called with each request, before anything is answered. */
  readonly onRequest: (request: ModelRequest) => void;
  /** The account behind it, if it has one that closes at times. */
  readonly provider?: SimProvider | undefined;
  /** Called for each request that is answered. */
  readonly onAnswer: () => void;
}

/** A faulty provider behind the real gate: answers take a while, and some never come. */
export function simModel(id: string, around: SimModelSurroundings): Model {
  const { actor, time, random, provider } = around;
  const sleep = (ms: number, signal: AbortSignal) =>
    new Promise<void>((resolve) => {
      const late = (time.now + Math.ceil(ms)) % around.beat_ms;
      const stop = time.after(late === 0 ? ms : ms + around.beat_ms - late, actor, resolve);
      signal.addEventListener('abort', () => {
        stop();
        resolve();
      });
    });
  const model: Model = {
    id,
    context_window: null,
    tells_cost: true,
    stream: (request, onDelta) => {
      around.onRequest(request);
      onDelta({ type: 'text', text: '…' });
      const asked = provider?.sent(actor, request);
      const outcome = outcomeOf(id, request, sleep, around);
      return asked === undefined ? outcome : outcome.then(asked.ended);
    },
  };
  const gate = new Gate({
    ...{ now: () => time.now, random: () => random.next(), sleep, attempts: 4, patience_ms: 0 },
  });
  const behindGate = (one: Model) => gated(one, gate);
  return provider === undefined ? behindGate(model) : behindDoors(model, behindGate, provider.doors(actor));
}

async function outcomeOf(
  id: string,
  request: ModelRequest,
  sleep: (ms: number, signal: AbortSignal) => Promise<void>,
  around: SimModelSurroundings,
): Promise<ModelOutcome> {
  const { faults, random, actor } = around;
  const { signal } = request;
  const strikes = (fault: Parameters<Faults['strikes']>[0]) => faults.strikes(fault, actor.name);
  if (strikes('model-hang'))
    await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
  await sleep(strikes('model-slow') ? random.between(20_000, 90_000) : random.between(20, 3_000), signal);
  if (signal.aborted) return { type: 'aborted' };
  if (strikes('model-error'))
    return failure(random.pick(['auth', 'bad_request', 'context_overflow', 'refused'] as const), 'refused');
  if (strikes('model-rate-limit')) {
    const wish = random.chance(0.5) ? { retry_after_ms: random.between(100, 20_000) } : {};
    return { ...failure(random.pick(['rate_limit', 'overloaded'] as const), 'slow down'), ...wish };
  }
  if (strikes('model-cut')) return { ...failure('network', 'the stream broke off'), partial: 'half of' };
  around.onAnswer();
  return {
    type: 'answer',
    content: { model: id, parts: strikes('model-empty') ? [] : spoilt(partsOf(request, around), around) },
    usage: {
      input: random.between(10, 500),
      output: random.between(1, 50),
      cached: 0,
      reasoning: 0,
      cost_usd: 0.001,
    },
    finish: 'stop',
  };
}

function failure(
  kind: Extract<ModelOutcome, { type: 'failure' }>['failure']['kind'],
  error: string,
): Extract<ModelOutcome, { type: 'failure' }> {
  return { type: 'failure', failure: { kind, error: `simulated: ${error}`, retryable: true } };
}

function partsOf(
  request: ModelRequest,
  { faults, random, rounds, patient }: SimModelSurroundings,
): AssistantPart[] {
  const said = answer({ request, random, rounds, patient, calm: !faults.active });
  return 'text' in said ? [{ type: 'text', text: said.text }] : callParts(said.lines, random);
}

/** Replaces the arguments of some calls with ones that no tool accepts. */
function spoilt(
  parts: readonly AssistantPart[],
  { faults, random, actor }: SimModelSurroundings,
): AssistantPart[] {
  return parts.map((part) => {
    if (part.type !== 'call' || !faults.strikes('model-bad-arguments', actor.name)) return part;
    return {
      ...part,
      input: random.pick(['', '{', 'null', '[]', '{"to":7}', '{"tasks":[]}', '{"timeout":-1}', '"x"']),
    };
  });
}
