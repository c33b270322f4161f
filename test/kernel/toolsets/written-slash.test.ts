// Proves that slash commands which a model wrote as text become calls where nothing else can be meant, that quotations stay text, and what a shell is told.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readAnswer } from '../../../src/kernel/reading/read-answer.ts';
import { slashInShell, writtenSlash } from '../../../src/kernel/toolsets/slash/written-slash.ts';
import type { AssistantPart } from '../../../src/records/conversation/message.ts';

const ID = '7c1d4f2e-9a3b-4c5d-8e6f-0123456789ab';
const DONE = `send ${ID} {"status": "idle", "success": true, "summary": "two\\nlines, \\"quoted\\""}`;

/** Texts and commands of an answer that consists of this text. */
function read(text: string): readonly string[] {
  const found = writtenSlash(text);
  if (found === null) return [text];
  const commands = found.calls.map(({ name, input }) => {
    assert.equal(name, 'slash');
    return `→ ${JSON.parse(input).command}`;
  });
  return [...(found.before === '' ? [] : [found.before]), ...commands];
}

describe('an answer in text', () => {
  it('that is nothing but commands is calls of them, in order', () => {
    for (const [text, ...commands] of [
      [`/slash ${DONE}`, DONE],
      [`  /slash ${DONE}\n\n`, DONE],
      [`slash ${JSON.stringify({ command: DONE })}`, DONE],
      [`/slash(${JSON.stringify({ command: DONE })})`, DONE],
      [`\`\`\`\n/slash ${DONE}\n\`\`\``, DONE],
      ['/slash check-mail', 'check-mail'],
      ['/fork A\n/fork "B"', 'fork A', 'fork "B"'],
      [`/${DONE}`, DONE],
      ['/slash fork "A"\n/slash fork look at B\n  and C', 'fork "A"', 'fork look at B\n  and C'],
      [`/slash send ${ID} line one\n\n- line two`, `send ${ID} line one\n\n- line two`],
    ] as const)
      assert.deepEqual(
        read(text),
        commands.map((one) => `→ ${one}`),
        text,
      );
  });

  it('that ends in send to a UUID is that call, and the text before it stays', () => {
    assert.deepEqual(read(`All is mended.\n\n/slash ${DONE}`), ['All is mended.', `→ ${DONE}`]);
  });

  it('that shows code before send to a UUID is that call, too', () => {
    const shown = 'Mended:\n```\na = 1\n```';
    assert.deepEqual(read(`${shown}\n/slash ${DONE}`), [shown, `→ ${DONE}`]);
  });

  it('that announces commands and ends in them is these calls', () => {
    const forks = '/slash fork "A"\n/slash fork B';
    const calls = ['→ fork "A"', '→ fork B'];
    for (const said of ["I'll fork two children.", 'Let me use the right form.', 'Forking two children:'])
      assert.deepEqual(read(`${said}\n\n${forks}`), [said, ...calls], said);
    assert.deepEqual(read(`I'll fork two children.\n\`\`\`\n${forks}\n\`\`\``), [
      "I'll fork two children.",
      ...calls,
    ]);
  });

  it('that explains, quotes or mistakes a command stays text', () => {
    for (const text of [
      'Use /slash fork to create a child.',
      'To look, write\n/slash check-mail',
      'To report, write\n/slash send UUID MESSAGE',
      `Write this:\n\`\`\`\n/slash ${DONE}\n\`\`\``,
      `Do not run\n/slash kill ${ID}`,
      '/slash fork --fast look',
      '/slash spawn x',
      '/slashes are fine',
      'slash {"command": 7}',
      '',
    ])
      assert.deepEqual(read(text), [text]);
    const called: readonly AssistantPart[] = [
      { type: 'text', text: `/slash ${DONE}` },
      { type: 'call', id: 'c', name: 'bash', input: '{}' },
    ];
    assert.deepEqual(
      readAnswer(called, { names: ['slash'], find: () => undefined }, 7, writtenSlash).parts,
      called,
    );
  });
});

it('a tool of a program that is called as an answer of other programs is called', () => {
  const spec = { name: 'report', own: false, description: '', input: { type: 'object' } };
  const tool = { ...spec, fits: () => true };
  const called: AssistantPart[] = [{ type: 'call', id: 'c', name: 'report', input: '{"text":"done"}' }];
  const find = (name: string) => (name === 'report' ? tool : undefined);
  assert.deepEqual(readAnswer(called, { names: ['report', 'read'], find }, 7).parts, called);
  assert.deepEqual(readAnswer(called, { names: ['read'], find: () => undefined }, 7).parts, [
    { type: 'text', text: 'done' },
  ]);
});

describe('in a shell', () => {
  it('slash commands are told as the calls that they are', () => {
    assert.equal(
      slashInShell('/slash fork "Research A"'),
      'this is no command of the shell, and nothing was run. Call the tool slash:\nslash {"command":"fork \\"Research A\\""}',
    );
    assert.match(
      slashInShell('sleep 30; /slash check-mail') ?? '',
      /nothing was run.*\nslash \{"command":"check-mail"\}$/,
    );
    const two = slashInShell(`# two of them\n/slash fork A\nslash check-mail`);
    assert.match(
      two ?? '',
      /once for each:\nslash \{"command":"fork A"\}\nslash \{"command":"check-mail"\}$/,
    );
    assert.ok((slashInShell(`/slash send ${ID} ${'x'.repeat(100_000)}`) ?? '').length < 5_000);
  });

  it('commands behind others are told once the shell has not found them', () => {
    const missing = 'a.js\nbash: line 1: /slash: No such file or directory\n[exit code 127]';
    const calls =
      'slash is no command of the shell. Call the tool slash, once for each:\nslash {"command":"fork \\"A\\""}\nslash {"command":"fork \\"B\\""}';
    for (const command of [
      'ls && /slash fork "A" && /slash fork "B"',
      'ls; /slash fork "A"; /slash fork "B"',
      'ls\n/slash fork "A"\n/slash fork "B"',
    ]) {
      assert.equal(slashInShell(command), null);
      assert.equal(slashInShell(command, missing), calls, command);
      assert.equal(slashInShell(command, 'a.js'), null);
    }
    assert.equal(slashInShell('ls /slash', 'ls: /slash: No such file or directory'), null);
  });

  it('everything else is left to the shell', () => {
    for (const command of [
      'ls /slash',
      'slash --help',
      'cat <<E\n/slash check-mail\nE',
      '/slashed fork x',
      '',
    ])
      assert.equal(slashInShell(command), null, command);
  });
});
