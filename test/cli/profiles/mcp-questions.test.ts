/** Proves that a person sees the questions of an MCP server on another terminal, field by field, and can answer them there with values or dismiss them. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { until } from '../../until.ts';
import { makeHome } from '../run-cli.ts';

const PROGRAM = join(import.meta.dirname, '..', '..', 'servers', 'mcp-asking-server.ts');

for (const answer of ['allow', 'dismiss'] as const)
  it(`a question of an MCP server: ${answer}`, async () => {
    const home = makeHome();
    await home.run(['mcp', 'add', 'inn', '--', process.execPath, PROGRAM, 'new']);
    const file = join(home.folder, 'rules.json');
    const calls = [{ name: 'inn__book', input: { day: 'monday' } }];
    writeFileSync(file, JSON.stringify({ rules: [{ when: { step: 0 }, calls }, { say: '{{result}}' }] }));
    const running = home.run(['run', '--ask', '--allow', 'inn__*', '--model', `scripted:${file}`, 'go']);
    let listed = '';
    await until(async () => {
      listed = (await home.run(['approvals', 'list'])).stdout;
      return listed.includes('inn asks');
    }, 'the question');
    assert.match(listed, /the MCP server inn asks: Which table\?|the MCP server inn asks:/);
    assert.match(listed, /^ +guests: \(whole number, 1 to 8, required\)$/m);
    assert.match(
      listed,
      /answer a question: coppice approvals allow ID ANSWER; in a form: --value NAME=VALUE/,
    );
    const id = /^([0-9a-f]+) /m.exec(listed)?.[1] ?? '';
    const refused = await home.run(['approvals', 'allow', id, '--value', 'name=Ada']);
    assert.match(refused.stderr, /field "guests" is missing/);
    assert.notEqual(refused.code, 0);
    const values = ['name=Ada', 'guests=2', 'extras=cake', 'extras=music'].flatMap((one) => ['--value', one]);
    const said = await home.run([
      'approvals',
      ...(answer === 'allow' ? ['allow', id, ...values] : ['deny', id, '--dismiss']),
    ]);
    assert.equal(said.code, 0, said.stderr);
    const { stdout } = await running;
    if (answer === 'dismiss') assert.match(stdout, /"action":"cancel"/);
    else
      assert.match(
        stdout,
        /"content":\{"name":"Ada","guests":2,"smoking":false,"extras":\["cake","music"\]\}/,
      );
  });
