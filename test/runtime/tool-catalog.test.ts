// Proves that MCP servers are asked again after they could not be used, as often as that happens, and once per configuration when they have answered.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { DEFAULT_TERMS } from '../../src/kernel/toolsets/toolset-terms.ts';
import type { ServerTools, ToolServers } from '../../src/records/tool.ts';
import { ToolCatalog } from '../../src/runtime/tool-catalog.ts';
import { think } from '../../src/tools/think.ts';
import { CONFIG } from '../store/ledger-fixture.ts';

const agent = { root_id: 'root', config: { ...CONFIG, tools: ['docs__*'] } };
const OFFER: ServerTools = { tools: [], note: 'the docs are here', faults: [], find: () => undefined };

/** A catalog whose servers fail so often when they are opened, and then so often when they are asked. */
function catalogOf({ opened = 0, asked = 0 }: { opened?: number; asked?: number }) {
  const made = { opened: 0, asked: 0 };
  const servers: Pick<ToolServers, 'offer'> = {
    async offer() {
      made.asked += 1;
      if (made.asked <= asked) throw new Error('no answer');
      return OFFER;
    },
  };
  const openServers = async () => {
    made.opened += 1;
    if (made.opened <= opened) throw new Error('no folder');
    return servers as ToolServers;
  };
  return { catalog: new ToolCatalog({ tools: [], terms: DEFAULT_TERMS, recall: think, openServers }), made };
}

for (const [what, faults] of Object.entries({ opened: { opened: 2 }, asked: { asked: 2 } }))
  it(`servers that cannot be ${what} twice are there at the third request`, async () => {
    const { catalog, made } = catalogOf(faults);
    for (let count = 0; count < 2; count += 1)
      assert.match((await catalog.prepare(agent))?.join() ?? '', /^no MCP server can be used: no /);
    assert.deepEqual(await catalog.prepare(agent), []);
    assert.match(catalog.setupFor(agent.config).system, /the docs are here/);
    const before = { ...made };
    assert.deepEqual(await catalog.prepare(agent), []);
    assert.deepEqual(made, before, 'once they have answered, they are not asked again');
  });

it('two requests at once ask the servers once', async () => {
  const { catalog, made } = catalogOf({});
  assert.deepEqual(await Promise.all([catalog.prepare(agent), catalog.prepare(agent)]), [[], []]);
  assert.deepEqual(made, { opened: 1, asked: 1 });
});
