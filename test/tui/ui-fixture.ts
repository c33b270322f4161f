import assert from 'node:assert/strict';
import stringWidth from 'string-width';
import type { Agent, AgentConfig } from '../../src/records/agent/agent.ts';
import { type AgentState, type Call, newTurn, type RunningCall } from '../../src/records/agent/state.ts';
import { NO_USAGE } from '../../src/records/agent/usage.ts';
import type { Ask } from '../../src/records/conversation/ask.ts';
import { withOldFacts } from '../../src/records/conversation/facts/old-facts.ts';
import type { Mail } from '../../src/records/conversation/mail.ts';
import type { CallPart, Message, PlacedMessage, UserOrigin } from '../../src/records/conversation/message.ts';
import type { UiStyle } from '../../src/render/style.ts';
import type { UiEvent } from '../../src/tui/state/ui-event.ts';
import { EMPTY_UI, type Overlay, type Question, type UiState } from '../../src/tui/state/ui-state.ts';
import { reduce } from '../../src/tui/state/ui-store.ts';
import { openAsk } from '../store/ledger-fixture.ts';

export const PLAIN: UiStyle = { colour: false, unicode: true, accessible: false };
export const COLOUR: UiStyle = { colour: true, unicode: true, accessible: false };
export const ASCII: UiStyle = { colour: false, unicode: false, accessible: false };
export const SPOKEN: UiStyle = { colour: false, unicode: true, accessible: true };
export const LOOKS = { PLAIN, COLOUR, ASCII, SPOKEN };

/** Joins all lines of a text that is drawn in batches. */
export function drawn(batches: Iterable<readonly string[]>): readonly string[] {
  return [...batches].flat();
}

/** Time at which each test begins. */
export const T0 = 1_000_000;

/** Escape sequences, direction overrides, stacked marks, wide and joined characters: a hostile name. */
export const HOSTILE =
  '\x1b[2J\x1b]0;title\x07\x1b]8;;http://evil\x07名前\u202egnp.exe\x9b31m e\u0301\u0301\u0301\u0301\u0301\u0301\u0301\x00\r👩‍👩‍👧\x1b[?1049h\nnext\x08line';

const NO_RULES = { allow: [], ask: [], deny: [] };
const CONFIG: AgentConfig = {
  model: 'scripted/x',
  thinking: 'off',
  system: '',
  toolsets: ['process'],
  tools: [],
  cwd: '/project',
  permissions: { cli: NO_RULES, config: NO_RULES },
};

export const IDLE: AgentState = { type: 'idle' };
export const THINKING: AgentState = { type: 'requesting', attempt: 1, turn: newTurn(T0) };

/** A request that waits for its provider until an hour that the test's time zone decides. */
export const PAUSED: AgentState = {
  ...THINKING,
  paused: {
    ...{ spent: 'quota', door: 'd', text: 'anthropic’s quota', tries: 0 },
    ...{ failure: { kind: 'rate_limit', error: '429', retryable: true }, opens_at: T0 + 3_600_000, at: T0 },
  },
};

/** Makes an agent; its name is its id unless another is given. */
export function agent(id: string, parent_id: string | null, change: Partial<Agent> = {}): Agent {
  return {
    id,
    root_id: 'main',
    parent_id,
    name: id,
    session_key: `agent:main:${id}`,
    origin: parent_id === null ? 'root' : 'fork',
    depth: parent_id === null ? 0 : 1,
    config: CONFIG,
    state: IDLE,
    last_seq: 0,
    forked_from: null,
    mail_count: 0,
    worker: null,
    epoch: 1,
    deaths: 0,
    calls: 0,
    usage: NO_USAGE,
    doing: null,
    reply: null,
    noticed: 0,
    sent_this_turn: false,
    created_at: T0,
    updated_at: T0,
    ended_at: null,
    reaped_at: null,
    ...change,
  };
}

export function tokens(input: number, cost_usd: number | null = null): Agent['usage'] {
  return { ...NO_USAGE, input, cost_usd };
}

export function call(id: string, name: string, input: object = {}): Call {
  return { id, name, input: JSON.stringify(input), side_by_side: true, idempotent: false };
}

export function executing(running: readonly RunningCall[], results: readonly string[] = []): AgentState {
  return {
    type: 'executing',
    seq: 2,
    running,
    queued: [],
    results,
    spawned: [],
    early: [],
    turn: newTurn(T0),
  };
}

/** State of the main agent in a wait of thirty seconds for these agents. */
export function waitingOn(from: readonly string[] | null): AgentState {
  const wait = { from, started_at: T0, deadline: T0 + 30_000 };
  return executing([{ call: call('w', 'wait', { timeout: 30, from_agents: from }), wait }]);
}

/** A message as it is read from a ledger of a version that stored no facts. */
export function at(agent_id: string, seq: number, message: Message): PlacedMessage {
  return withOldFacts({ ...message, agent_id, seq, at: T0 });
}

export function user(
  agent_id: string,
  seq: number,
  text: string,
  origin: UserOrigin = 'human',
): PlacedMessage {
  return at(agent_id, seq, { kind: 'user', content: { origin, text } });
}

export function says(agent_id: string, seq: number, text: string, ...calls: readonly Call[]): PlacedMessage {
  const parts: readonly CallPart[] = calls.map(({ id, name, input }) => ({ type: 'call', id, name, input }));
  const said = text === '' ? [] : [{ type: 'text' as const, text }];
  return at(agent_id, seq, {
    kind: 'assistant',
    content: { model: 'scripted/x', parts: [...said, ...parts] },
  });
}

export function result(
  agent_id: string,
  seq: number,
  call_id: string,
  name: string,
  output: string,
  status: 'ok' | 'error' | 'denied' = 'ok',
): PlacedMessage {
  return at(agent_id, seq, { kind: 'result', content: { call_id, name, status, output } });
}

export function letter(from_id: string | null, to_id: string, body = 'done'): Mail {
  return {
    id: `${from_id}-${to_id}-${body}`,
    root_id: 'main',
    to_id,
    from_id,
    from_name: from_id ?? 'you',
    kind: 'letter',
    body,
    number: 1,
    sent_at: T0,
    consumed_seq: null,
  };
}

export function ask(id: string, agent_id: string, change: Partial<Ask> = {}): Ask {
  return openAsk({
    id,
    root_id: 'main',
    agent_id,
    agent_name: agent_id,
    call_id: 'c',
    subject: 'rm -rf dist',
    input: '{"command":"rm -rf dist"}',
    cwd: '~/proj',
    rule: 'ask(bash:rm *)',
    asked_at: T0,
    ...change,
  });
}

export function seen(agent: Agent, created = false): UiEvent {
  return { type: 'runtime', event: { type: 'agent', agent, created } };
}

export function told(message: PlacedMessage, agent_id = message.agent_id): UiEvent {
  return { type: 'runtime', event: { type: 'message', agent_id, message } };
}

export function sent(mail: Mail): UiEvent {
  return { type: 'runtime', event: { type: 'mail', mail } };
}

export function after(state: UiState, ...events: readonly UiEvent[]): UiState {
  return events.reduce(reduce, state);
}

/** A tree with a root `main`, `seconds` after the beginning. */
export function tree(agents: readonly Agent[], seconds = 0): UiState {
  const opened: UiEvent = { type: 'opened', root_id: 'main', agents };
  return after(EMPTY_UI, { type: 'tick', now: T0 + seconds * 1000 }, opened);
}

/** The tree of the main story. */
export function story(main: AgentState = IDLE, seconds = 12): UiState {
  return tree(
    [
      agent('main', null, { state: main, usage: tokens(4_000, 0.04) }),
      agent('file-reader', 'main', {
        state: THINKING,
        doing: 'read src/db.ts',
        calls: 22,
        usage: tokens(13_000),
        created_at: T0 + 1,
      }),
      agent('code-analyzer', 'main', {
        calls: 13,
        usage: tokens(11_000),
        created_at: T0 + 2,
        reply: 'found 3 leaks',
      }),
      agent('test-runner', 'main', { calls: 9, usage: tokens(14_000), created_at: T0 + 3 }),
    ],
    seconds,
  );
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: colours are control sequences.
const COLOURS = /\u001b\[[0-9;]*m/g;

/** A joiner between two pictographs makes one of them. */
const JOINED = /(?<=\p{Extended_Pictographic})\u200d(?=\p{Extended_Pictographic})/gu;

/** Asserts that a line contains only text and colours. */
export function isHarmless(line: string): void {
  assert.doesNotMatch(
    line.replaceAll(COLOURS, '').replaceAll(JOINED, ''),
    /[\p{Cc}\p{Cs}\u061c\u200b-\u200f\u202a-\u202e\u2066-\u2069]/u,
  );
}

export function fits(lines: readonly string[], width: number): void {
  for (const line of lines) {
    const wide = stringWidth(line);
    assert.ok(wide <= width, `${wide} > ${width}: ${JSON.stringify(line)}`);
    isHarmless(line);
  }
}

/** main › reader › grep, and analyzer beside reader. */
export function family(): UiState {
  return tree([
    agent('main', null),
    agent('reader', 'main', { created_at: T0 + 1 }),
    agent('analyzer', 'main', { created_at: T0 + 2 }),
    agent('grep', 'reader', { created_at: T0 + 3, depth: 2 }),
  ]);
}

/** An approval requested by a grandchild of the story, followed by one of the grandchild's parent. */
export function grandchild(change: object = {}): UiState {
  return after(
    story(waitingOn(['file-reader'])),
    seen(agent('grep-all', 'file-reader', { depth: 2, created_at: T0 + 4, state: THINKING })),
    { type: 'asks', asks: [ask('a', 'grep-all', change), ask('b', 'file-reader')] },
  );
}

export const KILLED: AgentState = { type: 'killed', by: 'you' };
export const ASKED: Question = { since: T0, saying: null, grant: null, held: null, page: 0 };
export const AGENTS: Extract<Overlay, { type: 'agents' }> = { type: 'agents', filter: '', selected: null };
