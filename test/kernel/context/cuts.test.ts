/**
 * Proves that, however a family of forked conversations is cut, the prompt that grew message by message, the one built from the whole history, and the one
 * built from the newest checkpoint are the same; that calls keep their results; and when a cut is made, and when none can help.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { checkpointOf } from '../../../src/kernel/context/checkpoint-of.ts';
import { relief } from '../../../src/kernel/context/context-relief.ts';
import { checkpointText, spokenWithin } from '../../../src/records/conversation/checkpoint.ts';
import type { Message, PlacedMessage } from '../../../src/records/conversation/message.ts';
import { Prompt, promptOf } from '../../../src/records/conversation/prompt.ts';
import { SeenFiles, seenIn } from '../../../src/records/conversation/seen-files.ts';
import { namedWindow } from '../../../src/runtime/performing/context-room.ts';

const WINDOW = 6_000;
const ROOM = { window: WINDOW, share: 0.8, overhead: 300 };
const INBOX = { isEmpty: true, all: () => [], hasLetterFrom: () => false };
const ALONE = { tree: undefined, children: [] };

interface Member {
  readonly id: string;
  /** The whole history, including the inherited part. */
  readonly history: PlacedMessage[];
  readonly prompt: Prompt;
  readonly seen: SeenFiles;
  /** Like `seen`, as if the conversation had never been cut. */
  readonly uncut: SeenFiles;
  open: string[];
}

function add(member: Member, message: Message): void {
  const row = { ...message, agent_id: member.id, seq: member.history.length + 1, at: 0 } as PlacedMessage;
  member.history.push(row);
  member.prompt.append(row);
  member.seen.append(row);
  if (message.kind !== 'event') member.uncut.append(row);
}

function newRoot(): Member {
  return {
    id: 'a',
    history: [],
    prompt: new Prompt(),
    seen: new SeenFiles(),
    uncut: new SeenFiles(),
    open: [],
  };
}

function user(text: string): Message {
  return { kind: 'user', content: { origin: 'human', text } };
}

function event(event: 'elided' | 'checkpoint' | 'notice', data: object): Message {
  return { kind: 'event', content: { event, text: event, data: { ...data } } };
}

/** Makes room as the runtime does before a request. */
function makeRoom(member: Member, summary: string | null): 'stuck' | null {
  const found = relief(member.prompt, ROOM, false);
  if (found === null) return null;
  if (found.type === 'stuck') return 'stuck';
  if (found.type === 'elide') add(member, event('elided', { through: found.through, over: found.over }));
  else {
    const checkpoint = checkpointOf({ ...member, inbox: INBOX }, summary, WINDOW, ALONE);
    assert.ok(checkpoint !== null, 'a summary is asked for only where something can be cut');
    add(member, event('checkpoint', checkpoint));
  }
  return makeRoom(member, summary);
}

const steps = fc.array(
  fc.record({
    who: fc.nat({ max: 9 }),
    what: fc.nat({ max: 12 }),
    size: fc.nat({ max: 1_500 }),
    calls: fc.nat({ max: 3 }),
  }),
  { maxLength: 80, size: 'max' },
);

function play(all: Iterable<{ who: number; what: number; size: number; calls: number }>): Member[] {
  const root: Member = newRoot();
  add(root, user('TASK'));
  const family = [root];
  for (const [place, { who, what, size, calls }] of [...all].entries()) {
    const member = family[who % family.length] as Member;
    const text = `${place} ${'x'.repeat(size)}`;
    if (what === 0 && family.length < 6) {
      const id = `f${place}`;
      const prompt = new Prompt(member.prompt.forked());
      const seen = new SeenFiles(member.seen.forked());
      const uncut = new SeenFiles(member.seen.forked());
      const child: Member = { id, history: [...member.history], prompt, seen, uncut, open: [] };
      family.push(child);
      add(child, { kind: 'user', content: { origin: 'identity', text: `you are ${id}` } });
    } else if (what === 1) add(member, event('notice', {}));
    else if (member.open.length > 0) {
      const [call_id = '', ...rest] = member.open;
      member.open = rest;
      const changed = size % 3 === 0 ? { before: null } : {};
      const file = { path: `file ${size % 7}`, hash: text.slice(0, 5), ...changed };
      add(member, { kind: 'result', content: { call_id, name: 'read', status: 'ok', output: text, file } });
    } else if (what === 2) add(member, user(text.slice(0, 300)));
    else if (makeRoom(member, place % 2 === 0 ? 'SUMMARY' : null) === null) {
      member.open = Array.from({ length: calls }, (_, call) => `${place}-${call}`);
      const parts = member.open.map((id) => ({ type: 'call' as const, id, name: 'read', input: '{}' }));
      const content = { model: 'test/m', parts: [{ type: 'text' as const, text: 'so' }, ...parts] };
      add(member, { kind: 'assistant', content });
    }
  }
  return family;
}

describe('cuts', () => {
  it('grown, from the whole history, and from the newest checkpoint on: one prompt, and the same files seen', async () => {
    let cut = 0;
    const property = fc.asyncProperty(steps, async (all) => {
      for (const { history, prompt, seen, uncut, open } of play(all)) {
        const newest = history.findLast(
          ({ kind, content }) => kind === 'event' && content.event === 'checkpoint',
        );
        const { through = 0 } = ((newest?.content as { data?: object })?.data ?? {}) as { through?: number };
        const read = history.filter(({ seq }) => seq > through);
        if (read.length < history.length) cut += 1;
        for (const built of [promptOf(history), promptOf(read)]) {
          assert.deepEqual(built.messages(), prompt.messages());
          assert.deepEqual(
            [built.shared, built.cuts, built.spoken, built.characters],
            [prompt.shared, prompt.cuts, prompt.spoken, prompt.characters],
          );
        }
        for (const known of [seenIn(history), seenIn(read)])
          for (let file = 0; file < 7; file += 1) {
            const path = `file ${file}`;
            const of = (one: SeenFiles) => [one.hashOf(path), one.use(path), one.forked()().get(path)];
            assert.deepEqual(of(known), of(seen), path);
            assert.deepEqual([known.hashOf(path), known.use(path)], [uncut.hashOf(path), uncut.use(path)]);
          }
        const told = history.findLast(({ kind }) => kind === 'user')?.seq;
        assert.equal(prompt.spoken.at(-1)?.seq, told, 'what was said last is known');
        const messages = prompt.messages();
        assert.ok(JSON.stringify(messages).includes('TASK'), 'the task is there');
        for (const [place, message] of messages.entries()) {
          const calls =
            message.role === 'assistant' ? message.parts.filter(({ type }) => type === 'call') : [];
          const after = messages[place + 1];
          if (calls.length > 0 && (open.length === 0 || after !== undefined))
            assert.ok(after?.role === 'results' && after.results.length === calls.length);
          if (message.role === 'results') assert.equal(messages[place - 1]?.role, 'assistant');
        }
      }
    });
    await fc.assert(property, { numRuns: 300 });
    assert.ok(cut > 50, `only ${cut} histories were cut`);
  });

  it('a fork made before a checkpoint keeps the whole history', () => {
    const root: Member = newRoot();
    add(root, user('TASK'));
    for (let turn = 0; turn < 6; turn += 1) {
      add(root, {
        kind: 'assistant',
        content: { model: 'm', parts: [{ type: 'text', text: `answer ${turn}` }] },
      });
      add(root, user('x'.repeat(900)));
    }
    const before = root.prompt.messages();
    const fork = new Prompt(root.prompt.forked());
    assert.equal(makeRoom(root, 'SUMMARY'), null);
    assert.ok(root.prompt.messages().length < before.length);
    assert.deepEqual(fork.messages(), before);
  });

  it('a checkpoint that gave no room is not followed by another; a long beginning is sent as long as it fits', () => {
    const long = promptOf([{ ...user('x'.repeat(5_000)), agent_id: 'a', seq: 1, at: 0 }]);
    assert.equal(relief(long, ROOM, false), null);
    assert.deepEqual(relief(long, { ...ROOM, overhead: 1_500 }, false), { type: 'stuck' });
    assert.deepEqual(relief(long, ROOM, true), { type: 'stuck' });
    const root: Member = newRoot();
    for (const text of ['TASK', 'y'.repeat(2_500)]) {
      add(root, user(text));
      add(root, { kind: 'assistant', content: { model: 'm', parts: [{ type: 'text', text: 'so' }] } });
    }
    add(root, user('z'.repeat(4_500)));
    assert.deepEqual(relief(root.prompt, ROOM, false), { type: 'summarise' });
    assert.equal(makeRoom(root, 'SUMMARY'), 'stuck');
  });

  it('long results of the newest call are shortened when nothing else helps', () => {
    const root: Member = newRoot();
    add(root, user('TASK'));
    const parts = [{ type: 'call' as const, id: 'c', name: 'read', input: '{}' }];
    add(root, { kind: 'assistant', content: { model: 'm', parts } });
    const output = 'w'.repeat(20_000);
    add(root, { kind: 'result', content: { call_id: 'c', name: 'read', status: 'ok', output } });
    assert.equal(makeRoom(root, null), null);
    assert.ok(root.prompt.characters < 1_000);
    assert.ok(JSON.stringify(root.prompt.messages().at(-1)).includes('recall {\\"seq\\": 3}'));
  });

  it('of what was said, the first and the newest stay whole within the bound', () => {
    const all = ['task', 'old '.repeat(200), 'new'].map((text, at) => ({
      seq: at + 1,
      origin: 'human' as const,
      text,
    }));
    const [first, old, newest] = spokenWithin(all, 400);
    assert.deepEqual([first?.text, newest?.text], ['task', 'new']);
    const note = `${old?.left_out} characters left out to save room: recall {"seq": 2}`;
    assert.equal(old?.left_out, 800 - (old?.text.length ?? 0));
    const spoken = [first, old, newest].flatMap((one) => one ?? []);
    assert.ok(
      checkpointText({ through: 3, number: 1, summary: '', spoken, facts: [] }).includes(note),
      'the model is told how much is left out',
    );
  });

  it('a long task does not drive out what was said last, and headings of short words count', () => {
    const all = ['task '.repeat(500), ...Array.from({ length: 300 }, () => 'yes'), 'stop'].map(
      (text, at) => ({
        seq: at + 1,
        origin: 'human' as const,
        text,
      }),
    );
    const spoken = spokenWithin(all, 2_000);
    assert.ok(spoken[0]?.text.startsWith('task ') && (spoken[0].left_out ?? 0) > 0);
    assert.equal(spoken.at(-1)?.text, 'stop');
    const told = checkpointText({ through: 1, number: 1, summary: '', spoken, facts: [] });
    const frame = checkpointText({ through: 1, number: 1, summary: '', spoken: [], facts: [] });
    assert.ok(told.length - frame.length < 2_500, `${told.length - frame.length} characters`);
    assert.deepEqual(spokenWithin(spoken, 2_000), spoken, 'the next checkpoint shortens nothing twice');
  });

  it('reads the window from what providers say', () => {
    const told: readonly (readonly [string, number | null])[] = [
      [
        "This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens.",
        8_192,
      ],
      ['prompt is too long: 210000 tokens > 200000 maximum', 200_000],
      ['input length and `max_tokens` exceed context limit: 190000 + 32000 > 200000', 200_000],
      [
        'The input token count (1048577) exceeds the maximum number of tokens allowed (1,048,576).',
        1_048_576,
      ],
      ['the request is too large', null],
    ];
    for (const [refusal, window] of told) assert.equal(namedWindow(refusal), window, refusal);
  });
});
