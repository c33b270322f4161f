// Proves that an agent file becomes exactly the profile it describes, and that each kind of wrong or hostile text is refused
// with the key and the expected value.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseAgentFile } from '../../../src/cli/setup/profiles/parse-agent-file.ts';
import type { Profile } from '../../../src/records/agent/profile.ts';

function parse(text: string | Buffer, stem = 'reviewer') {
  return parseAgentFile(Buffer.from(text as string), stem, `agents/${stem}.md`);
}

function front(yaml: string): Profile {
  return parse(`---\n${yaml}\n---\nBe good.\n`).profile;
}

describe('one agent file', () => {
  it('says everything', () => {
    const { profile, notices } = parse(`---
name: code-reviewer
description: "  Reads changes: all of them. "
model: ollama/qwen3:8b
thinking: off
tools: [read, search]
deny_tools: bash, write
toolsets: process
turns: 12
timeout_seconds: 1.5
budget: { usd: 0.5, seconds: 600 }
permissions:
  allow: ["bash:git *"]
  ask: [write, fork]
  deny: ["read:secrets/**"]
---

You review.

---
Twice.
`);
    assert.deepEqual(notices, []);
    assert.deepEqual(profile, {
      name: 'code-reviewer',
      description: 'Reads changes: all of them.',
      model: 'ollama/qwen3:8b',
      thinking: 'off',
      tools: ['read', 'search'],
      deny_tools: ['bash', 'write'],
      toolsets: ['process'],
      turns: 12,
      run_ms: 1500,
      permissions: { allow: ['bash:git *'], ask: ['write', 'fork'], deny: ['read:secrets/**'] },
      budget: { usd: 0.5, seconds: 600 },
      require: [],
      system: 'You review.\n\n---\nTwice.',
      instructions: true,
      skills: null,
      parameters: [],
      source: 'agents/reviewer.md',
    } satisfies Profile);
  });

  it('says nothing, and everything is inherited from the creator', () => {
    const nothing = {
      name: 'reviewer',
      description: '',
      model: null,
      thinking: null,
      tools: null,
      deny_tools: [],
      toolsets: null,
      instructions: true,
      skills: null,
      parameters: [],
      turns: null,
      run_ms: null,
      permissions: { allow: [], ask: [], deny: [] },
      budget: null,
      require: [],
      source: 'agents/reviewer.md',
    };
    assert.deepEqual(parse('Be good.').profile, { ...nothing, system: 'Be good.' });
    assert.deepEqual(parse('---\nmodel: inherit\n---\n \n').profile, { ...nothing, system: null });
    assert.deepEqual(parse('---\n---\nBe good.').profile, { ...nothing, system: 'Be good.' });
  });

  it('may have other line endings and a byte order mark', () => {
    const { profile } = parse('\ufeff---\r\nturns: 3\r\n--- \r\nOne.\r\nTwo.\r\n');
    assert.equal(profile.turns, 3);
    assert.equal(profile.system, 'One.\nTwo.');
  });

  it('may use the keys and tool names of other programs; keys that mean nothing are told', () => {
    const { profile, notices } = parse(
      '---\ncolor: red\nmode: subagent\nhooks: {a: [b]}\nmaxTurns: 4\ntools: Read, Grep, Glob\ndisallowedTools: [Edit, Write, mcp__x__y]\n---\nx',
    );
    assert.deepEqual(notices, ['unknown keys ignored: color, mode, hooks']);
    assert.deepEqual(profile.tools, ['read', 'search']);
    assert.deepEqual(profile.deny_tools, ['patch', 'write', 'x__y']);
    assert.equal(profile.turns, 4);
  });

  for (const [head, told, of] of [
    [
      'tools: Read, WebFetch, WebSearch, TodoWrite, NotebookRead',
      ['unknown tools ignored: TodoWrite, NotebookRead'],
      { tools: ['read', 'web_fetch', 'web_search'] },
    ],
    ['tools: TodoWrite', ['unknown tool ignored: TodoWrite'], { tools: [] }],
    ['disallowedTools: WebFetch, Task', ['unknown tool ignored: Task'], { deny_tools: ['web_fetch'] }],
    [
      'model: sonnet',
      ['the model sonnet names no provider: the model of the agent that uses it is taken'],
      { model: null },
    ],
    [
      'model: gpt-5.2',
      ['the model gpt-5.2 names no provider: the model of the agent that uses it is taken'],
      { model: null },
    ],
    [
      'description: Use it to review. Context: a pull request. user: "check it"',
      [],
      { description: 'Use it to review. Context: a pull request. user: "check it"' },
    ],
    ["description: it's done: really\nturns: 3", [], { description: "it's done: really", turns: 3 }],
  ] as const)
    it(`as other programs have it: ${head.replace('\n', '; ')}`, () => {
      const { profile, notices } = parse(`---\n${head}\n---\nx`);
      assert.deepEqual(notices, told);
      for (const [key, value] of Object.entries(of))
        assert.deepEqual(profile[key as keyof typeof profile], value);
    });

  it('with an empty list of tools has none', () => assert.deepEqual(front('tools: []').tools, []));

  it('shows a rule as it is understood, whatever blanks it holds', () => {
    const { permissions } = front(`permissions: {allow: ["bash:${' '.repeat(5000)}*"]}`);
    assert.deepEqual(permissions.allow, ['bash']);
  });
});

const WRONG: readonly (readonly [string, RegExp])[] = [
  ['name: Code Reviewer', /^name: "Code Reviewer" is not a valid profile name: use lowercase letters/],
  ['name: defaults', /stands for all agents/],
  [`name: ${'a'.repeat(65)}`, /at most 64/],
  ['name: 5', /"name" must be text, not 5/],
  ['description: [a]', /"description" must be text, not a list/],
  ['model: "a b"', /"model" must be provider\/model .* or inherit, not "a b"/],
  ['model: "a/b\\u001b[31m"', /"model" must be provider\/model/],
  ['model:', /"model" must be a value, or to be left out, not empty/],
  ['thinking: deep', /"thinking" must be off, low, medium or high, not "deep"/],
  ['thinking: false', /"thinking" must be off, low, medium or high, not false/],
  [
    'tools: {read: true}',
    /"tools" must be a list of tools, or their names separated by commas, not a mapping/,
  ],
  ['tools: [1]', /"tools" must be a list of tools.*not 1/],
  ['tools: "read,,write"', /"tools": "" is not a valid tool name/],
  ['tools: "Bash(git *)"', /is not a valid tool name; what a tool may do is set in permissions/],
  ['tools:', /"tools" must be a value, or to be left out/],
  [`tools: [${'a, '.repeat(201)}]`, /"tools" has more than 200 names/],
  ['deny_tools: true', /"deny_tools" must be a list of tools.*not true/],
  ['disallowedTools: 1', /"disallowedTools" must be a list of tools/],
  ['toolsets: 1', /"toolsets" must be a list of toolsets/],
  ['turns: 0', /"turns" must be a whole number, 1 or more, not 0/],
  ['turns: 1.5', /"turns" must be a whole number/],
  ['maxTurns: many', /"maxTurns" must be a whole number, 1 or more, not "many"/],
  ['timeout_seconds: -1', /"timeout_seconds" must be a number above 0, at most 2000000, not -1/],
  ['timeout_seconds: .inf', /"timeout_seconds" must be a number above 0/],
  ['timeout_seconds: .nan', /"timeout_seconds" must be a number above 0/],
  ['timeout_seconds: 1h', /"timeout_seconds" must be a number above 0.*not "1h"/],
  ['permissions: [bash]', /"permissions" must be a mapping with allow, ask and deny, not a list/],
  ['permissions: {dney: [bash]}', /"permissions" has allow, ask and deny, not "dney"/],
  ['permissions: {deny: bash}', /"permissions.deny" must be a list of rules/],
  ['permissions: {deny: [1]}', /"permissions.deny" must be a list of rules/],
  ['permissions: {deny: ["bash:"]}', /"permissions.deny": invalid rule "bash:": the pattern/],
  ['turns: 1\nmaxTurns: 1', /"turns" and "maxTurns" are the same key: keep one/],
  ['deny_tool: [bash]', /unknown key "deny_tool": did you mean "deny_tools"\?/],
  ['trns: 3', /unknown key "trns": did you mean "turns"\?/],
  ['mdoel: a/b', /unknown key "mdoel": did you mean "model"\?/],
  ['name: default', /all agents are called "defaults"/],
  ['tools: [raed]', /"tools": there is no tool "raed": did you mean "read"\?/],
  ['disallowedTools: [bsh]', /"disallowedTools": there is no tool "bsh": did you mean "bash"\?/],
  ['permissions: {allow: ["bsh:git *"]}', /there is no tool "bsh"\. Did you mean bash\? Tools: bash,/],
  ['permissions: {deny: [send]}', /there is no tool "send"/],
  ['permissions: {deny: ["fork:x"]}', /calls of fork are judged as a whole, without a pattern/],
  ['disallowed-tools: [bash]', /did you mean "disallowedTools"\?/],
  ['permission: {bash: deny}', /did you mean "permissions"\?/],
  ['turns: 1\nturns: 2', /line 3 is not valid YAML: Map keys must be unique/],
  ['a: [b: c', /line 2 is not valid YAML/],
  ['- a', /must be lines of "key: value"/],
  ['just text', /must be lines of "key: value"/],
  ['1: a', /every key of the front matter must be a plain word/],
  ['? [a]\n: b', /every key of the front matter must be a plain word/],
];

describe('a wrong agent file', () => {
  for (const [yaml, message] of WRONG)
    it(`is refused: ${yaml.slice(0, 40).replaceAll('\n', ' / ')}`, () => {
      assert.throws(() => front(yaml), { message });
    });

  it('is refused as a whole when it is no agent file', () => {
    assert.throws(() => parse(''), { message: 'it is empty' });
    assert.throws(() => parse('---\n---\n'), { message: 'it is empty' });
    assert.throws(() => parse('---\nname: a\n'), { message: /has no end/ });
    assert.throws(() => parse(Buffer.from([0x61, 0xff])), { message: 'it is not UTF-8 text' });
    assert.throws(() => parse('Read me.', 'README'), {
      message: /^its file name: "README" is not a valid profile name/,
    });
  });
});

describe('hostile YAML', () => {
  it('may not multiply by aliases', () => {
    const bomb = `a: &a [x, x]\n${[...'bcdefgh'].map((key, at) => `${key}: &${key} [*${'abcdefgh'[at]}, *${'abcdefgh'[at]}]`).join('\n')}`;
    assert.throws(() => front(bomb), { message: /aliases \(\*name\) are not allowed/ });
    assert.throws(() => front('a: &a [*a]'), { message: /aliases/ });
  });

  it('may not construct objects by tags', () => {
    for (const tag of ['!!js/function "x"', '!!binary aGk=', '!!set {a}', '!mine x'])
      assert.throws(() => front(`description: ${tag}`), { message: /not valid YAML: Unresolved tag/ }, tag);
  });

  it('reaches no prototype', () => {
    const { profile, notices } = parse(
      '---\n__proto__: {turns: 3, polluted: true}\nconstructor: {prototype: {polluted: true}}\n"<<": {turns: 4}\n---\nx',
    );
    assert.deepEqual(notices, ['unknown keys ignored: __proto__, constructor, <<']);
    assert.equal(profile.turns, null);
    assert.equal(({} as { polluted?: boolean }).polluted, undefined);
    assert.equal(Object.getPrototypeOf(profile), Object.prototype);
    assert.throws(() => front('permissions: {__proto__: {allow: [bash]}}'), { message: /not "__proto__"/ });
  });

  it('that is huge or deeply nested is refused without an overflow', () => {
    assert.throws(() => front(`description: ${'x'.repeat(17_000)}`), { message: /larger than 16 KB/ });
    for (const deep of ['['.repeat(16_000), `a: ${'{a: '.repeat(3_000)}`, '- '.repeat(8_000)])
      assert.throws(() => front(deep), { message: /not valid YAML/ });
  });

  it('cannot speak to the terminal through a message', () => {
    const { notices } = parse('---\n"\\e[31mred\\e]0;title\\a": 1\n---\nx');
    assert.deepEqual(notices, ['unknown key ignored: red']);
    assert.throws(() => front('thinking: "\\e[2Jdeep"'), { message: /not "deep"$/ });
  });
});
