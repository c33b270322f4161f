/** Proves which key does what, in each encoding in which terminals report keys, and which key configurations are refused. */
import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { setKittyProtocolActive } from '@earendil-works/pi-tui';
import { ACTIONS } from '../../../src/tui/commands/command-table.ts';
import { actionOf } from '../../../src/tui/keys/action-of.ts';
import { describeBindings, keyBindings, keysConfig } from '../../../src/tui/keys/keys-config.ts';

afterEach(() => setKittyProtocolActive(false));

const standard = keyBindings();
const refused = (config: object) => keysConfig.safeParse(config).error?.issues[0];

/** Per action: the bytes of plain xterm, of xterm with modifyOtherKeys, and of the kitty protocol. */
const CHORDS = [
  ['parent', '\x1b[1;5A', '\x1b[1;5A', '\x1b[1;5A'],
  ['child', '\x1b[1;5B', '\x1b[1;5B', '\x1b[1;5B'],
  ['previous_sibling', '\x1b[1;5D', '\x1b[1;5D', '\x1b[1;5D'],
  ['next_sibling', '\x1b[1;5C', '\x1b[1;5C', '\x1b[1;5C'],
  ['slot_1', '\x1b1', '\x1b[27;3;49~', '\x1b[49;3u'],
  ['slot_0', '\x1b0', '\x1b[27;3;48~', '\x1b[48;3u'],
  ['interrupt', '\x1b', '\x1b[27;1;27~', '\x1b[27u'],
  ['leader', '\x18', '\x1b[27;5;120~', '\x1b[120;5u'],
  ['clear', '\x03', '\x1b[27;5;99~', '\x1b[99;5u'],
  ['suspend', '\x1a', '\x1b[27;5;122~', '\x1b[122;5u'],
  ['unfold', '\x0f', '\x1b[27;5;111~', '\x1b[111;5u'],
] as const;

for (const [action, xterm, other, kitty] of CHORDS) {
  test(`the chord of ${action} in three dialects`, () => {
    assert.equal(actionOf(xterm, false, standard), action);
    assert.equal(actionOf(other, false, standard), action);
    setKittyProtocolActive(true);
    assert.equal(actionOf(kitty, false, standard), action);
  });
}

test('understands letters, digits, signs and arrows after the leader key, in any layout and dialect', () => {
  for (const [action, ...spellings] of [
    ['agents', 'a', 'A', '\x1b[97u', '\x1b[97:65;2u', '\x1b[27;2;65~'],
    ['approvals', '!', '\x1b[49:33;2u', '\x1b[33u', '\x1b[27;2;33~'],
    ['keys', '?', '\x1b[47:63;2u', '\x1b[27;2;63~'],
    ['slot_7', '7', '\x1b[55u'],
    ['parent', '\x1b[A', '\x1bOA'],
    // The key that has the letter "a" on a US layout, as reported by a keyboard with a Russian layout.
    ['agents', '\x1b[1092::97u'],
  ] as const) {
    for (const data of spellings) assert.equal(actionOf(data, true, standard), action, JSON.stringify(data));
  }
  assert.equal(actionOf('\x1b', true, standard), null);
  assert.equal(actionOf('g', true, standard), null);
});

test('a printable key alone triggers no action', () => {
  for (const data of [
    'a',
    '!',
    '1',
    'Z',
    '日',
    '👍',
    ' ',
    '\r',
    '\t',
    '\x7f',
    '\x1b[A',
    '\x1b[200~\x18\x1b[201~',
  ])
    assert.equal(actionOf(data, false, standard), null, JSON.stringify(data));
});

test('each action has a key, and no key has two actions', () => {
  const rows = describeBindings(standard);
  assert.deepEqual(
    rows.map(({ action }) => action),
    ACTIONS.map(({ action }) => action),
  );
  for (const { action, keys } of rows) assert.ok(keys.length > 0, action);
  const all = rows.flatMap(({ keys }) => keys);
  assert.equal(new Set(all).size, all.length);
});

test('a capital letter is a key of its own where a question is open, and the plain key elsewhere', () => {
  const of = (data: string, asked: boolean) => actionOf(data, true, standard, asked);
  assert.deepEqual(
    ['A', 'Y', 'y', 'K'].map((key) => of(key, true)),
    [...['allow_narrow', 'allow_alike', 'allow', 'kill']],
  );
  assert.deepEqual(
    ['A', 'Y', 'y', 'K'].map((key) => of(key, false)),
    ['agents', 'allow', 'allow', 'kill'],
  );
});

test('the help names keys in words', () => {
  const keys = (action: string) => describeBindings(standard).find((row) => row.action === action)?.keys;
  assert.deepEqual(keys('parent'), ['Ctrl-↑', 'Ctrl-X ↑']);
  assert.deepEqual(keys('slot_3'), ['Alt-3', 'Ctrl-X 3']);
  assert.deepEqual(keys('approvals'), ['Ctrl-X !']);
  assert.deepEqual(keys('interrupt'), ['Esc']);
});

test('configured keys replace those of an action and are removed from the action that had them', () => {
  const config = keysConfig.parse({ agents: ['Ctrl+X b', 'ctrl+o', 'f2'], kill: [], reap: ['leader K'] });
  const bindings = keyBindings(config);
  assert.equal(actionOf('b', true, bindings), 'agents');
  assert.equal(actionOf('a', true, bindings), null);
  assert.equal(actionOf('\x0f', false, bindings), 'agents');
  assert.equal(actionOf('\x1bOQ', false, bindings), 'agents');
  assert.equal(actionOf('o', true, bindings), 'unfold');
  assert.equal(actionOf('k', true, bindings), 'reap');
  assert.deepEqual(describeBindings(bindings).find(({ action }) => action === 'kill')?.keys, []);
});

test('a new leader key applies to every two-key binding', () => {
  const bindings = keyBindings(keysConfig.parse({ leader: ['ctrl+g'], kill: ['ctrl+g x'] }));
  assert.equal(actionOf('\x07', false, bindings), 'leader');
  assert.equal(actionOf('\x18', false, bindings), null);
  assert.equal(actionOf('a', true, bindings), 'agents');
  assert.equal(actionOf('x', true, bindings), 'kill');
  assert.deepEqual(describeBindings(bindings).find(({ action }) => action === 'agents')?.keys, ['Ctrl-G a']);
});

test('accepts the plus sign, and modifiers in any order', () => {
  const bindings = keyBindings(keysConfig.parse({ agents: ['leader +', 'shift+control+up'] }));
  assert.equal(actionOf('+', true, bindings), 'agents');
  assert.equal(actionOf('\x1b[1;6A', false, bindings), 'agents');
});

for (const [why, config, message] of [
  ['a key that nobody has', { agents: ['ctrl+pgup'] }, /no key called "ctrl\+pgup"\. Did you mean pageup\?/],
  ['a modifier that nobody has', { agents: ['ctlr+a'] }, /no key called "ctlr\+a"\. Did you mean ctrl\?/],
  ['nothing', { agents: [''] }, /no key called ""/],
  ['a key that writes', { agents: ['a'] }, /a alone is needed for typing; use "leader a"/],
  ['the enter key', { agents: ['return'] }, /needed for typing/],
  [
    'two keys without the leader',
    { agents: ['ctrl+g a'] },
    /one key, or the leader key \(ctrl\+x\) and one key/,
  ],
  ['three keys', { agents: ['ctrl+x a b'] }, /one key, or the leader key \(ctrl\+x\) and one key/],
  ['the leader key for something else', { agents: ['ctrl+x'] }, /is the leader key/],
  ['one key for two actions', { agents: ['f2'], kill: ['F2'] }, /F2 is already bound to agents/],
  ['no leader key', { leader: [] }, /needs at least one key/],
  ['two keys as leader', { leader: ['ctrl+x a'] }, /one key, not two/],
  ['Esc after the leader', { agents: ['leader esc'] }, /Esc after the leader key cancels it/],
] as const) {
  test(`refused: ${why}`, () => assert.match(refused(config)?.message ?? 'accepted', message));
}

test('an unknown action is an unknown key of the configuration', () => {
  const issue = refused({ agnets: ['f2'] });
  assert.deepEqual(issue?.code === 'unrecognized_keys' && issue.keys, ['agnets']);
});
