/** Proves that the names of servers' tools are accepted by providers, distinct, and can be selected and excluded by patterns. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as fc from 'fast-check';
import { commonTools, hasServerTool, serverOf, withoutTools } from '../../../src/records/server-tools.ts';
import { serverName, serverNameFrom } from '../../../src/tools/mcp-servers/mcp-config.ts';
import { nameForModels } from '../../../src/tools/mcp-servers/server-names.ts';

describe('the name of a tool', () => {
  it('is the plain one where that can be used', () => {
    assert.equal(nameForModels('files', 'read_file'), 'files__read_file');
  });

  it('is one that providers accept, tells its server, and differs where tools differ', () => {
    const server = fc.stringMatching(/^[a-z0-9](?:_?[a-z0-9]){0,15}$/);
    fc.assert(
      fc.property(server, fc.string({ minLength: 1 }), fc.string({ minLength: 1 }), (name, one, other) => {
        assert.ok(serverName.safeParse(name).success);
        const made = nameForModels(name, one);
        assert.match(made, /^[A-Za-z0-9_-]{1,64}$/);
        assert.equal(serverOf(made), name);
        if (one !== other) assert.notEqual(made, nameForModels(name, other));
      }),
    );
  });

  it('differs where tools differ in a character that providers do not take, in case, in normal form, or only at the end of a long name', () => {
    const long = 'x'.repeat(70);
    const tools = [
      'a b',
      'a.b',
      'a/b',
      'a_b',
      'A_b',
      'a b ',
      'n\u00e4h',
      'na\u0308h',
      `${long}1`,
      `${long}2`,
      `${long} 1`,
    ];
    const names = tools.map((tool) => nameForModels('s', tool));
    assert.equal(new Set(names).size, tools.length, names.join(' '));
    assert.deepEqual(
      tools.map((tool) => nameForModels('s', tool)),
      names,
      'the same each time',
    );
  });

  it('of a server has no place for a doubt', () => {
    for (const name of ['a__b', 'a_', '_a', '', 'a b', 'a'.repeat(33)])
      assert.ok(!serverName.safeParse(name).success, name);
  });

  it('of a server comes from whatever another program calls it', () => {
    assert.equal(serverNameFrom('Grüne Häuser (2)'), 'Gr-ne-H-user-2');
    assert.equal(serverNameFrom(`${'a'.repeat(31)}_tail`), 'a'.repeat(31));
    assert.equal(serverNameFrom('…'), null);
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom('a', 'Z', '0', '_', '-', ' ', 'ü') }), (written) => {
        const name = serverNameFrom(written);
        if (name === null) return assert.doesNotMatch(written, /[a-zA-Z0-9]/);
        assert.ok(serverName.safeParse(name).success, name);
        assert.equal(serverNameFrom(name), name);
      }),
    );
  });
});

describe('tools of servers', () => {
  it('of a profile are those of its creator that it names, too', () => {
    assert.deepEqual(commonTools(['read', 'a__*', 'b__x'], ['read', 'a__get_*', 'b__*', 'c__*']), [
      'read',
      'a__get_*',
      'b__x',
    ]);
    assert.deepEqual(commonTools(['a__*'], ['read']), []);
  });

  it('are withheld one by one, also of a pattern, and stay so', () => {
    const chosen = withoutTools(['bash', 'a__*', 'b__x'], ['bash', 'a__drop_*', 'b__*']);
    assert.deepEqual(chosen, { tools: ['a__*'], without_tools: ['a__drop_*'] });
    assert.ok(hasServerTool(chosen, 'a__get'));
    assert.ok(!hasServerTool(chosen, 'a__drop_table'));
    assert.deepEqual(withoutTools(chosen.tools, [], chosen.without_tools), chosen);
  });

  it('are no pattern of our own tools', () => {
    assert.deepEqual(commonTools(['bash', 'read'], ['*', 'ba*']), []);
  });
});
