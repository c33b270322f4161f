// Proves that a server whose ledger is deleted says so wherever one asks, accepts nothing more, names the copy of what it had accepted, and does not end with 0.
import assert from 'node:assert/strict';
import { readFileSync, rmSync } from 'node:fs';
import { it } from 'node:test';
import { writeRules } from '../../acp/editor-client.ts';
import { until } from '../../until.ts';
import { makeHome } from '../run-cli.ts';

it('a server without its ledger is not ready, refuses, and says where its content is', {
  timeout: 60_000,
}, async (t) => {
  const home = makeHome();
  const model = writeRules(home, [{ say: 'done' }]);
  const { child, ended } = home.start([
    'serve',
    '--model',
    model,
    '--listen',
    '127.0.0.1:0',
    '--log',
    'json',
  ]);
  t.after(() => child.kill('SIGKILL'));
  let log = '';
  child.stderr?.on('data', (text: string) => {
    log += text;
  });
  await until(() => log.includes('coppice serves'), 'a server');
  const url = /listening on (http:[^;]+)/.exec(log)?.[1] ?? assert.fail(log);
  const token = readFileSync(/"token":"([^"]+)/.exec(log)?.[1] ?? assert.fail(log), 'utf8').trim();
  const call = async (path: string, body?: object) => {
    const answer = await fetch(url + path, {
      ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    });
    return { status: answer.status, text: await answer.text() };
  };
  const accepted = await call('/v1/trees', { prompt: 'important' });
  assert.equal(accepted.status, 200, accepted.text);
  const { id } = JSON.parse(accepted.text);
  // Ends, so that an open page asks again, and is told why.
  const stream = fetch(`${url}/v1/events`, { headers: { authorization: `Bearer ${token}` } }).then((one) =>
    one.text(),
  );
  for (const more of ['', '-wal', '-shm']) rmSync(home.database + more);
  assert.equal((await call('/readyz')).status, 503);
  await until(() => /level":"warn".*the ledger is gone: .*rescued/.test(log), 'a line in the log');
  assert.equal((await call('/healthz')).status, 200);
  for (const [path, body] of [
    ['/readyz'],
    ['/v1/trees'],
    ['/metrics'],
    ['/v1/trees', { prompt: 'late' }],
    [`/v1/agents/${id}/messages`],
    [`/v1/agents/${id}/kill`, {}],
  ] as const) {
    const { status, text } = await call(path, body);
    assert.equal(status, 503, `${path}: ${text}`);
    assert.match(text, /"E_DB_GONE".*the ledger is gone: .* was deleted/);
  }
  const [copy = ''] = /\S+\.rescued-[\w-]+/.exec((await call('/readyz')).text) ?? [];
  await stream;
  child.kill('SIGTERM');
  const { code, stderr } = await ended;
  assert.equal(code, 2);
  assert.doesNotMatch(stderr, /nothing is lost/);
  assert.match(stderr, /\nerror: the ledger is gone: .* \(E_DB_GONE\)\n$/);
  const { stdout } = await home.run(['show', id, '--json', '--database', copy]);
  assert.equal(JSON.parse(stdout).agent?.id ?? JSON.parse(stdout).id, id);
});
