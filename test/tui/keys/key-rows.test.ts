// Proves that the table of keys has one row for all nine slots, or nine rows if their keys have no common pattern.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { commandRows, keyRows } from '../../../src/tui/keys/key-rows.ts';
import { describeBindings, keyBindings } from '../../../src/tui/keys/keys-config.ts';

it('shows the nine slots in one row', () => {
  const rows = keyRows(describeBindings(keyBindings()));
  assert.deepEqual(
    rows.filter(({ slash }) => /\d/.test(slash)),
    [
      { group: 'Go to', action: 'go to main', chord: 'Alt-0', leader: '0', slash: '/agent 0' },
      { group: 'Go to', action: 'go to slot 1…9', chord: 'Alt-1…9', leader: '1…9', slash: '/agent 1…9' },
    ],
  );
  assert.deepEqual(
    rows.find(({ slash }) => slash === '/kill'),
    {
      group: 'Agents',
      action: 'kill the agent in view and its descendants',
      chord: '',
      leader: 'k',
      slash: '/kill',
    },
  );
});

it('shows each slot when one has another key', () => {
  const rows = keyRows(describeBindings(keyBindings({ slot_3: ['ctrl+g'] })));
  assert.equal(rows.filter(({ action }) => /^go to slot \d$/.test(action)).length, 9);
  assert.equal(rows.find(({ action }) => action === 'go to slot 3')?.chord, 'Ctrl-G');
});

it('lists the commands without a key', () => {
  const slashes = commandRows(describeBindings(keyBindings())).map(({ slash }) => slash);
  assert.deepEqual(slashes, [
    '/rules [remove ID]',
    '/cancel',
    '/send AGENT MESSAGE',
    '/wait SECONDS [AGENT…]',
    '/retry [without-last]',
    '/model [NAME]',
    '/effort [off|low|medium|high]',
    '/compact [WHAT TO KEEP]',
    '/diff',
    '/undo [redo] [AGENT]',
    '/tasks',
    '/status',
    '/context',
    '/cost',
    '/budget [AGENT] [usd=N] [tokens=N]',
    '/export [FORMAT] [FILE]',
    '/copy [code|output] [NUMBER]',
    '/vim',
    '/setup',
    '/mcp [login NAME]',
  ]);
});
