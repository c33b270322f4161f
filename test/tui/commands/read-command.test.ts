// Proves that every command of the terminal UI stands once: its line is read, completed, listed and bound as its row of the table says.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { ACTIONS, COMMANDS } from '../../../src/tui/commands/command-table.ts';
import { isCaptureCommand, isCommand, readCommand } from '../../../src/tui/commands/read-command.ts';
import { commandRows, keyRows } from '../../../src/tui/keys/key-rows.ts';
import { describeBindings, keyBindings } from '../../../src/tui/keys/keys-config.ts';

/** Per command: arguments that fit, what it gets from them, and arguments that do not fit (null: any text does). */
const ARGUMENTS: Readonly<Record<string, readonly [string, unknown, string | null]>> = {
  agent: ['"a b"', 'a b', 'a b'],
  allow: ['turn bash:git *', { scope: 'turn', rule: 'bash:git *', values: undefined }, 'once bash'],
  deny: [' not  now ', 'not  now', null],
  kill: ['one "a b"', ['one', 'a b'], null],
  fork: ['', null, 'text'],
  send: ['"a b" hello  there', { agent: 'a b', message: 'hello  there' }, 'one'],
  wait: ['1.5 one', { timeout_ms: 1500, agents: ['one'] }, '86401'],
  retry: ['without-last', true, 'twice'],
  rules: ['remove 12', '12', 'remove'],
  mode: ['plan', 'plan', 'plan now'],
  model: ['', '', null],
  compact: ['the paths', 'the paths', null],
  workflow: ['read it', 'read it', null],
  undo: ['redo one', { redo: true, agent: 'one' }, 'one two'],
  budget: ['one usd=2', { agent: 'one', wanted: { usd: 2 } }, 'usd=much'],
  export: ['a b.md', null, 'pdf'],
  copy: ['2', { what: 'code', number: 2 }, '0'],
  find: ['two words', 'two words', null],
  resume: [' words of it', 'words of it', null],
  rewind: ['12', '12', null],
};

for (const { name, usage } of COMMANDS)
  it(`reads /${name}`, () => {
    const [fitting, expected, wrong] = ARGUMENTS[name] ?? ['', null, 'more'];
    if (name !== 'export') {
      assert.deepEqual(readCommand(`/${name} ${fitting}`), { name, arguments: expected });
      assert.deepEqual(readCommand(`/${name.toUpperCase()} ${fitting}`), { name, arguments: expected });
    }
    if (wrong === null) return;
    const told = readCommand(`/${name} ${wrong}`);
    assert.ok(typeof told === 'string');
    assert.ok(name === 'fork' || told.endsWith(`. Usage: ${usage}`), told);
  });

it('reads where an export goes', () => {
  const read = (text: string) => (readCommand(`/export ${text}`) as { arguments: unknown }).arguments;
  assert.deepEqual(read(''), { format: 'md', file: null });
  assert.deepEqual(read('json  my file'), { format: 'json', file: 'my file' });
  assert.deepEqual(read('talk.html'), { format: 'html', file: 'talk.html' });
});

it('lists every command in help once, and in docs/tui.md', () => {
  const bindings = describeBindings(keyBindings());
  const rows = [...keyRows(bindings), ...commandRows(bindings)];
  const docs = readFileSync(join(import.meta.dirname, '../../../docs/tui.md'), 'utf8');
  for (const { name, aliases = [] } of COMMANDS) {
    assert.ok(
      rows.some(({ slash }) => slash.split(' ')[0] === `/${name}`),
      name,
    );
    for (const alias of aliases) assert.ok(docs.includes(`\`/${alias}\``), alias);
    assert.match(docs, new RegExp(`\`/${name}[ \`]`));
  }
});

it('runs by its keys what can be typed', () => {
  for (const { action, command } of ACTIONS)
    if (command !== null && command !== 'agent')
      assert.ok(typeof readCommand(`/${command}`) !== 'string', action);
});

it('takes during a capture only what docs/tui.md names', () => {
  const docs = readFileSync(join(import.meta.dirname, '../../../docs/tui.md'), 'utf8');
  const sentence = /While it is open, only (.*?) are commands;/.exec(docs)?.[1] ?? '';
  const named = [...sentence.matchAll(/`\/(\w+)`/g)].map(([, name]) => name ?? '');
  const captured = COMMANDS.filter(({ name }) => isCaptureCommand(`/${name} x`)).map(({ name }) => name);
  assert.deepEqual(captured.filter((name) => name !== 'capture').toSorted(), named.toSorted());
  for (const text of ['/kill', '//fork', '/forks', '/etc/hosts is odd', 'fork'])
    assert.ok(!isCaptureCommand(text));
  for (const text of ['/Exit', '/clear now']) assert.ok(isCaptureCommand(text) && isCommand(text));
});

it('names what is near, and what other programs call it', () => {
  assert.match(String(readCommand('/kil')), /no command \/kil\. .*\/kill.*\/help shows all\.$/);
  assert.match(String(readCommand('/CONFIG')), /^coppice doctor/);
  assert.deepEqual(readCommand('/clear'), { name: 'new', arguments: null });
  assert.deepEqual(readCommand('/q'), { name: 'quit', arguments: null });
  assert.deepEqual(readCommand('/sessions old words'), { name: 'resume', arguments: 'old words' });
  for (const word of ['init', 'config', 'permissions', 'memory', 'doctor', 'redo'])
    assert.doesNotMatch(String(readCommand(`/${word}`)), /no command|object/, word);
  const words = COMMANDS.flatMap(({ name, aliases = [] }) => [name, ...aliases]);
  assert.equal(new Set(words).size, words.length, 'no word stands for two commands');
});

it('a beginning that Enter completes never changes what agents may do: the command that does stands behind the others', () => {
  const beginnings = ['m', 'mo', 'mod'].map(
    (text) => COMMANDS.find(({ name }) => name.startsWith(text))?.name,
  );
  assert.ok(!beginnings.includes('mode'), String(beginnings));
});
