// Proves that whoever asks a server from elsewhere reads no file by calling it a scripted model: it takes the scripts that it was started with, and no other.
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { makeHome } from '../run-cli.ts';
import { serving } from '../serving.ts';

it('a file is no model by its name: no route reads it, opens it, or quotes it', async (t) => {
  const home = makeHome();
  const rules = { rules: [{ say: 'from the script' }] };
  writeFileSync(join(home.work, 'rules.json'), JSON.stringify(rules));
  writeFileSync(join(home.work, 'other.json'), JSON.stringify(rules));
  writeFileSync(join(home.folder, 'passwd'), 'SECRET:x:0:0');
  writeFileSync(join(home.folder, 'auths.json'), '{"SECRET": "x", "rules": []}');
  mkdirSync(join(home.folder, 'SECRET'));
  const { url, stop } = await serving(home, ['--model', 'scripted:rules.json']);
  t.after(stop);
  const token = (await home.run(['web', '--token'])).stdout.trim();
  const ask = async (method: string, path: string, body?: object) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const how = body === undefined ? {} : { body: JSON.stringify(body) };
    const response = await fetch(`${url}${path}`, { method, headers, ...how });
    return { status: response.status, text: await response.text() };
  };
  const tree = await ask('POST', '/v1/trees', { prompt: 'go', model: 'scripted:rules.json' });
  assert.equal(tree.status, 200, tree.text);
  const { id } = JSON.parse(tree.text) as { id: string };
  const job = await ask('POST', '/v1/jobs', { name: 'own', task: 'go', every: '1h' });
  assert.equal(job.status, 200, job.text);
  const call = (name: string, model: string) => ({
    ...{ jsonrpc: '2.0', id: 1, method: 'tools/call' },
    params: { name, arguments: { prompt: 'x', name: 'x', model } },
  });
  for (const file of ['passwd', 'auths.json', 'SECRET', 'nothing', 'work/other.json', 'work/rules.json'])
    for (const model of [
      `scripted:${join(home.folder, file)}`,
      `scripted/${join(home.folder, file)}`,
      `scripted:../${file}`,
    ]) {
      for (const [method, path, body] of [
        ['POST', '/v1/trees', { prompt: 'x', model }],
        ['POST', `/v1/trees/${id}/resume`, { model }],
        ['POST', `/v1/trees/${id}/rewind`, { to: '1', model }],
        ['POST', `/v1/trees/${id}/what-if`, { at: '1', models: ['scripted:rules.json', model] }],
        ['POST', `/v1/trees/${id}/what-if`, { at: '1', judge: 'x', judge_model: model }],
        ['POST', '/v1/jobs', { name: 'x', task: 'x', every: '1h', model }],
        ['PATCH', '/v1/jobs/own', { model }],
        ['PATCH', '/v1/jobs/own', { model, toolset: ['process'] }],
        ['GET', `/v1/estimates?model=${encodeURIComponent(model)}`, undefined],
      ] as const) {
        const { status, text } = await ask(method, path, body);
        assert.equal(status, 400, `${method} ${path} ${model}: ${text}`);
        const { error } = JSON.parse(text) as { error: { code: string; message: string } };
        // The same words, whatever is there.
        assert.deepEqual(
          [error.code, error.message],
          ['E_MODEL_UNKNOWN', `this server has no model "${model}"`],
        );
      }
      for (const tool of ['start_tree', 'fork']) {
        const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
        const accept = 'application/json, text/event-stream';
        const body = JSON.stringify(call(tool, model));
        const how = { method: 'POST', headers: { ...headers, accept }, body };
        const text = await (await fetch(`${url}/mcp/prober`, how)).text();
        assert.match(text, /only a person can choose a scripted model/, text);
      }
    }
});
