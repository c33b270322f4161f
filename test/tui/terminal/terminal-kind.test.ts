/** Proves that terminals are known by their environment and by the name that they report, that multiplexers are not taken for the terminal around them, and that an unknown one is left alone. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { kindOf, kindOfName } from '../../../src/tui/terminal/terminal-kind.ts';

it('tells terminals apart', () => {
  const notifies = (env: NodeJS.ProcessEnv) => kindOf(env).notifies;
  assert.equal(notifies({ TERM: 'xterm-kitty' }), 99);
  assert.equal(notifies({ TERM: 'xterm-256color', KITTY_WINDOW_ID: '1' }), 99);
  assert.equal(notifies({ TERM_PROGRAM: 'ghostty', TERM: 'xterm-ghostty' }), 777);
  assert.equal(notifies({ TERM: 'foot' }), 777);
  assert.equal(notifies({ TERM_PROGRAM: 'iTerm.app' }), 9);
  assert.equal(notifies({ TERM: 'xterm-256color' }), null);
  assert.equal(
    notifies({ TERM_PROGRAM: 'iTerm.app', TMUX: '/tmp/tmux-0/default,1,0', TERM: 'tmux-256color' }),
    null,
  );
  assert.equal(kindOf({ TERM_PROGRAM: 'Apple_Terminal' }).copies, 'never');
  assert.equal(kindOf({ TERM_PROGRAM: 'vscode' }).copies, 'known');
  assert.equal(kindOf({ TERM: 'xterm-256color' }).copies, 'unknown');
  assert.equal(kindOfName('WezTerm 20240203')?.notifies, 777);
  assert.equal(kindOfName('XTerm(389)'), null);
});
