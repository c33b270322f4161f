// Proves with whole processes where it is shown how a call was read: in logs, JSON and exports; and that the model gets its own words back.
import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { type Home, makeHome } from '../cli/run-cli.ts';
import { startOpenAiChatServer } from '../servers/openai-chat-server.ts';
import type { ProtocolServer } from '../servers/protocol-server.ts';

let home: Home;
let server: ProtocolServer;
const raw: string[] = [];

before(async () => {
  home = makeHome();
  server = await startOpenAiChatServer({
    answer: ({ raw: request, messages }) => {
      raw.push(request);
      return messages.length === 1
        ? { calls: [{ id: 'c1', name: 'Read', input: { file_path: '.', explanation: 'to see' } }] }
        : { text: 'done' };
    },
  });
  home.configure({
    model: 'other/m',
    providers: { other: { type: 'openai-compatible', baseURL: `${server.url}/v1` } },
  });
});
after(() => server.close());

it('what ran is shown with what was changed, and the model gets back what it wrote', async () => {
  const { code, stderr } = await home.run(['run', 'look']);
  assert.equal(code, 0, stderr);
  assert.match(
    raw[1] ?? '',
    /"name":"Read","arguments":"\{\\"file_path\\":\\"\.\\",\\"explanation\\":\\"to see\\"\}"/,
  );
  assert.doesNotMatch(raw[1] ?? '', /changes|file_path →/);
  const logs = await home.run(['logs', 'main']);
  assert.match(logs.stdout, /● read \{"path":"\."\} \(Read → read; file_path → path; explanation left out\)/);
  const json = await home.run(['logs', 'main', '--json']);
  const read = {
    name: 'read',
    input: '{"path":"."}',
    changes: ['Read → read', 'file_path → path', 'explanation left out'],
  };
  assert.ok(json.stdout.includes(`"read":${JSON.stringify(read)}`), json.stdout);
  const exported = await home.run(['export', 'main', '--markdown']);
  assert.match(
    exported.stdout,
    /`read`\n\n```\n\{"path":"\."\}\n```\n\n_Read → read; file_path → path; explanation left out_/,
    exported.stderr,
  );
});
