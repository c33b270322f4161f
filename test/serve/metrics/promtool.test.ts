// Proves that Prometheus' own check, `promtool check metrics`, finds nothing wrong with /metrics after a server has done some of everything. The same rules are checked here too, so that they hold where promtool is not installed.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { after, before, it } from 'node:test';
import { setWebStage, type WebStage } from '../http/web-stage.ts';

let web: WebStage;
let text: string;
before(async () => {
  web = await setWebStage(({ last }) =>
    last.length > 0 ? 'done' : [['fork', { name: 'kid', prompt: 'work' }]],
  );
  const { json } = await web.ask('/v1/trees', { method: 'POST', body: { prompt: 'begin' } });
  await web.ask('/v1/wait', { method: 'POST', body: { agents: [json.id], timeout_seconds: 60 } });
  text = (await web.ask('/metrics')).text;
});
after(() => web.close());

const missing = spawnSync('promtool', ['--version']).error !== undefined;

it('promtool finds nothing', {
  skip: missing ? 'promtool (Debian: prometheus) is not installed' : false,
}, () => {
  const check = (input: string) => spawnSync('promtool', ['check', 'metrics'], { input, encoding: 'utf8' });
  const { status, stdout, stderr } = check(text);
  assert.deepEqual([status, stdout, stderr], [0, '', '']);
  assert.notEqual(check(text.replaceAll('_requests_total', '_requests')).status, 0);
});

/** Problems by the rules of promtool: names, units and suffixes, and where HELP, TYPE and samples stand. */
function problems(exposition: string): string[] {
  const found: string[] = [];
  const families = new Map<string, { help: number; type: string | null }>();
  const samples = new Set<string>();
  let open = '';
  for (const line of exposition.split('\n').slice(0, -1)) {
    const [, word, named = '', rest = ''] = /^# (HELP|TYPE) (\w+) (.+)$/.exec(line) ?? [];
    const [, sampled = '', labels = ''] = /^([a-z_]+)(\{.*\})? \S+$/.exec(line) ?? [];
    const name = named || sampled;
    if (name === '') found.push(`unreadable: ${line}`);
    if (word === 'HELP') {
      if (families.has(name)) found.push(`${name} twice`);
      families.set(name, { help: rest.length, type: null });
      open = name;
      continue;
    }
    const family = families.get(name);
    if (family === undefined || open !== name) found.push(`${name} stands apart`);
    if (word === 'TYPE' && family !== undefined) family.type = rest;
    if (word !== undefined) continue;
    if (samples.has(`${name}${labels}`)) found.push(`${line} twice`);
    samples.add(`${name}${labels}`);
    if (/[{,]quantile=/.test(labels) && family?.type !== 'summary') found.push(`${name}: quantile`);
    if (/[{,]le=/.test(labels) && family?.type !== 'histogram') found.push(`${name}: le`);
  }
  for (const [name, { type }] of families) {
    if (type === null) found.push(`${name} has no type`);
    if ((type === 'counter') !== name.endsWith('_total')) found.push(`${name}: _total`);
    if (/_(sum|count|bucket|info)$/.test(name)) found.push(`${name}: reserved suffix`);
    if (
      /_(ms|milliseconds?|microseconds?|nanoseconds?|minutes?|hours?|days?|kb|mb|kilobytes?|megabytes?|bits?|percent)(_|$)/.test(
        name,
      )
    )
      found.push(`${name}: not a base unit`);
    if (type !== null && name.split('_').includes(type)) found.push(`${name}: its type in its name`);
    if (/[A-Z]/.test(name)) found.push(`${name}: upper case`);
  }
  return found;
}

it('names, units, types and order are what promtool wants', () => {
  assert.deepEqual(problems(text), []);
  for (const [right, wrong] of [
    ['_requests_total', '_requests'],
    ['coppice_trees', 'coppice_trees_total'],
    ['delay_seconds', 'delay_ms'],
    ['_seconds summary', '_seconds gauge'],
    ['# HELP coppice_runs', '# HELP coppice_agents'],
    ['# TYPE coppice_agents gauge\n', ''],
  ] as const)
    assert.notDeepEqual(problems(text.replaceAll(right, wrong)), [], wrong);
});
