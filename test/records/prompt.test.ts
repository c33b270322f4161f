/**
 * Proves what a model sees: no messages that are only for people, results in the order of the calls, a byte-identical prefix for
 * forks; and that a prompt that grew during a run equals the one built from the ledger's history.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { Message, PlacedMessage, ResultContent } from '../../src/records/conversation/message.ts';
import { FORK_PLACEHOLDER, Prompt, promptOf } from '../../src/records/conversation/prompt.ts';
import type { PromptMessage } from '../../src/records/conversation/prompt-message.ts';

function user(text: string): Message {
  return { kind: 'user', content: { origin: 'human', text } };
}

function assistant(text: string, ids: readonly string[] = []): Message {
  const calls = ids.map((id) => ({ type: 'call' as const, id, name: 'fork', input: '{}' }));
  return { kind: 'assistant', content: { model: 'test/m', parts: [{ type: 'text', text }, ...calls] } };
}

function result(call_id: string, output = 'fine'): Message {
  return { kind: 'result', content: { call_id, name: 'fork', status: 'ok', output } };
}

function event(text: string): Message {
  return { kind: 'event', content: { event: 'notice', text } };
}

function capture(text: string): Message {
  return { kind: 'capture', content: { text } };
}

/** One agent in the test's model of a family: its own messages, and the position at which it was forked from its parent. */
interface Member {
  readonly parent: Member | null;
  /** Number of the parent's own messages that it inherits. */
  readonly point: number;
  readonly own: Message[];
  readonly id: string;
}

/** The composed history, as the ledger returns it. */
function historyOf(member: Member, until = member.own.length): PlacedMessage[] {
  const inherited = member.parent === null ? [] : historyOf(member.parent, member.point);
  const own = member.own.slice(0, until);
  return [
    ...inherited,
    ...own.map((message, place) => ({
      ...message,
      agent_id: member.id,
      seq: inherited.length + place + 1,
      at: 0,
    })),
  ] as PlacedMessage[];
}

/** The specification, computed without incremental state: the ancestors' parts, then the member's own part. */
function expected(member: Member, until = member.own.length, forked = false): PromptMessage[] {
  const inherited = member.parent === null ? [] : expected(member.parent, member.point, true);
  const own = member.own.slice(0, until);
  const seen: PromptMessage[] = [];
  for (const [place, message] of own.entries()) {
    if (message.kind === 'user') seen.push({ role: 'user', text: message.content.text });
    if (message.kind !== 'assistant') continue;
    seen.push({ role: 'assistant', ...message.content });
    const ids = message.content.parts.flatMap((part) => (part.type === 'call' ? [part.id] : []));
    const results = own.slice(place).flatMap((one) => (one.kind === 'result' ? [one.content] : []));
    const answers = ids.flatMap((id) => results.find((one) => one.call_id === id) ?? []);
    const whole = answers.length === ids.length;
    if (whole && ids.length > 0) seen.push({ role: 'results', results: answers });
    if (!whole && forked) seen.push({ role: 'results', results: ids.map(placeholder) });
  }
  return [...inherited, ...seen];
}

function placeholder(call_id: string): ResultContent {
  return { call_id, name: 'fork', status: 'ok', output: FORK_PLACEHOLDER };
}

/** A message that can be appended to the conversation while it stays valid (law 5). */
function next(member: Member, kind: number, count: number, fresh: string): Message {
  const open = openCalls(member.own);
  if (kind === 0) return event(fresh);
  if (kind === 1) return capture(fresh);
  if (open.length > 0) return result(open[count % open.length] as string, fresh);
  if (kind === 2) return user(fresh);
  return assistant(
    fresh,
    Array.from({ length: count }, (_, place) => `${fresh}-${place}`),
  );
}

function openCalls(messages: readonly Message[]): string[] {
  const last = messages.findLast((one) => one.kind === 'assistant');
  const ids = last?.content.parts.flatMap((part) => (part.type === 'call' ? [part.id] : [])) ?? [];
  const answered = messages.flatMap((one) => (one.kind === 'result' ? [one.content.call_id] : []));
  return ids.filter((id) => !answered.includes(id));
}

const growth = fc.array(
  fc.record({
    who: fc.nat({ max: 9 }),
    fork: fc.nat({ max: 4 }),
    kind: fc.nat({ max: 5 }),
    count: fc.nat({ max: 3 }),
  }),
  { maxLength: 60, size: 'max' },
);

/** Grows a family message by message, together with the prompt of each member. */
function grow(steps: readonly { who: number; fork: number; kind: number; count: number }[]) {
  const first: Member = { parent: null, point: 0, own: [], id: 'a0' };
  const family = [{ member: first, prompt: new Prompt() }];
  for (const [place, { who, fork, kind, count }] of steps.entries()) {
    const chosen = family[who % family.length] as (typeof family)[number];
    if (fork === 0) {
      const child: Member = {
        parent: chosen.member,
        point: chosen.member.own.length,
        own: [],
        id: `a${place + 1}`,
      };
      family.push({ member: child, prompt: new Prompt(chosen.prompt.forked()) });
      continue;
    }
    const message = next(chosen.member, kind, count, `m${place}`);
    chosen.member.own.push(message);
    chosen.prompt.append(message);
  }
  return family;
}

describe('the prompt', () => {
  it('forks of forks, at any moment: grown or built from the history, it is what the specification says', () => {
    fc.assert(
      fc.property(growth, (steps) => {
        for (const { member, prompt } of grow(steps)) {
          assert.deepEqual(prompt.messages(), expected(member));
          // The history of a fork without messages of its own is that of its parent, so it cannot be recognized as a fork.
          if (member.own.length > 0)
            assert.deepEqual(promptOf(historyOf(member)).messages(), expected(member));
        }
      }),
      { numRuns: 500 },
    );
  });

  it('what only people may see never gets in', () => {
    fc.assert(
      fc.property(growth, (steps) => {
        for (const { member, prompt } of grow(steps)) {
          const hidden = historyOf(member).filter(({ kind }) => kind === 'event' || kind === 'capture');
          const seen = JSON.stringify(prompt.messages());
          for (const { content } of hidden)
            assert.ok(!seen.includes(`"${(content as { text: string }).text}"`));
          assert.ok(prompt.messages().every(({ role }) => ['user', 'assistant', 'results'].includes(role)));
        }
      }),
      { numRuns: 300 },
    );
  });

  it('siblings share a byte-identical prefix, also with what the parent asks next', () => {
    const parent = new Prompt();
    for (const message of [user('go'), assistant('I fork.', ['c1', 'c2'])]) parent.append(message);
    const siblings = [parent.forked(), parent.forked()].map((shared) => new Prompt(shared));
    for (const [place, sibling] of siblings.entries()) sibling.append(user(`You are number ${place}.`));
    const bytes = siblings.map((one) => JSON.stringify(one.messages().slice(0, one.shared)));
    assert.equal(bytes[0], bytes[1]);
    assert.deepEqual(
      siblings.map((one) => one.shared),
      [3, 3],
    );
    parent.append(result('c2'));
    parent.append(result('c1'));
    assert.equal(
      JSON.stringify(parent.messages().slice(0, 2)),
      JSON.stringify(siblings[0]?.messages().slice(0, 2)),
    );
  });

  it('every call of the forking message has one identical answer in the child, whatever had settled', () => {
    const parent = new Prompt();
    parent.append(user('go'));
    parent.append(assistant('', ['c1', 'c2', 'c3']));
    const sooner = new Prompt(parent.forked());
    parent.append(result('c1', 'secret'));
    const later = new Prompt(parent.forked());
    assert.deepEqual(later.messages(), sooner.messages());
    const { results } = later.messages().at(-1) as Extract<PromptMessage, { role: 'results' }>;
    assert.deepEqual(results, ['c1', 'c2', 'c3'].map(placeholder));
  });

  it('a child never sees what the parent said later', () => {
    const parent = new Prompt();
    parent.append(user('before'));
    const shared = parent.forked();
    parent.append(assistant('after'));
    assert.deepEqual(new Prompt(shared).messages(), [{ role: 'user', text: 'before' }]);
  });

  it('a fork before any message begins with nothing', () => {
    const child = new Prompt(new Prompt().forked());
    assert.equal(child.shared, 0);
    child.append(user('go'));
    assert.deepEqual(child.messages(), [{ role: 'user', text: 'go' }]);
    assert.deepEqual(promptOf([]).messages(), []);
  });

  it('results stand in the order of the calls, whatever order they came in', () => {
    const prompt = new Prompt();
    for (const message of [
      assistant('', ['x', 'y', 'z']),
      result('z'),
      event('hm'),
      result('x'),
      result('y'),
    ])
      prompt.append(message);
    const { results } = prompt.messages().at(-1) as Extract<PromptMessage, { role: 'results' }>;
    assert.deepEqual(
      results.map((one) => one.call_id),
      ['x', 'y', 'z'],
    );
  });

  it('images travel with their text', () => {
    const images = [{ media_type: 'image/png', base64: 'AAAA' }];
    const prompt = new Prompt();
    prompt.append({ kind: 'user', content: { origin: 'human', text: 'look', images } });
    assert.deepEqual(prompt.messages(), [{ role: 'user', text: 'look', images }]);
  });
});
