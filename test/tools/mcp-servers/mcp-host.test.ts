/**
 * Proves which tools of MCP servers agents get: tools under stable names, all described if few and searchable if many, and only those that their configuration
 * selects.
 */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { after, describe, it } from 'node:test';
import type { Tool } from '../../../src/records/tool.ts';
import { closeOpened } from '../../close-opened.ts';
import { call, eventually, makeWorkspace } from '../tool-fixture.ts';
import { agentWith, serverConfig, testingHost } from './servers.ts';

after(closeOpened);

const names = (tools: readonly Tool[]) => tools.map(({ spec }) => spec.name);

function searching(tools: readonly Tool[]): {
  find: Tool;
  run: (name: string, given: unknown) => Promise<string>;
} {
  const [find, caller] = ['find_tools', 'call_tool'].map((name) =>
    tools.find(({ spec }) => spec.name === name),
  );
  assert.ok(find !== undefined && caller?.stands_for !== undefined);
  return {
    find,
    run: async (name, given) => {
      const meant = caller.stands_for?.({ name, arguments: given });
      if (meant === undefined || 'error' in meant) return meant?.error ?? '';
      return (await call(meant.tool, meant.input, makeWorkspace())).output;
    },
  };
}

describe('agents with MCP servers', () => {
  it('get the tools of few described, by name', async () => {
    const host = testingHost({ servers: { b: serverConfig(), a: serverConfig() } });
    const { tools, note } = await host.offer(agentWith(['b__*', 'a__*', 'read']));
    const own = names(tools).filter((name) => name.includes('__'));
    assert.deepEqual(own, own.toSorted());
    assert.equal(own.length, 30);
    assert.ok(own.every((name) => /^[A-Za-z0-9_-]{1,64}$/.test(name)));
    assert.equal(note, '');
  });

  it('get only what their tools mean', async () => {
    const host = testingHost({ servers: { t: serverConfig() } });
    const agent = agentWith(['t__e*', 't__pid'], { without_tools: ['t__environment'] });
    const { tools, find } = await host
      .offer(agent)
      .then((offer) => ({ ...offer, find: offer.find.bind(offer), tools: offer.tools }));
    assert.deepEqual(names(tools), ['t__echo', 't__pid', 'find_tools', 'call_tool']);
    assert.equal(find('t__hang'), undefined);
    assert.match(await searching(tools).run('t__hang', {}), /there is no tool "t__hang"/);
  });

  it('find those of many by words, and call them', async () => {
    const host = testingHost({ servers: { t: serverConfig({ extra: 400 }) } });
    const { tools } = await host.offer(agentWith(['t__*']));
    assert.deepEqual(names(tools), ['find_tools', 'call_tool']);
    assert.match(tools[0]?.spec.description ?? '', /\(t: 415 tools\)/);
    const { find, run } = searching(tools);
    const { output } = await call(find, { query: 'the tool that paints walls' }, makeWorkspace());
    assert.match(output, /^t__extra_1\n {2}Number 1: paints walls\n {2}input: \{.*"number"/);
    assert.match(output, /also: t__extra_/);
    assert.equal(await run('t__extra_1', { number: 3 }), 'extra_1 {"number":3}');
    assert.equal(await run('t__extra_1', '{"number": 4}'), 'extra_1 {"number":4}');
    assert.match(await run('t__extra_1', {}), /must have required property 'number'/);
    assert.match((await call(find, { query: 'zzz' }, makeWorkspace())).output, /no tool fits/);
  });

  it('share one server in the same tree and folder, and no other', async () => {
    const host = testingHost({ servers: { t: serverConfig() } });
    const one = agentWith(['t__*']);
    const pid = async (agent: typeof one) => {
      const { tools } = await host.offer(agent);
      const tool = tools.find(({ spec }) => spec.name === 't__pid') as Tool;
      return (await call(tool, {}, makeWorkspace())).output;
    };
    const [first, same, narrower, other_tree, elsewhere] = await Promise.all([
      pid(one),
      pid(one),
      pid({ ...one, config: { ...one.config, tools: ['t__pid'] } }),
      pid({ ...one, root_id: 'another' }),
      pid(agentWith(['t__*'])),
    ]);
    assert.ok(first === same && first === narrower);
    assert.equal(new Set([first, other_tree, elsewhere]).size, 3);
  });

  it('of a tree at work leave the server alone that a person has asked before the next tree', async () => {
    const host = testingHost({ servers: { t: serverConfig() } });
    const one = agentWith(['t__pid']);
    const pid = async (root_id: string) => {
      const { tools } = await host.offer({ ...one, root_id });
      const tool = tools.find(({ spec }) => spec.name === 't__pid') as Tool;
      return Number((await call(tool, {}, makeWorkspace())).output);
    };
    const [at_work, asked] = [await pid('one'), await pid('')];
    assert.notEqual(at_work, asked);
    assert.equal(await pid('one'), at_work);
    assert.equal(await pid('next'), asked, 'the tree that begins takes it over');
    assert.equal(await pid('one'), at_work);
    await host.close();
    assert.ok(await eventually(() => ![at_work, asked].some((pid) => existsSync(`/proc/${pid}`))));
  });

  it('have a server each where its entry says so, and keep it from call to call', async () => {
    const host = testingHost({ servers: { t: serverConfig({}, { perAgent: true }) } });
    const { tools } = await host.offer(agentWith(['t__*']));
    const pid = async (id: string) => {
      const tool = tools.find(({ spec }) => spec.name === 't__pid') as Tool;
      return Number(
        (await call(tool, {}, { ...makeWorkspace(), agent: { id, name: id, root_id: 'root' } })).output,
      );
    };
    const first = await Promise.all(['a', 'b', 'c'].map(pid));
    assert.equal(new Set(first).size, 3);
    assert.deepEqual(await Promise.all(['a', 'b', 'c'].map(pid)), first);
    await host.close();
    const runs = (one: number) => existsSync(`/proc/${one}`);
    assert.ok(await eventually(() => !first.some(runs)), 'all of them end with the host');
  });

  it('work on without a server that cannot be used, and are told', async () => {
    const host = testingHost({ servers: { bad: serverConfig({ broken: true }), t: serverConfig() } });
    const { tools, note, faults } = await host.offer(agentWith(['bad__*', 't__echo', 'gone__*']));
    assert.ok(names(tools).includes('t__echo'));
    assert.match(
      note,
      /^The tools of the MCP server bad are not available.*\nThe tools of the MCP server gone are not/,
    );
    assert.deepEqual(faults, [
      'the MCP server bad ended with exit code 7; last output on stderr: no licence key found',
      'the MCP server gone is not configured here',
    ]);
    assert.ok(!note.includes('licence'), 'words of the server are not in the prompt');
    const lost = async (root_id: string) =>
      (await host.offer({ ...agentWith(['gone__*']), root_id })).faults.length;
    assert.deepEqual([await lost('root'), await lost('next'), await lost('next')], [0, 1, 0], 'once a tree');
  });

  it('are told once when tools change, and see the same descriptions as before', async () => {
    const host = testingHost({ servers: { t: serverConfig() } });
    const offer = await host.offer(agentWith(['t__*']));
    const before = JSON.stringify(offer.tools.map(({ spec }) => spec));
    const run = async (name: string) => (await call(offer.find(name) as Tool, {}, makeWorkspace())).output;
    await run('t__change');
    assert.ok(await eventually(() => offer.find('t__sing') !== undefined));
    assert.match(
      await run('t__pid'),
      /^\d+\n\[Coppice\] the tools of the MCP servers have changed: new: t__sing; gone: t__echo\./,
    );
    assert.match(await run('t__pid'), /^\d+$/);
    assert.equal(JSON.stringify(offer.tools.map(({ spec }) => spec)), before);
    assert.equal(await searching(offer.tools).run('t__sing', {}), 'la la la');
  });

  it('get results within bounds, with pictures, and errors as errors', async () => {
    const host = testingHost({ servers: { t: serverConfig() } });
    const offer = await host.offer(agentWith(['t__*']));
    const run = (name: string, given = {}) => call(offer.find(name) as Tool, given, makeWorkspace());
    const big = await run('t__big', { bytes: 1_000_000 });
    assert.ok(big.output.length < 40_000);
    assert.match(big.output, /of 1000000 bytes left out; the whole output is in /);
    const picture = await run('t__picture');
    assert.equal('images' in picture && picture.images?.length, 1);
    assert.deepEqual(await run('t__fail'), { status: 'error', output: 'it did not work' });
    assert.match(
      (await run('t__die')).output,
      /^the MCP server t ended with exit code 3.*The outcome of the call is unknown/,
    );
  });

  it('are not held by schemas that are huge, deep, circular or hard to match', async () => {
    let deep: object = { type: 'string' };
    for (let level = 0; level < 500; level += 1) deep = { type: 'object', properties: { a: deep } };
    const schemas: Record<string, object> = {
      huge: {
        type: 'object',
        properties: Object.fromEntries(Array.from({ length: 4_000 }, (_, at) => [`p${at}`, {}])),
      },
      circular: { type: 'object', $ref: '#' },
      recursive: { type: 'object', properties: { a: { $ref: '#' } } },
      regex: { type: 'object', properties: { a: { type: 'string', pattern: '(a+)+$' } } },
      defaulted: { type: 'object', properties: { a: { default: 'x' }, b: {} }, required: ['a', 'b'] },
      list: { type: 'object', allOf: [{ required: ['x'] }], properties: { __proto__: {}, constructor: {} } },
      deep: { type: 'object', properties: { a: deep } },
    };
    const tools = Object.entries(schemas).map(([name, inputSchema]) => ({ name, inputSchema }));
    const host = testingHost({ servers: { t: serverConfig({ tools: tools.slice(0, -1) }) } });
    const offer = await host.offer(agentWith(['t__*']));
    assert.equal(offer.tools.filter(({ spec }) => spec.name.startsWith('t__')).length, 6);
    for (const { spec } of offer.tools) assert.ok(JSON.stringify(spec).length < 40_000);
    const given = { a: `${'a'.repeat(30)}b` };
    for (const name of ['huge', 'circular', 'recursive', 'list'])
      assert.equal((await call(offer.find(`t__${name}`) as Tool, {}, makeWorkspace())).status, 'ok', name);
    assert.match(
      (await call(offer.find('t__regex') as Tool, given, makeWorkspace())).output,
      /must match pattern/,
    );
    assert.match(
      (await call(offer.find('t__defaulted') as Tool, {}, makeWorkspace())).output,
      /^the arguments must have required property 'b'$/,
    );
    const bad = testingHost({ servers: { t: serverConfig({ tools }) } });
    const { faults } = await bad.offer(agentWith(['t__*']));
    assert.match(faults[0] ?? '', /it sent a message that is nested too deeply/);
  });
});
