// Proves that an answer printed block by block while it streams reads exactly as if it had been printed at the end, whatever it contains and however it ends.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { AssistantPart } from '../../../src/records/conversation/message.ts';
import { EntryPrinter } from '../../../src/tui/printing/entry-printer.ts';
import type { Entry } from '../../../src/tui/state/entry.ts';
import { EMPTY_PANE } from '../../../src/tui/state/ui-state.ts';
import { MarkdownTail } from '../../../src/tui/text/markdown.ts';
import { agentNames } from '../../../src/tui/views/transcript/agent-names.ts';
import { at, PLAIN, story, user } from '../ui-fixture.ts';

const options = { width: 50, style: PLAIN, names: agentNames(story()), spend: () => false };
const ASKED: Entry = {
  type: 'message',
  seq: 1,
  message: user('main', 1, 'go'),
  inherited: false,
  opened: false,
};
const NOTE = '· cut off here; the answer begins again';

function answer(seq: number, ...parts: readonly AssistantPart[]): Entry {
  const message = at('main', seq, { kind: 'assistant', content: { parts } } as never);
  return { type: 'message', seq, message, inherited: false, opened: false };
}

class Printing {
  readonly lines: string[] = [];
  readonly #printer = new EntryPrinter(0);
  readonly #text = new MarkdownTail();

  streamed(streaming: string, reasoning = ''): this {
    this.entries([ASKED]);
    this.lines.push(
      ...this.#printer.streamed({ ...EMPTY_PANE, streaming, reasoning }, this.#text, options).lines,
    );
    return this;
  }

  left(streamed: string): void {
    this.#printer.left(streamed);
  }

  words(): readonly string[] {
    return this.lines.join(' ').match(/w\d+\./g) ?? [];
  }

  entries(entries: readonly Entry[]): this {
    this.lines.push(...this.#printer.lines(entries, entries.length, options).lines);
    return this;
  }
}

const block = fc.constantFrom(
  'A paragraph with *some* words that are more than a line.',
  '- one\n- two\n  - three\n\n    and more of it',
  '1. first\n2. second',
  '```ts\nconst a = 1;\n\nconst b = 2;\n```',
  '```\nopen',
  '| a | b |\n| - | -: |\n| 1 | 2 |',
  '# A title',
  '> quoted\n> twice',
  '\n',
  '漢字 🎉',
);
const text = fc.array(block, { minLength: 1, maxLength: 12 }).map((blocks) => blocks.join('\n\n'));

describe('a streamed answer', () => {
  it('reads as if it had been printed at its end, in whatever pieces it came and wherever it was interrupted', () => {
    fc.assert(
      fc.property(
        text,
        fc.array(fc.nat({ max: 60 }), { maxLength: 12 }),
        fc.nat(),
        fc.boolean(),
        (all, steps, cut, thinks) => {
          const whole = all.slice(0, 1 + (cut % all.length));
          const reasoning = thinks ? 'a thought' : '';
          const parts: AssistantPart[] = [
            ...(thinks ? [{ type: 'reasoning', text: reasoning } as AssistantPart] : []),
            { type: 'text', text: whole } as AssistantPart,
          ];
          const entries = [ASKED, answer(2, ...parts)];
          const printing = new Printing();
          let end = 0;
          for (const step of steps) {
            end = Math.min(whole.length, end + step);
            printing.streamed(whole.slice(0, end), reasoning);
          }
          assert.deepEqual(printing.entries(entries).lines, new Printing().entries(entries).lines);
        },
      ),
    );
  });

  it('that a resize has left in the scrollback in part goes on behind that part', () => {
    const words = Array.from({ length: 60 }, (_, index) => `w${index}.`);
    const kinds = [
      words.join(' '),
      `\`\`\`\n${words.join('\n')}\n\`\`\``,
      words.map((one) => `- ${one}`).join('\n'),
    ];
    for (const all of kinds)
      for (let left = 20; left < all.length; left += 7) {
        const cut = all.slice(0, all.slice(0, left).search(/\s\S*$/) + 1);
        const printing = new Printing().streamed(cut);
        printing.left(cut);
        const known = printing.words();
        const shown = cut.match(/w\d+\./g) ?? [];
        printing
          .streamed(all.slice(0, left + 30))
          .entries([ASKED, answer(2, { type: 'text', text: all } as AssistantPart)]);
        assert.deepEqual([...shown, ...printing.words().slice(known.length)], words, cut);
      }
  });

  it('that is asked for again begins below what had come of it', () => {
    const printing = new Printing().streamed('One.\n\nTwo.\n\nThr').streamed('').streamed('Uno.\n\nDu');
    printing.entries([ASKED, answer(2, { type: 'text', text: 'Uno.\n\nDue.' } as AssistantPart)]);
    assert.deepEqual(printing.lines, ['> go', '', 'One.', '', 'Two.', '', NOTE, '', 'Uno.', '', 'Due.']);
  });

  it('that is another one in the end stands below what had come of it', () => {
    const printing = new Printing().streamed('One.\n\nTwo.\n\nThr');
    printing.entries([ASKED, answer(2, { type: 'text', text: 'Uno.' } as AssistantPart)]);
    assert.deepEqual(printing.lines, ['> go', '', 'One.', '', 'Two.', '', NOTE, '', 'Uno.']);
  });

  it('that failed is left as it is when the person goes on', () => {
    const printing = new Printing().streamed('One.\n\nTwo.\n\nThr').streamed('');
    const next: Entry = {
      type: 'message',
      seq: 2,
      message: user('main', 2, 'again'),
      inherited: false,
      opened: false,
    };
    printing.entries([ASKED, next, answer(3, { type: 'text', text: 'Uno.' } as AssistantPart)]);
    assert.deepEqual(printing.lines, ['> go', '', 'One.', '', 'Two.', '', '> again', '', 'Uno.']);
  });
});
