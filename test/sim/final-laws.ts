import type { DatabaseSync } from 'node:sqlite';
import { waitEdges } from '../../src/kernel/mailbox/wait-edges.ts';
import type { Agent } from '../../src/records/agent/agent.ts';
import { isTerminal, isWorking } from '../../src/records/agent/state.ts';
import { cutShort } from '../../src/records/conversation/child-text.ts';
import { completionFrom } from '../../src/records/conversation/facts/completion.ts';
import { isLetter, type Mail, WAKING_MAIL } from '../../src/records/conversation/mail.ts';
import type { PlacedMessage } from '../../src/records/conversation/message.ts';
import type { Run } from '../../src/records/run/run.ts';
import { runOutcome } from '../../src/records/run/run-end.ts';
import { agentOf, mailOf, messageOf, type Row, runOf } from '../../src/store/ledger/rows.ts';
import type { SimLedger } from './sim-ledger.ts';
import type { Marks } from './sim-tools.ts';
import { brokenTasks } from './task-laws.ts';

/** Rows of a ledger at rest, and what the simulation recorded independently. */
type RestingLedger = Pick<SimLedger, 'database' | 'created' | 'removed' | 'promised' | 'promised_mail'>;

/** Returns the laws that a ledger at rest breaks, in words; empty if none. */
export function brokenAtRest(ledger: RestingLedger, marks: Marks): string[] {
  const { database } = ledger;
  const all = <T>(table: string, of: (row: Row) => T): T[] =>
    (
      database
        .prepare(
          `SELECT * FROM ${table} ORDER BY rowid`.replace(/(messages|mail|wait_edges) ORDER BY rowid/, '$1'),
        )
        .all() as Row[]
    ).map(of);
  const agents = all('agents', agentOf);
  const messages = Map.groupBy(all('messages', messageOf), (message) => message.agent_id);
  const mail = Map.groupBy(all('mail', mailOf), (letter) => letter.to_id);
  const runs = new Map(all('subagent_runs', runOf).map((run) => [run.agent_id, run]));
  const reads = new Set<string | null>(
    agents.flatMap(({ id, state }) => (isTerminal(state.type) ? [] : [id])),
  );
  const broken = agents.flatMap((agent) => {
    const own = messages.get(agent.id) ?? [];
    return [
      ...gaps(agent, own),
      ...unanswered(agent, own),
      ...letters(
        agent,
        (mail.get(agent.id) ?? []).toSorted((a, b) => a.number - b.number),
      ),
      ...(reads.has(agent.parent_id)
        ? unreported(agent, own, mail.get(agent.parent_id ?? '') ?? [], mail.get(agent.id) ?? [])
        : []),
      ...run(agent, runs.get(agent.id)),
      ...edges(agent, database),
    ];
  });
  return [
    ...broken,
    ...totals(
      ledger,
      database,
      new Set(agents.flatMap(({ was, root_id }) => (was === undefined ? [] : [root_id]))),
    ),
    ...openAsks(agents, database),
    ...lost(ledger, messages, mail),
    ...brokenTasks(database, [...messages.values()].flat()),
    ...marksOf(marks, [...messages.values()].flat(), ledger.removed.size > 0),
  ];
}

/** Law 11: places have no gap. */
function gaps(agent: Agent, own: readonly PlacedMessage[]): string[] {
  const from = agent.forked_from?.seq ?? 0;
  const whole =
    own.every((message, index) => message.seq === from + 1 + index) && agent.last_seq === from + own.length;
  return whole
    ? []
    : [`law 11: the places of ${agent.id} have a gap: ${own.map(({ seq }) => seq)} of ${agent.last_seq}`];
}

/** Law 5: every call has exactly one result before the next request. */
function unanswered(agent: Agent, own: readonly PlacedMessage[]): string[] {
  const broken: string[] = [];
  let open = new Map<string, number>();
  // Of a call before the cut of a tree that was taken back, only the result may be its own.
  let inherited = agent.was !== undefined;
  const close = () => {
    for (const [id, results] of open)
      if (results !== 1) broken.push(`law 5: call ${id} of ${agent.id} has ${results} results`);
    open = new Map();
  };
  for (const message of own) {
    if (message.kind === 'assistant') {
      close();
      inherited = false;
      for (const part of message.content.parts) if (part.type === 'call') open.set(part.id, 0);
    } else if (message.kind === 'result') {
      const { call_id } = message.content;
      open.set(call_id, (open.get(call_id) ?? (inherited ? 0 : 1)) + 1);
    }
  }
  // A killed agent has no next request.
  if (agent.state.type !== 'killed') close();
  return broken;
}

/** Laws 6 and 11: every letter is consumed, and letter numbers have no gap. */
function letters(agent: Agent, mail: readonly Mail[]): string[] {
  const broken: string[] = [];
  if (mail.some((letter, index) => letter.number !== index + 1) || agent.mail_count !== mail.length)
    broken.push(`law 11: the letters of ${agent.id} have a gap`);
  const notices = agent.config.toolsets.includes('slash');
  for (const letter of mail) {
    if (letter.consumed_seq !== null && letter.consumed_seq > agent.last_seq)
      broken.push(`law 6: the letter ${letter.id} was consumed by a message that is not there`);
    const noticed = notices && isLetter(letter) && letter.number <= agent.noticed;
    if (letter.consumed_seq === null && !isTerminal(agent.state.type) && !noticed)
      broken.push(
        `law 6: ${letter.kind} ${letter.number} to ${agent.id} (${agent.state.type}) was never read`,
      );
  }
  return broken;
}

/** A fork has written to its parent in its newest turn, or the end of that turn was reported; no turn was reported twice. */
function unreported(
  agent: Agent,
  own: readonly PlacedMessage[],
  to_parent: readonly Mail[],
  to_it: readonly Mail[],
): string[] {
  const { id, origin, state, reply, sent_this_turn, noticed } = agent;
  const reports = to_parent.filter(({ kind, from_id }) => kind === 'report' && from_id === id);
  const begun = own.filter(
    ({ kind, content }) => kind === 'user' || ('event' in content && content.event === 'retried'),
  );
  // A kill is also the end of the turn that unread mail would have begun.
  const isDue = (one: Mail) => one.consumed_seq === null && WAKING_MAIL.has(one.kind) && one.number > noticed;
  const turns = begun.length + (state.type === 'killed' && to_it.some(isDue) ? 1 : 0);
  const twice =
    reports.length > turns ? [`${id} was reported ${reports.length} times, in ${turns} turns`] : [];
  const limit = cutShort(state);
  const cause = state.type === 'errored' ? state.failure.error : limit;
  // Who interrupts a turn goes on with it; it may have an answer, an empty one for which the model was asked again.
  const rests = state.type === 'idle' && state.stopped_by === undefined;
  const owes = cause !== null || (rests && reply !== null && !sent_this_turn);
  if (origin !== 'fork' || !owes) return twice;
  const ends = reports.flatMap(({ body }) => completionFrom(body) ?? []);
  const is_told = ends.some((end) => (end.success ? end.summary === reply : end.error === cause));
  return is_told ? twice : [...twice, `the end of the newest turn of ${id} (${state.type}) was not reported`];
}

function run(agent: Agent, entry: Run | undefined): string[] {
  const expected = agent.origin === 'session' || agent.origin === 'delegate';
  if (!expected) return entry === undefined ? [] : [`${agent.id} has a run and should have none`];
  if (entry === undefined) return [`${agent.id} has no run`];
  const outcome = runOutcome(agent.state, agent.origin);
  const status = outcome?.status ?? (isWorking(agent.state.type) ? 'running' : entry.status);
  const ended = entry.finished_at !== null;
  return entry.status === status && ended === (outcome !== null) && (entry.duration_ms ?? 0) >= 0
    ? []
    : [`the run of ${agent.id} (${agent.state.type}) is ${entry.status}, ${ended ? 'finished' : 'open'}`];
}

/** Law 10: wait-for edges match the agents' states. */
function edges(agent: Agent, database: DatabaseSync): string[] {
  const rows = database
    .prepare('SELECT target FROM wait_edges WHERE waiter = ? ORDER BY target')
    .all(agent.id);
  const [present, expected] = [
    rows.map((row) => row.target).join(),
    waitEdges(agent.state).toSorted().join(),
  ];
  return present === expected ? [] : [`law 10: the edges of ${agent.id} are ${present}, not ${expected}`];
}

function totals(ledger: RestingLedger, database: DatabaseSync, cuts: ReadonlySet<unknown>): string[] {
  const rows = database
    .prepare(
      `SELECT root_id, total, tokens, (SELECT coalesce(sum(requests.input_tokens + requests.output_tokens), 0) FROM requests
        JOIN agents ON agents.id = requests.agent_id WHERE agents.root_id = trees.root_id) AS spent FROM trees`,
    )
    .all() as Row[];
  return rows.flatMap(({ root_id, total, tokens, spent }) => [
    ...(total === ledger.created.get(root_id as string)
      ? []
      : [
          `law 7: the tree ${root_id} counts ${total} agents, and ${ledger.created.get(root_id as string)} were created`,
        ]),
    // The cost of deleted conversations stays counted, and what was spent up to a cut.
    ...((ledger.removed.size > 0 || cuts.has(root_id) ? Number(tokens) >= Number(spent) : tokens === spent)
      ? []
      : [`the tree ${root_id} counts ${tokens} tokens, and its requests ${spent}`]),
  ]);
}

function openAsks(agents: readonly Agent[], database: DatabaseSync): string[] {
  const waiting = new Set(
    agents.flatMap(({ state }) =>
      state.type === 'executing' ? state.running.flatMap(({ ask }) => ask?.id ?? []) : [],
    ),
  );
  const rows = database.prepare('SELECT id FROM asks WHERE verdict IS NULL').all() as Row[];
  return rows.flatMap(({ id }) =>
    waiting.has(id as string) ? [] : [`nobody waits for the answer to ${id}`],
  );
}

/** Everything acknowledged is in the ledger, byte for byte. */
function lost(
  ledger: RestingLedger,
  messages: ReadonlyMap<string, readonly PlacedMessage[]>,
  mail: ReadonlyMap<string, readonly Mail[]>,
): string[] {
  const places = new Map(
    [...messages].map(([id, own]) => [id, new Map(own.map((message) => [message.seq, message]))]),
  );
  const known = new Set([...mail.values()].flat().map(({ id }) => id));
  const broken = ledger.promised.flatMap(({ agent_id, seq, content }) => {
    if (ledger.removed.has(agent_id)) return [];
    const found = places.get(agent_id)?.get(seq);
    return found !== undefined && JSON.stringify(found.content) === content
      ? []
      : [`message ${seq} of ${agent_id} was acknowledged and is not there`];
  });
  if (ledger.removed.size > 0) return broken;
  const missing = [...ledger.promised_mail].filter((id) => !known.has(id));
  return [...broken, ...missing.map((id) => `letter ${id} was acknowledged and is not there`)];
}

/** Tools that leave marks; calls of workflows have keys, too. */
const MARKING: ReadonlySet<string> = new Set(['count', 'guarded']);

/** Each mark is left at most once, and exactly once if the call's result says so. */
function marksOf(marks: Marks, messages: readonly PlacedMessage[], some_removed: boolean): string[] {
  const keys = new Map<string, string>();
  const broken: string[] = [];
  for (const message of messages) {
    if (message.kind !== 'assistant') continue;
    for (const part of message.content.parts) {
      const key =
        part.type === 'call' && MARKING.has(part.name) ? /"key":"([^"]+)"/.exec(part.input)?.[1] : undefined;
      if (key !== undefined && part.type === 'call') keys.set(`${message.agent_id} ${part.id}`, key);
    }
  }
  const called = new Set(keys.values());
  for (const [key, times] of marks) {
    if (times !== 1) broken.push(`the mark ${key} was left ${times} times`);
    if (!called.has(key) && !some_removed)
      broken.push(`the mark ${key} was left by a call that is in no conversation`);
  }
  for (const message of messages) {
    if (message.kind !== 'result' || message.content.status !== 'ok') continue;
    const key = keys.get(`${message.agent_id} ${message.content.call_id}`);
    if (key !== undefined && marks.get(key) !== 1) broken.push(`the mark ${key} is reported and not there`);
  }
  return broken;
}
