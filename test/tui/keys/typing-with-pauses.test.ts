/**
 * Proves that text typed with any pauses approves nothing, and reaches the draft, while questions come up and while a rule is shown; and that a panel that the
 * person opened takes its letters.
 */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { AppContext } from '../../../src/tui/app-context.ts';
import { keyPressed } from '../../../src/tui/app-keys.ts';
import { LineEditor } from '../../../src/tui/composer/line-editor.ts';
import { answerByLetter } from '../../../src/tui/keys/answer-keys.ts';
import { keyBindings } from '../../../src/tui/keys/keys-config.ts';
import { ALONE_MS } from '../../../src/tui/state/question-in-view.ts';
import type { UiEvent } from '../../../src/tui/state/ui-event.ts';
import { EMPTY_UI, type UiState } from '../../../src/tui/state/ui-state.ts';
import { reduce } from '../../../src/tui/state/ui-store.ts';
import { agent, ask, PLAIN, seen, T0 } from '../ui-fixture.ts';

const [LEADER, RIGHT, ESCAPE] = ['\x18', '\x1b[C', '\x1b'];
const FRAME_MS = 100;

/** A window without a terminal: the real keys and state on a clock that is moved by hand. */
class Window {
  state: UiState = [seen(agent('main', null)), seen(agent('child', 'main'))].reduce(reduce, {
    ...EMPTY_UI,
    now: T0,
    typed_at: T0 - 9_000,
  });
  fails = false;
  vim = false;
  readonly said: string[] = [];
  readonly answers: string[] = [];
  /** Agents whose messages were listed, to go back. */
  readonly listed: string[] = [];
  readonly #app: AppContext;
  #open = ['a', 'b', 'c', 'd'].map((id) =>
    ask(id, 'child', {
      subject: `git log ${id}`,
      subject_kind: 'command',
      input: `{"command":"git log ${id}"}`,
    }),
  );

  readonly #editor = new LineEditor({
    completion: null,
    sent: () => [],
    vim: () => this.vim,
    style: { unicode: false, selected: (text) => text, dim: (text) => text },
    onRedraw: () => undefined,
  });

  get draft(): string {
    return this.#editor.text;
  }

  set draft(text: string) {
    this.#editor.setText(text);
  }

  constructor() {
    const window = this;
    this.#app = {
      get state() {
        return window.state;
      },
      editor: this.#editor,
      acceptsInput: true,
      options: { bindings: keyBindings() },
      style: PLAIN,
      find: null,
      filtering: false,
      screen: { full: false, columns: 100, rows: 30, alternate: false },
      own_commands: { stop: () => false },
      store: {
        agent: async (id: string) => {
          window.listed.push(id);
          return null;
        },
      },
      runtime: {
        answer: async (
          id: string,
          { verdict, scope, rule }: { verdict: string; scope: string; rule?: string },
        ) => {
          if (window.fails) throw new Error('the ledger is locked');
          window.answers.push([verdict, scope, id, ...(rule === undefined ? [] : [rule])].join(' '));
          window.#open = window.#open.filter((one) => one.id !== id);
        },
        interrupt: async () => undefined,
      },
      dispatch: (event: UiEvent) => {
        window.state = reduce(window.state, event);
      },
      say: (text: string) => window.said.push(text),
      attempt: (work: () => Promise<void>) => void work().catch(() => undefined),
      refresh: () => undefined,
    } as unknown as AppContext;
  }

  /** The questions come up. */
  ask(): void {
    this.state = reduce(this.state, { type: 'asks', asks: this.#open });
  }

  /** Time passes; the program draws, and a held letter may count. */
  async wait(ms: number): Promise<void> {
    const end = this.state.now + ms;
    for (let at = this.state.now; at < end; ) {
      at = Math.min(end, at + FRAME_MS);
      this.state = reduce(this.state, { type: 'tick', now: at });
      answerByLetter(this.#app);
      await Promise.resolve();
      if (this.state.asks.length > 0) this.ask();
    }
  }

  key(data: string): void {
    keyPressed(this.#app, data);
  }
}

/** The same numbers every time. */
function dice(): (most: number) => number {
  let seed = 11;
  return (most) => {
    seed = (seed * 48_271) % 2_147_483_647;
    return seed % most;
  };
}

const TEXTS = [
  'this is yes',
  'go on, yes',
  'so say y y y',
  'see you, yes',
  'Yesterday y',
  'All yes',
  'my yes y',
];

it('a sentence with random pauses approves nothing and is in the draft, whenever the questions come up', async () => {
  const random = dice();
  for (let round = 0; round < 210; round += 1) {
    const text = TEXTS[round % TEXTS.length] as string;
    const window = new Window();
    const asked = random(text.length);
    for (const [index, character] of [...text].entries()) {
      if (index === asked) window.ask();
      // `m` opens the field for the reason of a denial, if it is alone.
      await window.wait(index === 1 && text.startsWith('m') ? 300 : 20 + random(3_000));
      window.key(character);
    }
    await window.wait(2_000);
    assert.deepEqual(window.answers, [], text);
    assert.equal(window.draft, text);
  }
});

it('nor does one in the normal mode of vim, with nothing written, where letters are commands; y answers what was called up', async () => {
  const random = dice();
  for (const text of ['try yes', 'y', 'why my yyy', 'lets try', 'n y n y'])
    for (let round = 0; round < 20; round += 1) {
      const window = new Window();
      window.vim = true;
      window.key(ESCAPE);
      window.ask();
      await window.wait(2_000);
      for (const character of text) {
        window.key(character);
        assert.equal(window.state.question?.held, null, 'nor does it say that it will');
        await window.wait(20 + random(3_000));
      }
      assert.deepEqual(window.answers, [], text);
      assert.equal(window.draft, '');
      window.key(LEADER);
      window.key('!');
      await window.wait(2_000);
      window.key('y');
      await window.wait(2_000);
      assert.deepEqual(window.answers, ['allow once a'], text);
    }
});

it('nor does a sentence with random pauses behind a chord that showed a rule, once it is not the answer', async () => {
  const random = dice();
  for (const chord of ['s', 'Y', 'A'])
    for (let round = 0; round < 40; round += 1) {
      const window = new Window();
      window.ask();
      await window.wait(2_000);
      window.key(LEADER);
      window.key(chord);
      for (const character of ['this is yes', 'no y y', 'yes and y y'][round % 3] as string) {
        window.key(character);
        await window.wait(20 + random(character === 'y' ? ALONE_MS - 30 : 3_000));
      }
      await window.wait(2_000);
      assert.deepEqual(
        window.answers.filter((one) => one.startsWith('allow')),
        [],
        chord,
      );
      window.key(ESCAPE);
      assert.equal(window.draft, '', 'it went to the panel');
      assert.match(window.said.join(), /the rule is open/);
    }
});

it('a panel that was opened takes the arrow and the letter that follows it', async () => {
  for (const draft of ['', 'half a sen']) {
    const window = new Window();
    window.ask();
    for (const character of draft) window.key(character);
    await window.wait(1_000);
    window.key(LEADER);
    window.key('s');
    await window.wait(1_500);
    window.key(RIGHT);
    await window.wait(500);
    window.key('y');
    assert.deepEqual(window.answers, [], 'another letter could still follow');
    await window.wait(1_000);
    assert.deepEqual(window.answers, ['allow session a bash:git log *']);
    assert.equal(window.draft, draft);
  }
});

it('y and n answer the agent that is selected in the list, and no word typed there does', async () => {
  const window = new Window();
  window.ask();
  await window.wait(1_000);
  window.key(LEADER);
  window.key('a');
  await window.wait(1_000);
  window.key('y');
  await window.wait(1_000);
  assert.deepEqual(window.answers, [], 'main asks nothing');
  window.key(ESCAPE);
  window.key(ESCAPE);
  for (const word of ['yarn', 'nn', 'only y']) {
    window.key(LEADER);
    window.key('a');
    window.key('\x1b[B');
    await window.wait(1_000);
    for (const character of word) {
      window.key(character);
      await window.wait(60);
    }
    await window.wait(1_000);
    assert.deepEqual(window.answers, [], word);
    window.key(ESCAPE);
    window.key(ESCAPE);
  }
  window.key(LEADER);
  window.key('a');
  window.key('\x1b[B');
  for (const letter of ['y', 'n']) {
    await window.wait(500);
    window.key(letter);
    await window.wait(1_000);
  }
  assert.deepEqual(window.answers, ['allow once a', 'deny once b']);
});

it('Y and then y allow each open question that is like this one, once', async () => {
  const window = new Window();
  window.ask();
  await window.wait(1_000);
  window.key('Y');
  await window.wait(1_600);
  assert.deepEqual(window.answers, [], 'it is only shown');
  assert.equal(window.state.question?.grant?.scope, 'waiting');
  window.key('y');
  await window.wait(1_000);
  assert.deepEqual(
    window.answers,
    ['a', 'b', 'c', 'd'].map((id) => `allow once ${id}`),
  );
});

it('Y y y answers them at any pauses of a hand', async () => {
  for (const pause of [250, 500, 700, 800, 1_000, 1_500, 3_000]) {
    const window = new Window();
    window.ask();
    await window.wait(1_000);
    for (const letter of ['Y', 'y', 'y', 'y']) {
      if (window.state.question === null) break;
      window.key(letter);
      await window.wait(pause);
    }
    await window.wait(1_000);
    assert.deepEqual(
      [window.answers, window.draft],
      [['a', 'b', 'c', 'd'].map((id) => `allow once ${id}`), ''],
      `${pause} ms`,
    );
  }
});

it('an answer that does not reach the ledger leaves its question open', async () => {
  const window = new Window();
  window.ask();
  await window.wait(1_000);
  window.fails = true;
  window.key('y');
  await window.wait(2_000);
  assert.deepEqual([window.answers, window.state.asks.length], [[], 4]);
});

for (const vim of [false, true])
  it(`Esc twice lists the messages to go back to, unless something is written, another key came, or it took too long${vim ? ', with vim too' : ''}`, async () => {
    const pressed = async (...keys: readonly (string | number)[]) => {
      const window = new Window();
      window.vim = vim;
      window.state = [
        seen(agent('main', null, { state: { type: 'idle' } })),
        { type: 'visit', agent_id: 'main' } as const,
      ].reduce(reduce, window.state);
      for (const key of keys) {
        if (typeof key === 'number') await window.wait(key);
        else window.key(key);
      }
      await window.wait(FRAME_MS);
      return window.listed;
    };
    assert.deepEqual(await pressed(ESCAPE, 300, ESCAPE), ['main']);
    assert.deepEqual(await pressed(ESCAPE, 1_900, ESCAPE), ['main']);
    assert.deepEqual(await pressed(ESCAPE, 2_100, ESCAPE), []);
    assert.deepEqual(await pressed(ESCAPE, 2_100, ESCAPE, 300, ESCAPE), ['main']);
    assert.deepEqual(await pressed('x', ESCAPE, 300, ESCAPE), []);
    assert.deepEqual(await pressed(ESCAPE, 'x', '\x7f', ESCAPE), []);
  });
