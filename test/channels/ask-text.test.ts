/**
 * Proves that every door shows a call that waits for a person in full: padding hides nothing, the end is always visible, and a file change is shown as a diff.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { writeAsks } from '../../src/channels/chat/chat-commands.ts';
import { askText as telegramText } from '../../src/channels/chat/parcel-messages.ts';
import { TextBuilder } from '../../src/channels/chat/text-builder.ts';
import { askText as outboxText } from '../../src/channels/outbox/compose-parcel.ts';
import { askLines } from '../../src/cli/approvals/approvals-list.ts';
import { askJson } from '../../src/documents/approval-json.ts';
import type { Ask } from '../../src/records/conversation/ask.ts';
import { EMPTY_UI } from '../../src/tui/state/ui-state.ts';
import { approvalBox } from '../../src/tui/views/approvals/approval-box.ts';
import { after, agent, PLAIN, seen, T0 } from '../tui/ui-fixture.ts';
import { newAsk } from './parcel-fixture.ts';

const QUESTION = { since: T0, saying: null, grant: null, held: null, page: 0 };

/** Returns the text that a person sees of an approval, by door. */
const WHOLE_DOORS: Readonly<Record<string, (ask: Ask) => string>> = {
  'the box of the terminal': (ask) => {
    const known = [agent('main', null), agent(ask.agent_id, 'main')].map((one) => seen(one));
    const state = after({ ...EMPTY_UI, root_id: 'main' }, ...known, {
      type: 'asks',
      asks: [{ ...ask, root_id: 'main' }],
    });
    // Rejoins a command that wraps to the next row.
    return approvalBox(state, QUESTION, 78, 12, PLAIN)
      .join('\n')
      .replaceAll(/ *│\n│ */g, ' ');
  },
  'coppice approvals list': (ask) =>
    askLines(
      { ...askJson(ask), short_id: 'a1b2c3d4', lineage: ['main'], offered_rule: null, rules: [] },
      { now: T0, style: PLAIN },
    ).join('\n'),
  'a Telegram question': (ask) => telegramText(ask).text,
  'the text for other channels': outboxText,
};
const DOORS: typeof WHOLE_DOORS = {
  ...WHOLE_DOORS,
  'the list in a Telegram chat': (ask) => {
    const builder = new TextBuilder();
    writeAsks(builder, [ask]);
    return builder.build().text;
  },
};

const bash = (command: string) => newAsk({ subject: command, input: JSON.stringify({ command }) });
const END = 'rm -rf "$HOME"';
const PADDED: Readonly<Record<string, string>> = {
  'spaces before it': `echo fine${' '.repeat(5_000)}; ${END}`,
  'tabs before it': `echo fine${'\t'.repeat(5_000)}; ${END}`,
  'spaces of another kind before it': `echo fine${'\u00a0\u3000\u2800'.repeat(800)}; ${END}`,
  'empty lines before it': `echo fine${'\n'.repeat(5_000)}${END}`,
  'lines of blanks before it': `echo fine${'\n  \t '.repeat(3_000)}\n${END}`,
  'harmless lines before it': `${'echo fine\n'.repeat(5_000)}${END}`,
  'a long word before it': `echo ${'x'.repeat(50_000)}; ${END}`,
  'characters that are not seen before it': `echo fine${'\u200b\u2060'.repeat(2_000)}; ${END}`,
  'marks that pile up before it': `echo fine e${'\u0301'.repeat(5_000)}; ${END}`,
};

describe('the end of a command is in sight', () => {
  for (const [door, show] of Object.entries(DOORS))
    for (const [padding, command] of Object.entries(PADDED))
      it(`${door}: with ${padding}`, () => {
        const shown = show(bash(command));
        assert.ok(shown.includes(END), shown.slice(-500));
        assert.match(shown, /echo /);
        assert.ok(shown.length < 30_000);
        // The text states how much was left out, or shows escapes in place of invisible characters.
        assert.match(
          shown,
          /\d+ (spaces|blanks|empty lines|characters|hidden characters|more marks)|lines? more|more lines|\\u\{/,
        );
      });
});

it('a change of a file is shown as a difference, in every door, not as JSON', () => {
  const difference = '@@ -1,2 +1,2 @@\n keep\n-old "text"\n+new "text"';
  const write = newAsk({
    tool: 'write',
    subject: 'a.md',
    input: JSON.stringify({ path: 'a.md', content: 'keep\nnew "text"\n' }),
    difference,
  });
  const edits = [{ old_text: 'old "text"', new_text: 'new "text"\nand more' }];
  const patch = newAsk({ tool: 'patch', subject: 'a.md', input: JSON.stringify({ path: 'a.md', edits }) });
  for (const [door, show] of Object.entries(WHOLE_DOORS)) {
    const [written, patched] = [show(write), show(patch)];
    for (const line of ['a.md', '-old "text"', '+new "text"']) {
      assert.ok(written.includes(line), `${door}: ${written}`);
      assert.ok(patched.includes(line), `${door}: ${patched}`);
    }
    assert.ok(patched.includes('+and more'), door);
    for (const shown of [written, patched]) assert.doesNotMatch(shown, /old_text|\\"|content/, door);
  }
});

it('a path that leads elsewhere is shown with the file that it means', () => {
  const input = JSON.stringify({ path: 'docs/../link', content: 'x' });
  for (const [door, show] of Object.entries(WHOLE_DOORS)) {
    const shown = show(newAsk({ tool: 'write', subject: 'secrets/target', input }));
    assert.ok(shown.includes('secrets/target') && shown.includes('docs/../link'), `${door}: ${shown}`);
  }
});

describe('the text for other channels', () => {
  it('shows the one argument of a call as it is, and others with their names', () => {
    assert.equal(
      outboxText(newAsk({ id: '9c1f' })),
      [
        '**file-reader** wants **bash** and waits for you:',
        '```\nrm -rf dist\n```',
        'in /proj · rule: ask(bash:rm *)',
        'Answer: `coppice approvals allow 9c1f` or `coppice approvals deny 9c1f`',
      ].join('\n\n'),
    );
    const write = outboxText(
      newAsk({ tool: 'write', subject: 'a.md', input: '{"path":"a.md","content":"x"}' }),
    );
    assert.match(write, /```\na\.md\n```\n\ncontent:\n\n```\nx\n```/);
    assert.match(outboxText(newAsk({ input: 'not JSON' })), /```\nnot JSON\n```/);
  });

  it('lets nothing in a command end its frame, and says what it leaves out', () => {
    const command = 'echo "```" ````';
    const text = outboxText(bash(command));
    assert.ok(text.includes(`\n\`\`\`\`\`\n${command}\n\`\`\`\`\`\n`), text);
    const cut = outboxText(bash('x'.repeat(10_000)));
    assert.ok(cut.length < 4_000);
    assert.match(cut, /\[… 7000 characters …\]/);
    assert.match(cut, /whole: `coppice approvals show/);
  });
});
