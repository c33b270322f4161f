import type { AgentConfig, CutPlace } from '../../records/agent/agent.ts';
import { movedInstants } from '../../records/agent/budget.ts';
import { type AgentState, isTerminal, killedState } from '../../records/agent/state.ts';
import { assistantText } from '../../records/conversation/child-text.ts';
import { isLetter } from '../../records/conversation/mail.ts';
import type { PlacedMessage } from '../../records/conversation/message.ts';
import { parseJson } from '../../records/text/json-text.ts';
import { type Row, TABLES, type TableName, type Value } from '../ledger/tables.ts';
import type { UnitOfWork } from '../ledger/unit-of-work.ts';
import { waitEdges, waitsUntil } from '../mailbox/wait-edges.ts';
import { budgetsAt } from './budgets-at.ts';
import type { CutFacts, CutOrder, CutTree } from './cut-facts.ts';
import { CLOCKS_APART_MS, type CutLetter, isInFlight } from './places.ts';
import { stateAt } from './state-at.ts';

/** The tree at the cut as a new one, which shares the messages of the old one. Nobody leads it, and it writes to nobody outside. */
export function cutTree(facts: CutFacts, order: CutOrder): CutTree {
  const { point, members, cut } = facts;
  const kept = members.filter(({ id }) => cut.places.has(id as string));
  const ids = new Map<string, string>();
  for (const { id, parent_id } of kept)
    ids.set(id as string, parent_id === null ? order.root_id : order.newId());
  const runs = facts.runs.filter(({ agent_id }) => ids.has(agent_id as string));
  for (const { id } of runs) ids.set(id as string, order.newId());
  const unread = unreadLetters(facts, order);
  const states = statesAt(facts, kept, unread, order);
  const budgets = budgetsAt(facts, kept, (id) => isTerminal((states.get(id) as AgentState).type));
  const rows = new Map<TableName, Row[]>([
    ['trees', []],
    ['agents', []],
    ['messages', []],
    ['wait_edges', []],
  ]);
  const add = (table: TableName, row: Row) => rows.get(table)?.push(row);
  const named = ids.get(point.agent_id ?? '');
  const place: CutPlace = {
    of: facts.tree.root_id as string,
    at: point.at,
    ...(named !== undefined && { agent_id: point.agent_id as string, seq: point.seq as number }),
  };
  const agents: CutTree['agents'][number][] = [];
  const living = kept.filter(({ id }) => !isTerminal((states.get(id as string) as AgentState).type));
  const children = Map.groupBy(living, ({ parent_id }) => parent_id);
  const { edit } = order;
  const modelOf = ({ config }: Row) => (JSON.parse(config as string) as AgentConfig).model;
  const root_model = order.model === undefined ? null : modelOf(kept[0] as Row);
  const isChosen = (one: Row) =>
    root_model !== null && (named === undefined ? modelOf(one) === root_model : one.id === point.agent_id);
  for (const member of kept) {
    const [was, id] = [member.id as string, ids.get(member.id as string) as string];
    const seq = cut.places.get(was) as number;
    const edited = edit?.agent_id === was ? edit : undefined;
    const state = withNewIds(states.get(was) as AgentState, ids);
    const mail = unread.get(was) ?? [];
    const last = tailOf(facts, was, order).findLast(({ kind }) => kind === 'assistant');
    const is_same = isUnchanged(member, facts, order) || hasEnded(member, facts);
    const said = last?.kind === 'assistant' ? assistantText({ parts: last.content.parts }) : null;
    const message = givenTo(was, facts, order) === undefined ? (edited?.message ?? undefined) : undefined;
    const ended = isTerminal(state.type);
    add('agents', {
      ...columnsOf('agents', member),
      ...{ id, root_id: order.root_id, was: JSON.stringify([was, ...wasBefore(member)]), made_seq: null },
      parent_id: ids.get(member.parent_id as string) ?? null,
      ...forkedFrom(member, seq),
      config: configAt(member, ids, order, point.at, isChosen(member) ? order.model : undefined),
      ...{ status: state.type, state: JSON.stringify(state), budget: budgets.of(was, ids) },
      ...{ last_seq: message === undefined ? seq : seq + 1, mail_count: mail.length },
      noticed: noticedOf(member, mail, is_same ? null : tailOf(facts, was, order)),
      living_children: children.get(was)?.length ?? 0,
      ...{ worker: null, epoch: 1, deaths: 0, calls: 0, last_write: null, doing: null },
      ...{ input_tokens: 0, output_tokens: 0, cached_tokens: 0, reasoning_tokens: 0, cost_usd: null },
      ...(is_same ? {} : { reply: 'turn' in state ? null : said, sent_this_turn: hasWritten(member, facts) }),
      ...{ created_at: order.now, updated_at: order.now, ended_at: ended ? order.now : null },
      reaped_at: ((member.reaped_at ?? 0) as number) <= point.at ? (member.reaped_at ?? null) : null,
    });
    if (message !== undefined)
      add('messages', {
        ...{ agent_id: id, seq: seq + 1, kind: message.kind, at: order.now, changed: null },
        content: JSON.stringify(message.content),
      });
    const until = waitsUntil(state);
    for (const target of waitEdges(state))
      add('wait_edges', { waiter: id, target, until: until[target] ?? null });
    agents.push({ was, id, name: member.name as string, seq, state });
  }
  add('trees', {
    ...columnsOf('trees', facts.tree),
    ...{ root_id: order.root_id, served: false, removal: null, ...budgets.tree },
    ...{ live: living.length, total: kept.length, cut_of: place.of, cut: JSON.stringify(place) },
  });
  rows.set(
    'mail',
    [...unread].flatMap(([to, mail]) => mail.map(mailRow(facts, ids, order, to))),
  );
  rows.set('subagent_runs', runs.map(runRow(facts, states, ids, order)));
  rows.set('tasks', facts.tasks.flatMap(taskRow(facts, ids, order)));
  const text = facts.instructions;
  if (text !== null) rows.set('instructions', [{ root_id: order.root_id, text }]);
  return {
    root_id: order.root_id,
    place,
    rows,
    agents,
    letters: [...unread.values()].flat().map(({ id }) => id),
  };
}

/** How many of its unread letters it had been told of. `tail`: null for an agent that has not changed since. */
function noticedOf(
  { noticed }: Row,
  unread: readonly CutLetter[],
  tail: readonly PlacedMessage[] | null,
): number {
  if (tail === null) return unread.filter(({ number }) => number <= (noticed as number)).length;
  if (!noticed) return 0;
  const told = tail.findLast(
    ({ kind, content }) => kind === 'user' && 'facts' in content && content.facts?.notice,
  );
  const at = told?.at ?? tail[0]?.at ?? 0;
  return unread.filter((one) => isLetter(one) && one.sent_at <= at).length;
}

function columnsOf(table: TableName, row: Row): Record<string, Value> {
  return Object.fromEntries(Object.keys(TABLES[table].columns).map((name) => [name, row[name] ?? null]));
}

function wasBefore({ was }: Row): readonly string[] {
  return was === null || was === undefined ? [] : (JSON.parse(was as string) as string[]);
}

/** Of an agent that was cut before, what was cut: so a chain of cuts is no longer than what was written in between. */
function forkedFrom({ id, was, forked_from, forked_seq }: Row, seq: number): Row {
  const is_older = was !== null && seq <= (forked_seq as number);
  return { forked_from: is_older ? (forked_from as string) : (id as string), forked_seq: seq };
}

/** Whether nothing has happened to the agent since the cut, so that its row tells its state. */
function isUnchanged(
  { id, last_seq, updated_at }: Row,
  { cut, point }: CutFacts,
  { edit }: CutOrder,
): boolean {
  if (edit?.agent_id === id) return false;
  return cut.places.get(id as string) === last_seq && (updated_at as number) <= point.at;
}

/** The answer that a person gives in place of the model of an agent that has a creator: its turn ends as with an answer of the model, so that it reports. */
function givenTo(id: string, { members }: CutFacts, { edit }: CutOrder): string | undefined {
  if (edit?.agent_id !== id || edit.message?.kind !== 'assistant') return undefined;
  const { parent_id } = members.find((one) => one.id === id) ?? {};
  return parent_id == null ? undefined : assistantText({ parts: edit.message.content.parts });
}

function tailOf(facts: CutFacts, id: string, order: CutOrder): readonly PlacedMessage[] {
  const { edit, now } = order;
  const tail = facts.tails.get(id) ?? [];
  if (edit?.agent_id !== id || edit.message === null || givenTo(id, facts, order) !== undefined) return tail;
  return [...tail, { ...edit.message, agent_id: id, seq: (tail.at(-1)?.seq ?? 0) + 1, at: now }];
}

/** Whether it has written to its parent in the turn of its tail. */
function hasWritten({ id, parent_id }: Row, { tails, members }: CutFacts): boolean {
  const parent = members.find((one) => one.id === parent_id);
  if (parent === undefined) return false;
  const names = [parent.id, parent.name, 'parent'].map((name) => `"${name}"`);
  return (tails.get(id as string) ?? []).some(
    ({ kind, content }) =>
      kind === 'assistant' &&
      content.parts.some((part) => {
        if (part.type !== 'call') return false;
        const call = part.read ?? part;
        return call.name === 'send' && names.some((name) => call.input.includes(name));
      }),
  );
}

/** By agent: ids of the mail that it has not read at the cut, in order. A person's orders are over, and an edited message, or one that is left out, has taken its letters. */
function unreadLetters(facts: CutFacts, order: CutOrder): ReadonlyMap<string, readonly CutLetter[]> {
  const { cut, point } = facts;
  const { edit } = order;
  const same = new Set(facts.members.flatMap((one) => (isUnchanged(one, facts, order) ? [one.id] : [])));
  const unread = facts.letters.filter((letter) => {
    const { to_id, kind, consumed_seq } = letter;
    if (kind === 'control' || consumed_seq === 0) return false;
    if (edit?.agent_id === to_id && consumed_seq === (cut.places.get(to_id) ?? 0) + 1) return false;
    if (!isInFlight(letter, cut, point.at)) return false;
    // An agent that has not changed since keeps what it took.
    return !letter.is_taken || !same.has(to_id);
  });
  return Map.groupBy(unread, ({ to_id }) => to_id);
}

function statesAt(
  facts: CutFacts,
  kept: readonly Row[],
  unread: ReadonlyMap<string, readonly CutLetter[]>,
  order: CutOrder,
): ReadonlyMap<string, AgentState> {
  const { point } = facts;
  const states = new Map<string, AgentState>();
  const asked = Map.groupBy(facts.asked, ({ agent_id }) => agent_id);
  const names = new Map(kept.map(({ id, name }) => [id as string, name as string]));
  const children = Map.groupBy(kept, ({ parent_id }) => parent_id);
  for (const member of kept) {
    const id = member.id as string;
    const parent = states.get(member.parent_id as string);
    const present = JSON.parse(member.state as string) as AgentState;
    let state: AgentState;
    if (isUnchanged(member, facts, order) || hasEnded(member, facts)) state = withoutPeople(present);
    else {
      const waiting = new Set((unread.get(id) ?? []).map(({ from_id }) => from_id));
      const delegated = (children.get(id) ?? []).filter(
        (one) => one.origin === 'delegate' && (waiting.has(one.id as string) || !hasEnded(one, facts)),
      );
      state = stateAt(tailOf(facts, id, order), {
        asked: new Set((asked.get(id) ?? []).map(({ call_id }) => call_id)),
        delegated: delegated.map((one) => one.id as string),
        nameOf: (one) => names.get(one),
        how: order.how,
      });
    }
    const given = givenTo(id, facts, order);
    if (given !== undefined && state.type === 'requesting') state = { ...state, given };
    // Law 9.
    if (parent?.type === 'killed' && !isTerminal(state.type)) state = killedState(null, parent.by, point.at);
    states.set(id, movedInstants(state, order.now - point.at));
  }
  return states;
}

function hasEnded({ id, last_seq, ended_at }: Row, { cut, point }: CutFacts): boolean {
  return ended_at !== null && cut.places.get(id as string) === last_seq && (ended_at as number) <= point.at;
}

/** Questions to people stay in the old tree: a call that needs an answer asks again. */
function withoutPeople(state: AgentState): AgentState {
  if (state.type === 'requesting') {
    const { asked: _, held: __, paused: ___, ...rest } = state;
    return rest;
  }
  if (state.type !== 'executing') return state;
  const isAsked = ({ ask, approved }: (typeof state.running)[number]) => ask !== undefined && !approved;
  const running = state.running.filter((one) => !isAsked(one));
  const asked = state.running.filter(isAsked).map(({ call }) => call);
  return {
    ...state,
    running: running.map(({ ask: _, questions: __, ...one }) => one),
    queued: [...asked, ...state.queued],
  };
}

/** Replaces ids where a field holds nothing else. */
function withNewIds<Data>(data: Data, ids: ReadonlyMap<string, string>): Data {
  return JSON.parse(
    JSON.stringify(data),
    (_, value) => (typeof value === 'string' && ids.get(value)) || value,
  );
}

/** Without whom it writes to outside. */
function configAt(
  { config, parent_id }: Row,
  ids: ReadonlyMap<string, string>,
  { now, change = (same) => same }: CutOrder,
  at: number,
  model: string | undefined,
): string {
  const before = JSON.parse(config as string) as AgentConfig;
  const { channel: _, replies_to: __, deliver: ___, client: ____, ...kept } = withNewIds(before, ids);
  const at_cut = {
    ...kept,
    ...(kept.budgets && { budgets: movedInstants(kept.budgets, now - at) }),
    ...(model !== undefined && { model }),
  };
  return JSON.stringify(change(at_cut, parent_id === null));
}

function mailRow(facts: CutFacts, ids: ReadonlyMap<string, string>, order: CutOrder, to: string) {
  return ({ id }: CutLetter, place: number): Row => {
    const row = facts.bodies.get(id) as Row;
    const body = row.kind === 'letter' || row.kind === 'task' ? null : parseJson(row.body as string);
    return {
      ...columnsOf('mail', row),
      ...{ id: order.newId(), root_id: order.root_id, to_id: ids.get(to) as string },
      from_id: ids.get(row.from_id as string) ?? null,
      ...(body?.ok === true && { body: JSON.stringify(withNewIds(body.value, ids)) }),
      ...{ number: place + 1, consumed_seq: null, sent_seq: null },
    };
  };
}

/** The run of an agent: what came later is not known of it, and nothing is delivered again. */
function runRow(
  { point }: CutFacts,
  states: ReadonlyMap<string, AgentState>,
  ids: ReadonlyMap<string, string>,
  order: CutOrder,
) {
  return (run: Row): Row => {
    const { agent_id, started_at } = run;
    const state = states.get(agent_id as string) as AgentState;
    const begun = started_at !== null && (started_at as number) <= point.at;
    const open = {
      ...{
        status: begun ? 'running' : 'queued',
        result: null,
        error: null,
        outcome: null,
        outcome_text: null,
      },
      ...{ started_at: begun ? order.now - (point.at - (started_at as number)) : null },
      ...{ finished_at: null, duration_ms: null },
    };
    return {
      ...columnsOf('subagent_runs', run),
      ...{ id: ids.get(run.id as string) as string, root_id: order.root_id },
      ...{
        agent_id: ids.get(agent_id as string) as string,
        requester_id: ids.get(run.requester_id as string) ?? null,
      },
      ...{ created_at: order.now, deliver: '[]', job_id: null, cleaned_at: null },
      ...(isTerminal(state.type) && run.finished_at !== null ? {} : open),
    };
  };
}

/** A task as it was. The calls that are in the cut tell of one that changed near it or later. */
function taskRow(facts: CutFacts, ids: ReadonlyMap<string, string>, order: CutOrder) {
  const { point, cut, task_calls, members } = facts;
  const told = new Map<number, { readonly by: string | null; readonly done: boolean }>();
  for (const { kind, content, agent_id, seq } of task_calls) {
    if (kind !== 'result' || content.status !== 'ok' || seq > (cut.places.get(agent_id) ?? 0)) continue;
    const said = parseJson(content.output);
    const { task, released, done } = (said.ok ? said.value : {}) as TaskAnswer;
    if (typeof task === 'number') told.set(task, { by: null, done: false });
    else if (task?.number !== undefined) told.set(task.number, { by: agent_id, done: false });
    if (released !== undefined) told.set(released, { by: null, done: false });
    if (done !== undefined) told.set(done, { by: agent_id, done: true });
  }
  const names = new Map(members.map(({ id, name }) => [id, name]));
  const isOld = (at: unknown) => (at as number) <= point.at - CLOCKS_APART_MS;
  const kept = new Set(
    facts.tasks.flatMap((one) =>
      isOld(one.added_at) || told.has(one.number as number) ? [one.number as number] : [],
    ),
  );
  return (task: Row): Row[] => {
    if (!kept.has(task.number as number)) return [];
    const { by, done } = told.get(task.number as number) ?? { by: null, done: false };
    const depends_on = (JSON.parse(task.depends_on as string) as number[]).filter((one) => kept.has(one));
    const state = isOld(task.changed_at)
      ? { agent_id: ids.get(task.agent_id as string) ?? null }
      : {
          ...{ agent_id: ids.get(by ?? '') ?? null, agent_name: names.get(by) ?? null },
          ...{ done, result: done ? (task.result ?? null) : null },
        };
    const row = columnsOf('tasks', task);
    return [{ ...row, root_id: order.root_id, depends_on: JSON.stringify(depends_on), ...state }];
  };
}

/** What calls on the task list answer. */
interface TaskAnswer {
  readonly task?: number | { readonly number?: number } | null;
  readonly released?: number;
  readonly done?: number;
}

/** Writes the rows of a new tree; false if the old one, or an agent of it that is in the cut, was removed meanwhile. `present`: ids of the agents of the old tree. Idempotent. */
export function enterCut(
  unit: UnitOfWork,
  { root_id, place, rows, agents }: CutTree,
  present: ReadonlySet<unknown>,
): boolean {
  if (unit.tree(root_id) !== null) return true;
  const old = unit.tree(place.of);
  if (old === null || old.removal !== null || agents.some(({ was }) => !present.has(was))) return false;
  for (const [table, all] of rows) for (const row of all) unit.rows.insert(table, row);
  return true;
}
