import { ALL_TOOLSETS } from '../../../kernel/toolsets/all-toolsets.ts';
import { type Agent, isActive, isAgentProgram, worktreeOf } from '../../../records/agent/agent.ts';
import type { FailureKind } from '../../../records/agent/failure.ts';
import type { CallPart, PlacedMessage } from '../../../records/conversation/message.ts';
import { CoppiceError } from '../../../records/coppice-error.ts';
import { given } from '../../../records/text/json-fields.ts';
import type { PlacedRequest } from '../../../store/load-ledger.ts';
import type { TreeLetter } from '../../../store/read-records.ts';
import type { Store } from '../../../store/store.ts';
import type { CaseStep, RecordedCase } from './recorded-case.ts';

type Ledger = Pick<Store, 'agents' | 'history' | 'requests' | 'treeMail' | 'tree'>;

/** A step before its round is known. */
type Unplaced = WithoutRound<CaseStep> & { readonly seq: number };
type WithoutRound<Step> = Step extends CaseStep ? Omit<Step, 'round'> : never;

/** Failures that are the answer to a request; all others follow from the rest. */
const OF_MODELS: ReadonlySet<string> = new Set<FailureKind>([
  ...(['auth', 'no_credit', 'rate_limit', 'overloaded', 'network'] as const),
  ...(['context_overflow', 'bad_request', 'no_model', 'no_tools'] as const),
]);

/**
 * Reads a run that is over as a case, without what its models were sent: a replay adds that. Rejects with `E_REFUSED` and the reason if
 * something in it cannot be repeated.
 */
export async function recordTree(
  store: Ledger,
  root_id: string,
  version: string,
  fixed: RecordedCase['root']['fixed'],
): Promise<RecordedCase> {
  const { found, histories, letters } = await wholeRun(store, root_id);
  const agents: Agent[] = [];
  const began = Math.min(...found.map(({ created_at }) => created_at));
  const steps: Unplaced[] = [];
  const children = childrenIn(found, histories);
  const add = (agent: Agent) => {
    agents.push(agent);
    for (const child of children.get(agent.id) ?? []) add(child);
  };
  const root = found.find(({ parent_id }) => parent_id === null);
  if (root === undefined) throw refused('its root is no longer in the ledger');
  add(root);
  for (const [place, agent] of agents.entries()) {
    const why = unrepeatable(agent);
    if (why !== null) throw refused(`${agent.name} ${why}`);
    const history = histories.get(agent.id) ?? [];
    steps.push(...stepsOf(history, agent, { agent: place, began, requests: await store.requests(agent.id) }));
  }
  steps.push(...ofPeople(letters, agents, began));
  const first = histories.get(root.id)?.find(({ kind }) => kind === 'user');
  if (first?.kind !== 'user') throw refused('its task is no longer in the ledger');
  const { config } = root;
  const { profile } = config;
  return {
    schema: 'coppice/case/v1',
    version,
    recorded_at: new Date().toISOString(),
    root: {
      ...{ prompt: first.content.text, name: root.name, model: config.model, thinking: config.thinking },
      ...(profile === undefined ? {} : { profile }),
      ...{ toolsets: [...config.toolsets], cwd: config.cwd, fixed },
      limits: limitsOf(await store.tree(root_id)),
    },
    agents: agents.map(({ id, name, parent_id }) => ({
      ...{ id, name },
      parent: parent_id === null ? null : agents.findIndex((one) => one.id === parent_id),
    })),
    steps: inRounds(steps, spans(letters, steps, agents, histories, began)),
    reply: root.reply ?? '',
    texts: [],
  };
}

/**
 * All agents of a tree, with their messages and letters. Of one that was cut from another tree, those up to the cut, too, as if all of it were one run: with the
 * ids of this tree, and without the time in between.
 */
async function wholeRun(store: Ledger, root_id: string) {
  const found = await store.agents({ root_id });
  const ids = new Map(found.flatMap(({ id, was = [] }) => was.map((one) => [one, id])));
  const renamed = <Data>(data: Data): Data =>
    JSON.parse(
      [...ids].reduce(
        (text, [was, id]) =>
          text.replaceAll(was, id).replaceAll(new RegExp(`\\b${was.slice(0, 8)}\\b`, 'g'), id.slice(0, 8)),
        JSON.stringify(data),
      ),
    );
  /** All agents of this tree and of those that it comes from, and how much later their times would have been (ms). */
  const all = new Map<string, Agent>();
  const late = new Map<string, number>();
  const trees: { readonly tree: string; readonly began: number }[] = [];
  for (let [tree, late_ms] = [root_id, 0]; ; ) {
    for (const agent of await store.agents({ root_id: tree })) {
      all.set(agent.id, agent);
      late.set(agent.id, late_ms);
    }
    const began = all.get(tree)?.created_at ?? 0;
    trees.push({ tree, began });
    const cut = (await store.tree(tree))?.cut;
    if (!cut) break;
    [tree, late_ms] = [cut.of, late_ms + began - cut.at];
  }
  const firstOf = (agent: Agent) => all.get(agent.was?.at(-1) ?? '') ?? agent;
  /** Whoever had the conversation when this message was written. */
  const writerOf = (agent: Agent, seq: number): Agent => {
    const { was, forked_from } = agent;
    const before = was && forked_from && seq <= forked_from.seq ? all.get(forked_from.agent_id) : undefined;
    return before === undefined ? agent : writerOf(before, seq);
  };
  const histories = new Map<string, PlacedMessage[]>();
  for (const agent of found) {
    const messages = await store.history(agent.id, firstOf(agent).forked_from?.seq ?? 0);
    const moved = messages.map((one) => ({
      ...one,
      at: one.at + (late.get(writerOf(agent, one.seq).id) ?? 0),
    }));
    histories.set(agent.id, renamed(moved));
  }
  const letters: TreeLetter[] = [];
  for (const [place, { tree, began }] of trees.entries())
    for (const letter of await store.treeMail(tree, undefined, Number.MAX_SAFE_INTEGER)) {
      const { to_id, consumed_seq, sent_at } = letter;
      const reader = all.get(ids.get(to_id) ?? to_id);
      // What was not read at the cut is on its way again in the next tree, with its time.
      const is_read = reader && consumed_seq !== null && writerOf(reader, consumed_seq).id === to_id;
      if (place > 0 && !is_read) continue;
      const at = trees[sent_at < began ? place + 1 : place]?.tree ?? tree;
      letters.push(renamed({ ...letter, sent_at: sent_at + (late.get(at) ?? 0) }));
    }
  const born = found.map((agent) => {
    const { id, created_at } = firstOf(agent);
    return { ...agent, created_at: created_at + (late.get(id) ?? 0) };
  });
  return { found: born, histories, letters };
}

/** Steps in their order. Those of one millisecond are a round, and those of one span. */
function inRounds(steps: readonly Unplaced[], together: readonly Span[]): CaseStep[] {
  const spanOf = (at_ms: number) => together.find(([from, to]) => from <= at_ms && at_ms <= to);
  let [round, before] = [0, 0];
  return steps
    .toSorted((a, b) => a.at_ms - b.at_ms || a.agent - b.agent || a.seq - b.seq)
    .map(({ seq: _, ...step }): CaseStep => {
      const span = spanOf(step.at_ms);
      if (step.at_ms > before && (span === undefined || span !== spanOf(before))) round += 1;
      before = step.at_ms;
      return { ...step, round };
    });
}

type Span = readonly [from: number, to: number];

/** From the first to the last step with whose letter an agent was told something before the same request (ms since the beginning). */
function spans(
  letters: readonly TreeLetter[],
  steps: readonly Unplaced[],
  agents: readonly Agent[],
  histories: ReadonlyMap<string, readonly PlacedMessage[]>,
  began: number,
): Span[] {
  const places = new Map(agents.map(({ id }, place) => [id, place]));
  const sent = Map.groupBy(letters, ({ to_id, consumed_seq }) => {
    const next = histories
      .get(to_id)
      ?.find(({ kind, seq }) => kind === 'assistant' && consumed_seq !== null && seq > consumed_seq);
    return `${to_id} ${next?.seq}`;
  });
  return [...sent.values()].flatMap((together): Span[] => {
    // A letter is written a moment before the message that sends it is in the ledger.
    const times = together.flatMap(({ from_id, sent_at }) => {
      const place = places.get(from_id ?? '');
      return steps.find(({ agent, at_ms }) => agent === place && at_ms >= sent_at - began)?.at_ms ?? [];
    });
    return times.length > 1 ? [[Math.min(...times), Math.max(...times)]] : [];
  });
}

function refused(why: string): CoppiceError {
  return new CoppiceError('E_REFUSED', `this run cannot be recorded: ${why}`, {
    hint: 'docs/testing-agents.md says what can be',
  });
}

function unrepeatable(agent: Agent): string | null {
  if (isActive(agent)) return 'is still at work';
  if (agent.config.client !== undefined || isAgentProgram(agent.config.model)) return 'is another program';
  if (agent.config.workflow !== undefined) return 'is a script';
  if (worktreeOf(agent.config) !== null) return 'worked in a worktree';
  return null;
}

/** The children of each agent, in the order in which its calls created them. */
function childrenIn(
  agents: readonly Agent[],
  histories: ReadonlyMap<string, readonly PlacedMessage[]>,
): Map<string, Agent[]> {
  const children = Map.groupBy(agents, ({ parent_id }) => parent_id ?? '');
  for (const { id } of agents) {
    const below = children.get(id) ?? [];
    const order = new Map<string, number>();
    const results = new Map<string, readonly string[]>();
    const history = histories.get(id) ?? [];
    for (const { kind, content } of history) {
      if (kind === 'result') results.set(content.call_id, content.facts?.created ?? []);
      // Agents are created by calls, or by a person.
      const made = below.find(
        (one) => kind === 'event' && content.event === 'forked' && content.text.includes(one.id.slice(0, 8)),
      );
      if (made !== undefined) throw refused(`a person created ${made.name}`);
    }
    for (const { kind, content } of history)
      for (const part of kind === 'assistant' ? content.parts : [])
        if (part.type === 'call') for (const made of results.get(part.id) ?? []) order.set(made, order.size);
    const gone = [...order.keys()].some((made) => !below.some((one) => one.id === made));
    if (gone) throw refused('the conversation of an agent was deleted');
    const placeOf = (one: Agent) => order.get(one.id) ?? 0;
    below.sort((a, b) => a.created_at - b.created_at || placeOf(a) - placeOf(b));
  }
  return children;
}

interface Place {
  readonly agent: number;
  readonly began: number;
  readonly requests: readonly PlacedRequest[];
}

function stepsOf(history: readonly PlacedMessage[], agent: Agent, place: Place) {
  const steps: Unplaced[] = [];
  const calls = new Map<string, CallPart>();
  const acts = new Set(
    ALL_TOOLSETS.filter(({ name }) => agent.config.toolsets.includes(name)).flatMap(({ tools }) =>
      tools.map(({ spec }) => spec.name),
    ),
  );
  const answers = history.filter(({ kind }) => kind === 'assistant').length;
  let answer = 0;
  for (const { kind, content, seq, at } of history) {
    const where = { agent: place.agent, at_ms: at - place.began, seq };
    if (kind === 'assistant') {
      const { parts, finish } = content;
      if (finish === 'interrupted') throw refused(`${agent.name} was interrupted in the middle of an answer`);
      for (const part of parts) if (part.type === 'call') calls.set(part.id, part);
      // A request that failed has a record, too: without one for each answer nobody knows which is whose.
      const usage = answers === place.requests.length ? place.requests[answer]?.usage : undefined;
      answer += 1;
      const { input = 0, output = 0, cached = 0 } = usage ?? {};
      steps.push({
        type: 'answer',
        ...where,
        parts: [...parts],
        ...(finish && { finish }),
        usage: { input, output, cached },
      });
    } else if (kind === 'result') {
      const { call_id, name, status, output, images } = content;
      const call = calls.get(call_id);
      if (images !== undefined) throw refused(`a call of ${agent.name} returned a picture`);
      // Calls on agents are made again.
      if (call === undefined || acts.has(name)) continue;
      const input = call.read?.input ?? call.input;
      steps.push({ type: 'result', ...where, call_id, name, input, status, output });
    } else if (kind === 'event') {
      const { event, text, data } = content;
      if (event === 'checkpoint') throw refused(`the conversation of ${agent.name} was summarised`);
      if (event === 'interrupted') throw refused(`${agent.name} was interrupted`);
      const kind =
        typeof data?.kind === 'string'
          ? data.kind
          : agent.state.type === 'failed'
            ? agent.state.failure.kind
            : '';
      if (event === 'error' && OF_MODELS.has(kind))
        steps.push({ type: 'failure', ...where, kind, error: text });
      if (event === 'retried') steps.push({ type: 'retry', ...where });
      if (event === 'killed' && data?.by === 'you' && data.target === agent.id)
        steps.push({ type: 'kill', ...where });
    }
  }
  return steps;
}

/** The letters of people, except the first of the root: it is the task. */
function ofPeople(letters: readonly TreeLetter[], agents: readonly Agent[], began: number): Unplaced[] {
  const [root] = agents;
  return letters.flatMap(({ to_id, from_id, kind, body, sent_at, consumed_seq, images }): Unplaced[] => {
    if (from_id !== null || kind !== 'letter' || (to_id === root?.id && consumed_seq === 1)) return [];
    if (images !== undefined) throw refused('a person sent a picture');
    const agent = agents.findIndex(({ id }) => id === to_id);
    return [{ type: 'letter', agent, at_ms: Math.max(0, sent_at - began), seq: 0, text: body }];
  });
}

function limitsOf(tree: Awaited<ReturnType<Ledger['tree']>>): RecordedCase['root']['limits'] {
  const { depth, children, live, total, turns, run_ms, tokens, cost_usd } = tree?.limits ?? {};
  const limits = given({ depth, children, live, total, turns, run_ms, tokens, cost_usd });
  return limits as RecordedCase['root']['limits'];
}
