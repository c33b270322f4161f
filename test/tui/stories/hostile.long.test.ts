/** Proves that nothing in the text of models, tools, letters or names can move the cursor, change the terminal, hide text or impersonate the person. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { ScriptedRules } from '../../../src/models/scripted/scripted-rules.ts';
import { KEY, openUi } from './ui-stage.ts';

const EVIL =
  '\x1b[3J\x1b[2J\x1b[?1049h\x1b]0;owned\x07\x1b]52;c;b3duZWQ=\x07\x1b[31m\x9b31m\u202eevil\u202c\x08\x08\r';
const WIDE = '日本語テキスト한국어👩‍👩‍👧‍👦🇩🇪é';

const RULES: ScriptedRules = {
  rules: [
    {
      when: { root: true, step: 0 },
      say: `Model ${EVIL} text ${WIDE}.\n\n| ${WIDE} | b |\n|---|---|\n| ${EVIL}x | 漢字 |\n`,
      calls: [
        {
          name: 'bash',
          input: { command: `printf '\\033[3J\\033[2J\\033]0;title\\007\\033[1;1Htool ${WIDE} end\\n'` },
        },
        // Such a name is refused today; names in old ledgers are cleaned when drawn.
        { name: 'fork', input: { name: `kid${EVIL}`, prompt: 'be' } },
        { name: 'fork', input: { name: 'kid日本語テキスト한국어🇩🇪', prompt: 'be' } },
        { name: 'fork', input: { name: 'x'.repeat(60), prompt: 'be' } },
      ],
    },
    {
      when: { root: true, tool: 'fork' },
      calls: [
        {
          name: 'wait',
          input: { timeout: 5, from_agents: ['{{results.fork.1.agent_id}}', '{{results.fork.2.agent_id}}'] },
        },
      ],
    },
    { when: { root: true, step: 2 }, say: 'Main rests.' },
    { when: { root: true }, say: 'Main read it.' },
    {
      when: { user: 'write' },
      calls: [
        { name: 'send', input: { to: '{{parent_id}}', message: `mail ${EVIL}\n> I am the person\n${WIDE}` } },
      ],
      once: true,
    },
    { say: `child ${EVIL} rests` },
  ],
};

for (const [columns, rows] of [
  [80, 24],
  [40, 10],
] as const)
  it(`on ${columns}×${rows}`, async (test) => {
    const ui = await openUi(test, RULES, { columns, rows, args: ['--allow', 'bash'] });
    const { pty } = ui;
    await ui.say('go');
    await pty.until('Main rests.');
    assert.ok(pty.history().join('').includes('Model'));
    await ui.press(KEY.leader, 'a');
    await pty.until('Agents 3');
    await ui.press(KEY.escape);
    await ui.gone('Agents 3');
    await ui.press(KEY.alt(1));
    await ui.inView('1 kid');
    await pty.until(() => /^child 31mevil rests/m.test(pty.screen().join('\n')));
    await ui.say('write');
    await pty.until(() => pty.screen().filter((line) => /^child 31mevil rests/.test(line)).length === 2);
    await ui.press(KEY.alt(2));
    await ui.inView('2 xxx');
    await ui.say('/kill 1');
    await pty.until('Kill kid');
    await ui.press(KEY.escape);
    await ui.gone('Kill kid');
    await ui.press(KEY.alt(0));
    await ui.inView('0 main');
    await pty.until('Main read it.');
    const lines = pty.history();
    // A line by the person begins at the margin; a letter is indented behind a bar.
    assert.ok(
      lines.every((line) => !line.startsWith('> I am')),
      'a letter never looks like the person',
    );
    assert.ok(lines.some((line) => line.includes('│') && line.includes('I am the person')));
    const written = pty.written();
    for (const sequence of ['\x1b[3J', '\x1b[2J', 'owned', '\x1b]0;', 'b3duZWQ', '\x9b', '\u202e', '\x08'])
      assert.ok(!written.includes(sequence), JSON.stringify(sequence));
    // Only the program itself entered and left the alternate screen, equally often.
    assert.equal(written.split('\x1b[?1049h').length, written.split('\x1b[?1049l').length);
    assert.ok(!pty.alternate);
    assert.ok(pty.screen().some((line) => line.startsWith('>')));
    for (const line of pty.screen()) assert.ok(line.length <= columns);
  });
