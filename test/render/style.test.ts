import assert from 'node:assert/strict';
import { it } from 'node:test';
import { styleOf } from '../../src/render/style.ts';

const colour = (TERM: string, more: NodeJS.ProcessEnv = {}) =>
  styleOf({ isTTY: true }, false, { TERM, ...more }).colour;

it('terminals without colours get none, unless colours are forced', () => {
  for (const name of ['dumb', 'vt100', 'vt220', 'vt100-am', 'xterm-mono', 'linux-m']) {
    assert.equal(colour(name), false, name);
    assert.equal(colour(name, { FORCE_COLOR: '1' }), true, name);
  }
  for (const name of [
    'xterm',
    'xterm-256color',
    'tmux-256color',
    'screen',
    'linux',
    'vte-256color',
    'rxvt-unicode',
  ])
    assert.equal(colour(name), true, name);
});
