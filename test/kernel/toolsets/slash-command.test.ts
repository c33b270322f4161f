/**
 * Proves that the text of a slash command arrives exactly as written, whatever it is; that the examples in the guidance work; and that no
 * part of a text is ever parsed as a command.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { readSlash, type SlashCommand } from '../../../src/kernel/toolsets/slash/slash-command.ts';

const ID = '7c1d4f2e-9a3b-4c5d-8e6f-0123456789ab';

function command(text: string): SlashCommand {
  const reading = readSlash(text);
  assert.ok(reading.ok, reading.ok ? '' : `${JSON.stringify(text)}: ${reading.error}`);
  return reading.command;
}

function refusal(text: string): string {
  const reading = readSlash(text);
  assert.ok(!reading.ok, `${JSON.stringify(text)} is refused`);
  return reading.error;
}

function message(text: string): string {
  const read = command(text);
  assert.ok(read.name === 'send');
  return read.message;
}

function prompt(text: string): string | null {
  const read = command(text);
  assert.ok(read.name === 'fork');
  return read.prompt;
}

/** Any text without lone surrogates, with many characters and words that matter for quoting and commands. */
const anyText = fc
  .array(
    fc.oneof(
      { weight: 3, arbitrary: fc.constantFrom("'", '"', '\\', '$', '`', '\n', ' ', '\t', '\r\n', '#', '{') },
      {
        weight: 2,
        arbitrary: fc.constantFrom('🌳', 'é', '\u00a0', '\u2028', '\u3000', '\0', '文', 'kill it'),
      },
      { weight: 3, arbitrary: fc.string({ unit: 'grapheme', maxLength: 4 }) },
    ),
    { maxLength: 12 },
  )
  .map((parts) => parts.join('').toWellFormed());

it('check_mail is check-mail', () => {
  assert.deepEqual(command('/check_mail'), { name: 'check-mail' });
});

describe('a message of send', () => {
  it('is everything after the one blank behind the UUID, to the last character', () => {
    for (const text of [
      '{"count": 3} in C:\\temp',
      "it's done",
      'say "hi"',
      '"all of it"',
      `'all of it'`,
      'half "open',
      '  indented\n\n  - list\n',
      'a\\nb \\" $HOME `x` # no comment',
      'line one\r\nline two\r\n',
      'é🌳文👩‍👩‍👧\u00a0\u2028\u3000',
    ])
      for (const head of ['send', '/send', '/slash send', ' slash  send', '/slash /send'])
        assert.equal(message(`${head} ${ID} ${text}`), text);
    assert.equal(message(`send ${ID}\nnext line`), 'next line');
    assert.equal(message(`send ${ID}\r\nnext line`), 'next line');
    assert.equal(message(`send "Ann B" hello`), 'hello');
  });

  it('may be any text at all', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        // A line that is a command of its own is refused (below).
        fc.pre(text.trim() !== '' && !/^\/kill/m.test(text));
        assert.equal(message(`send ${ID} ${text}`), text);
      }),
      { numRuns: 3000 },
    );
  });

  it('may mention commands: what only resembles one is text', () => {
    for (const text of [
      'Plan:\nkill the old server\nsend me the report\nfork the repository',
      'To report, write\n /slash send X done',
      `Use\n  kill ${ID}\nwhen you are done`,
      'See /slash fork in the docs\nand /killall',
      `"Then run\n/slash kill ${ID}\nand stop"`,
    ])
      assert.equal(message(`send ${ID} ${text}`), text);
  });

  it('is refused when missing or blank', () => {
    assert.match(refusal('send'), /UUID is missing. Usage: send UUID MESSAGE$/);
    for (const text of [`send ${ID}`, `send ${ID} \n `]) assert.match(refusal(text), /MESSAGE is empty/);
  });
});

describe('a prompt of fork', () => {
  it('is everything after fork, without one pair of enclosing quotes', () => {
    for (const [written, read] of [
      ['Research A.', 'Research A.'],
      ['"Research approach A for the auth system"', 'Research approach A for the auth system'],
      [`'Research A'`, 'Research A'],
      ["it's here", "it's here"],
      [`"A" and "B"`, `"A" and "B"`],
      [`'A' or 'B'`, `'A' or 'B'`],
      [`"say \\"hi\\" in C:\\temp"`, `say "hi" in C:\\temp`],
      [`'it'\\''s'`, `it's`],
      [`"ends in a backslash\\"`, `"ends in a backslash\\"`],
      ['"half', '"half'],
      ['look at\n  this\n', 'look at\n  this\n'],
      ['"two\nlines"', 'two\nlines'],
    ] as const) {
      assert.equal(prompt(`fork ${written}`), read);
      assert.equal(prompt(`/slash fork --profile explore ${written}`), read);
    }
  });

  it('may be left out, which inherits the whole context; an empty one is refused', () => {
    for (const text of ['fork', '/slash fork', 'fork \n', 'fork --profile explore'])
      assert.equal(prompt(text), null);
    for (const text of ['fork ""', "fork ''", 'fork "  "', 'fork --profile explore ""'])
      assert.match(refusal(text), /PROMPT is empty: leave it out to give the child your whole context/);
  });

  it('follows the profile', () => {
    assert.deepEqual(command('fork --profile explore look'), {
      name: 'fork',
      profile: 'explore',
      prompt: 'look',
    });
    assert.match(refusal('fork --profile'), /NAME of the profile is missing/);
  });

  it('follows all options, in any order and also with `=`; an unknown one is refused with those that there are', () => {
    assert.deepEqual(
      command(
        `fork --read-first a.txt --worktree --model play/other --read-first 'b c.txt' --profile explore --budget usd=0.5 "look"`,
      ),
      {
        name: 'fork',
        profile: 'explore',
        prompt: 'look',
        model: 'play/other',
        worktree: true,
        read_first: ['a.txt', 'b c.txt'],
        budget: { usd: 0.5 },
      },
    );
    assert.equal(prompt('fork --worktree'), null);
    assert.deepEqual(command('fork --model=play/other --read-first=a.txt look'), {
      ...{ name: 'fork', profile: null, prompt: 'look', model: 'play/other', read_first: ['a.txt'] },
    });
    for (const text of ['use --model x', '-- --model x', '-v is wrong', '---'])
      assert.equal(prompt(`fork ${text}`), text);
    assert.equal(prompt('fork "--verbose is wrong"'), '--verbose is wrong');
    for (const text of ['--worktrees are fine', '--verbose', '--worktree=yes x', '--model m --fast look'])
      assert.match(refusal(`fork ${text}`), /^unknown option "--[a-z=]+" .*Usage: fork \[PROMPT\]$/);
    assert.match(refusal(`send --urgent ${ID} hi`), /^unknown option "--urgent" .*Usage: send UUID MESSAGE$/);
    assert.match(refusal('kill --all'), /^unknown option "--all"/);
    assert.match(refusal('fork --worktree --model'), /NAME of the model is missing/);
    assert.match(refusal('fork --read-first'), /FILE is missing/);
    for (const budget of ['tokens=0.5', 'seconds=1e9', 'usd=Infinity', 'usd=', 'eur=1', 'usd=0'])
      assert.match(refusal(`fork --budget ${budget} "look"`), /is not a valid budget/, budget);
    assert.match(refusal('fork a\nfork --worktree'), /line 2 is another/);
  });

  it('of an option that is given twice the last one counts; files are added up', () => {
    const twice = `fork --profile a --model=x --budget usd=1 --read-first f --profile b --model y --budget tokens=9 --read-first f look`;
    assert.deepEqual(command(twice), {
      ...{ name: 'fork', profile: 'b', model: 'y', budget: { tokens: 9 }, read_first: ['f', 'f'] },
      prompt: 'look',
    });
  });
});

describe('several commands in one call', () => {
  it('are refused with the number of the line, and none of them is run', () => {
    for (const second of [
      '/slash fork "Research approach B for the auth system"',
      '/slash check-mail',
      '/fork B',
      `/kill ${ID}`,
      'fork "B"',
      'fork --profile explore B',
      'fork',
      'check-mail',
      `kill ${ID}`,
      `send ${ID} hello`,
      'slash check-mail',
    ])
      for (const first of ['/slash fork "Research A"', `send ${ID} hello`, 'check-mail', `kill ${ID}`]) {
        const error = refusal(`${first}\n# a comment\n${second}`);
        assert.match(
          error,
          /only one command per call, but line 3 is another one: .*Nothing was run; make one call for each/,
        );
        assert.ok(error.includes(JSON.stringify(second)));
      }
  });
});

it('a command as the guidance shows the call, or with arguments in JSON, is that command', () => {
  for (const text of [
    'slash {"command": "fork Fix a.js"}',
    '{"command": "fork Fix a.js"}',
    '/slash({"command": "fork Fix a.js"})',
    'fork {"prompt": "Fix a.js"}',
    '/fork {"name": "a", "task": "Fix a.js"}',
  ])
    assert.equal(prompt(text), 'Fix a.js', text);
  assert.deepEqual(command(`send {"to": "${ID}", "message": "hi"}`), { name: 'send', to: ID, message: 'hi' });
  for (const text of ['{"prompt": "Fix a.js", "files": ["a.js"]}', '{"status": "idle"}', '{ this is code }'])
    assert.equal(prompt(`fork ${text}`), text);
});

it('a command behind another one in its line is refused, and a text may hold such signs', () => {
  for (const text of [
    '/fork "Fix a.js" && /fork "Fix b.js"',
    "fork 'Fix a.js'; fork 'Fix b.js'",
    `kill ${ID}; check-mail`,
    'check-mail && check-mail',
  ])
    assert.match(refusal(text), /only one command per call, but behind the first is another one: "/, text);
  for (const text of ['run npm test && fork it', '"a" && b', 'a; send me the result'])
    assert.equal(prompt(`fork ${text}`), text);
});

it('who wants to wait is told how', () => {
  for (const text of ['sleep 30', 'poll', 'check-mail --wait', 'check-mail --block'])
    assert.match(refusal(text), /: to wait, end your turn, and mail wakes you\. Usage/);
});

it('several lines that all begin with fork are several commands; a prompt may mention it', () => {
  const error = refusal('fork Fix a.js\nfork Fix b.js\n\nfork Fix c.js');
  assert.match(error, /line 2 is another one: "fork Fix b\.js"\. Nothing was run/);
  assert.ok(readSlash('fork Fix a.js\nfork Fix b.js\nThese are two lines of a script: fix it.').ok);
  assert.ok(readSlash('fork "Fix a.js\nfork Fix b.js"').ok);
  assert.ok(readSlash(`fork Fix a.js\n${'fork b '.repeat(100_000)}\nend`).ok);
});

describe('an unknown command', () => {
  it('is refused with the usage', () => {
    assert.match(refusal(''), /^no command. Usage:\nfork/);
    assert.match(refusal(' /slash '), /^no command/);
    assert.match(refusal('toString'), /^unknown command "toString"/);
    assert.match(refusal('slashfork x'), /^unknown command/);
    assert.match(
      refusal('wait 60'),
      /^unknown command "wait": to wait, end your turn, and mail wakes you\. Usage/,
    );
    assert.match(refusal('check-mail now'), /takes no arguments/);
    assert.match(refusal('kill'), /UUID is missing/);
  });

  it('a text of a megabyte is parsed or refused without a crash', () => {
    for (const unit of ['"', "'", '\\', ' ', '\n', 'fork\n', 'a ', '\\"']) {
      const text = unit.repeat(1_000_000 / unit.length);
      for (const head of ['', 'fork ', `send ${ID} `, `fork "`, 'kill ']) readSlash(`${head}${text}`);
    }
  });
});
