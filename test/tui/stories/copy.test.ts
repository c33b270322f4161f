/** Proves that a person gets an answer, a code block or the output of a command into the clipboard of the terminal, is told what was sent and that it may be refused, reads what the agent and the tree do and what fills the context, and on leaving what was used. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { openUi, type UiStage } from './ui-stage.ts';

const ANSWER = [
  'Two ways:\n',
  '```sh\nmake all\n```\n',
  '1. or\n\n   ```ts\n   const word = "größer";\n   const more = 2;\n   ```\n',
].join('\n');

/** Types `/copy …` and returns what the terminal was given for its clipboard; null: nothing. */
async function copied(ui: UiStage, line: string, says: string): Promise<string | null> {
  const mark = ui.pty.mark();
  await ui.say(line);
  await ui.pty.until(() => ui.pty.written(mark).includes(says), `${line}: ${says}`);
  const sent = ui.pty.written(mark).split('\x1b]52;c;')[1];
  return sent === undefined ? null : Buffer.from(sent.split('\x07')[0] ?? '', 'base64').toString();
}

it('copies an answer, a block of it, and what a command printed; says what there is not', async (test) => {
  const ui = await openUi(
    test,
    {
      rules: [
        {
          when: { user: '^run', step: 1 },
          calls: [{ name: 'bash', input: { command: "printf 'one\\ntwo\\033[31m'" } }],
        },
        { when: { user: '^run' }, say: 'It ran.' },
        { say: ANSWER },
      ],
    },
    { args: ['--allow', 'bash'] },
  );
  assert.equal(await copied(ui, '/copy', 'there is no conversation yet'), null);
  await ui.say('how?');
  await ui.pty.until('const more');
  assert.equal(await copied(ui, '/copy output', 'no command has printed anything yet'), null);
  assert.equal(await copied(ui, '/copy', 'the last answer, '), ANSWER.trimEnd());
  assert.ok(!ui.shows('OSC 52'), 'this terminal is known to take it');
  assert.equal(await copied(ui, '/copy 1', 'code block 1 of 2, 1 line'), 'make all');
  const second = await copied(ui, '/copy 2', 'code block 2 of 2, 2 lines');
  assert.equal(second, 'const word = "größer";\nconst more = 2;');
  assert.equal(await copied(ui, '/copy code', 'code block 1 of 2'), 'make all');
  assert.equal(await copied(ui, '/copy code 2', 'code block 2 of 2'), second);
  assert.equal(await copied(ui, '/copy 3', 'the last answer has 2 code blocks'), null);
  await ui.say('run');
  await ui.pty.until('It ran.');
  assert.equal(await copied(ui, '/copy output', 'the output of the last command'), 'one\ntwo');
  await ui.say('!echo mine');
  await ui.pty.until(() => ui.pty.screen().includes('mine'), 'its output');
  assert.equal(await copied(ui, '/copy output', 'the output of your command "echo mine'), 'mine');
  assert.equal(
    await copied(ui, '/copy output 2', 'the output of command 2, counted from the last'),
    'one\ntwo',
  );
  assert.equal(await copied(ui, '/copy output 3', 'only 2 commands have printed anything'), null);
  await ui.say('/status');
  await ui.pty.until('questions open');
  for (const one of ['agent    main (idle)', 'mode     ask', 'agents   1, 0 at work, 0 questions open'])
    assert.ok(ui.shows(one), one);
  await ui.say('/context');
  await ui.pty.until('/compact summarises the older part');
  const rows = ui.pty.screen().flatMap((line) => {
    const found = /^\s*(\d+)k?\s+(\d+)%\s+(\d+)\s+(.*?)\s*$/.exec(line);
    return found === null ? [] : [{ share: Number(found[2]), tokens: Number(found[3]), what: found[4] }];
  });
  const what = rows.map((row) => row.what?.replace(/\d+/, 'N'));
  const parts = ['system text', 'descriptions of N tools', 'what it was told', 'its answers and calls'];
  assert.deepEqual(what, [...parts, 'results of its calls']);
  const whole = rows.reduce((sum, { share }) => sum + share, 0);
  assert.ok(whole >= 97 && whole <= 103, `${whole}%`);
  const told = Number(/context of main: (\d+) tokens/.exec(ui.pty.screen().join('\n'))?.[1]);
  const divided = rows.reduce((sum, { tokens }) => sum + tokens, 0);
  assert.ok(Math.abs(told - divided) <= rows.length, `${told} tokens, divided into ${divided}`);
  await ui.say('/exit');
  await ui.pty.ended;
  const [used = '', back = ''] = ui.pty.history().filter((line) => /^(used in all|come back)/.test(line));
  assert.match(used, /^used in all: \d+k? tokens/);
  assert.match(back, /^come back with: coppice --tree \w{8}/);
});
