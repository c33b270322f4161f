// Proves that no secret reaches the log of a server, at any place in a line and in any log format, and that nothing else is hidden.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ChannelLog } from '../../../src/channels/channel.ts';
import { LOG_FORMS, type LogForm } from '../../../src/cli/serve/log-options.ts';
import { serverLog } from '../../../src/cli/serve/server-log.ts';

const TOKEN = '4242:AAF-bot_token';
/** A password with characters that JSON escapes. */
const PASSWORD = 'pa"ss\\wörd/';
const SHORT = 'main';

function written(form: LogForm, say: (log: ChannelLog) => void): string {
  const lines: string[] = [];
  say(
    serverLog({ level: 'info', form, secrets: [TOKEN, PASSWORD, SHORT], write: (line) => lines.push(line) }),
  );
  return lines.join('');
}

for (const form of LOG_FORMS)
  describe(`the log of a server as ${form}`, () => {
    for (const secret of [TOKEN, PASSWORD])
      it(`hides ${secret} in the sentence, in a field, and deep in a field`, () => {
        const text = written(form, (log) => {
          log('warn', `refused: ${secret}, ${secret}.`);
          log('error', 'refused', { error: `for ${secret}`, more: { url: [`/bot${secret}/x`] } });
        });
        assert.equal(text.split('\n').length, 3);
        assert.equal(text.split('[secret]').length, 5);
        for (const piece of [secret, JSON.stringify(secret).slice(1, -1)])
          assert.ok(!text.includes(piece), text);
      });

    it('leaves very short values alone, and logs nothing below its level', () => {
      const text = written(form, (log) => {
        log('debug', 'not told');
        log('info', 'the main agent rests', { agent: SHORT });
      });
      assert.match(text, /the main agent rests/);
      assert.doesNotMatch(text, /not told|\[secret\]/);
    });
  });
