// Proves, with a server that does not say which call a question is about, that of two calls the newest is asked, and that a call that has ended is none of them.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, it } from 'node:test';
import type { Question } from '../../../src/records/question/question.ts';
import { McpServer } from '../../../src/tools/mcp-servers/mcp-server.ts';
import { closeLater, closeOpened } from '../../close-opened.ts';
import { temporaryFolder } from '../../temporary-folder.ts';
import { toolOf } from './servers.ts';

after(closeOpened);

const PROGRAM = join(import.meta.dirname, '..', '..', 'servers', 'mcp-asking-server.ts');

it('the newest of two calls is asked, with a note of the other; once it has ended there is no note', async () => {
  const place = { cwd: temporaryFolder(), env: { PATH: process.env.PATH }, sandbox: null };
  const server = new McpServer('t', { command: process.execPath, args: [PROGRAM, 'old'] }, place);
  closeLater(() => server.close());
  const tool = await toolOf(server, 'patient');
  const { signal } = new AbortController();
  /** Makes a call; resolves when its person is asked. */
  const asks = async (caller: string) => {
    const asked = Promise.withResolvers<Question>();
    const answer = Promise.withResolvers<never>();
    const ended = server.call(
      tool,
      {},
      {
        signal,
        caller,
        onProgress: () => undefined,
        ask: (question: Question) => {
          asked.resolve(question);
          return answer.promise;
        },
      },
    );
    const { call, message } = await asked.promise;
    return {
      told: JSON.stringify([call, message]),
      accept: () => {
        answer.resolve({ type: 'accept', values: {} } as never);
        return ended;
      },
    };
  };
  const one = await asks('one');
  assert.match(one.told, /one: patient/);
  const two = await asks('two');
  assert.match(two.told, /two: patient.*one: patient/);
  await two.accept();
  const three = await asks('three');
  assert.match(three.told, /three: patient.*one: patient/);
  assert.doesNotMatch(three.told, /two/);
  await one.accept();
  await three.accept();
  const four = await asks('four');
  assert.doesNotMatch(four.told, /one|three/);
  await four.accept();
});
