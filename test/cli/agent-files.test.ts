// Proves that agent files become profiles exactly as they say, that each kind of bad or hostile file is reported with
// what is wrong, and that one bad file costs no other.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, beforeEach, describe, it } from 'node:test';
import { parseAgentFile } from '../../src/cli/agent-file.ts';
import { parseAgentFiles, readProjectAgentFiles, readUserAgentFiles } from '../../src/cli/agent-files.ts';
import type { Profile } from '../../src/core/profile.ts';

function parse(text: string | Buffer, stem = 'reviewer') {
  return parseAgentFile(Buffer.from(text as string), stem, `agents/${stem}.md`);
}

function front(yaml: string): Profile {
  return parse(`---\n${yaml}\n---\nBe good.\n`).profile;
}

describe('one agent file', () => {
  it('says everything', () => {
    const { profile, unknown } = parse(`---
name: code-reviewer
description: "  Reads changes: all of them. "
model: ollama/qwen3:8b
thinking: off
tools: [read, search]
deny_tools: bash, write
toolsets: process
turns: 12
timeout_seconds: 1.5
permissions:
  allow: ["bash:git *"]
  ask: [write]
  deny: ["read:secrets/**"]
---

You review.

---
Twice.
`);
    assert.deepEqual(unknown, []);
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
      permissions: { allow: ['bash:git *'], ask: ['write'], deny: ['read:secrets/**'] },
      system: 'You review.\n\n---\nTwice.',
      source: 'agents/reviewer.md',
    } satisfies Profile);
  });

  it('says nothing, and all is as the creator has it', () => {
    const nothing = {
      name: 'reviewer',
      description: '',
      model: null,
      thinking: null,
      tools: null,
      deny_tools: [],
      toolsets: null,
      turns: null,
      run_ms: null,
      permissions: { allow: [], ask: [], deny: [] },
      source: 'agents/reviewer.md',
    };
    assert.deepEqual(parse('Be good.').profile, { ...nothing, system: 'Be good.' });
    assert.deepEqual(parse('---\nmodel: inherit\n---\n \n').profile, { ...nothing, system: null });
    assert.deepEqual(parse('---\n---\nBe good.').profile, { ...nothing, system: 'Be good.' });
  });

  it('may come from an editor with other line ends and a byte order mark', () => {
    const { profile } = parse('\ufeff---\r\nturns: 3\r\n--- \r\nOne.\r\nTwo.\r\n');
    assert.equal(profile.turns, 3);
    assert.equal(profile.system, 'One.\nTwo.');
  });

  it('may use the keys and tool names of other programs; keys that mean nothing are told', () => {
    const { profile, unknown } = parse(
      '---\ncolor: red\nmode: subagent\nhooks: {a: [b]}\nmaxTurns: 4\ntools: Read, Grep, Glob\ndisallowedTools: [Edit, Write, mcp__x__y]\n---\nx',
    );
    assert.deepEqual(unknown, ['color', 'mode', 'hooks']);
    assert.deepEqual(profile.tools, ['read', 'search']);
    assert.deepEqual(profile.deny_tools, ['patch', 'write', 'mcp__x__y']);
    assert.equal(profile.turns, 4);
  });

  it('with an empty list of tools has none', () => assert.deepEqual(front('tools: []').tools, []));

  it('shows a rule as it is understood, whatever blanks it holds', () => {
    const { permissions } = front(`permissions: {allow: ["bash:${' '.repeat(5000)}*"]}`);
    assert.deepEqual(permissions.allow, ['bash']);
  });
});

const WRONG: readonly (readonly [string, RegExp])[] = [
  ['name: Code Reviewer', /^name: "Code Reviewer" is no name of a profile: use small letters/],
  ['name: defaults', /stands for all agents/],
  [`name: ${'a'.repeat(65)}`, /at most 64/],
  ['name: 5', /"name" must be text, not 5/],
  ['description: [a]', /"description" must be text, not a list/],
  ['model: sonnet', /"model" must be provider\/model .* or inherit, not "sonnet"/],
  ['model: "a/b\\u001b[31m"', /"model" must be provider\/model/],
  ['model:', /"model" must be a value, or to be left out, not empty/],
  ['thinking: deep', /"thinking" must be off, low, medium or high, not "deep"/],
  ['thinking: false', /"thinking" must be off, low, medium or high, not false/],
  [
    'tools: {read: true}',
    /"tools" must be a list of tools, or their names with commas between, not a mapping/,
  ],
  ['tools: [1]', /"tools" must be a list of tools.*not 1/],
  ['tools: "read,,write"', /"tools": "" is no name of a tool/],
  ['tools: "Bash(git *)"', /is no name of a tool; what a tool may do is said in permissions/],
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
  ['turns: 1\nmaxTurns: 1', /"turns" and "maxTurns" say the same: keep one/],
  ['deny_tool: [bash]', /unknown key "deny_tool": did you mean "deny_tools"\?/],
  ['disallowed-tools: [bash]', /did you mean "disallowedTools"\?/],
  ['permission: {bash: deny}', /did you mean "permissions"\?/],
  ['turns: 1\nturns: 2', /line 3 is not valid YAML: Map keys must be unique/],
  ['a: b: c', /line 2 is not valid YAML/],
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

  it('is refused as a whole when it is no such file', () => {
    assert.throws(() => parse(''), { message: 'it is empty' });
    assert.throws(() => parse('---\n---\n'), { message: 'it is empty' });
    assert.throws(() => parse('---\nname: a\n'), { message: /has no end/ });
    assert.throws(() => parse(Buffer.from([0x61, 0xff])), { message: 'it is not UTF-8 text' });
    assert.throws(() => parse('Read me.', 'README'), { message: /^its file name: "README" is no name/ });
  });
});

describe('hostile YAML', () => {
  it('has no aliases to multiply', () => {
    const bomb = `a: &a [x, x]\n${[...'bcdefgh'].map((key, at) => `${key}: &${key} [*${'abcdefgh'[at]}, *${'abcdefgh'[at]}]`).join('\n')}`;
    assert.throws(() => front(bomb), { message: /aliases \(\*name\) are not allowed/ });
    assert.throws(() => front('a: &a [*a]'), { message: /aliases/ });
  });

  it('has no tags that make something', () => {
    for (const tag of ['!!js/function "x"', '!!binary aGk=', '!!set {a}', '!mine x'])
      assert.throws(() => front(`description: ${tag}`), { message: /not valid YAML: Unresolved tag/ }, tag);
  });

  it('reaches no prototype', () => {
    const { profile, unknown } = parse(
      '---\n__proto__: {turns: 3, polluted: true}\nconstructor: {prototype: {polluted: true}}\n"<<": {turns: 4}\n---\nx',
    );
    assert.deepEqual(unknown, ['__proto__', 'constructor', '<<']);
    assert.equal(profile.turns, null);
    assert.equal(({} as { polluted?: boolean }).polluted, undefined);
    assert.equal(Object.getPrototypeOf(profile), Object.prototype);
    assert.throws(() => front('permissions: {__proto__: {allow: [bash]}}'), { message: /not "__proto__"/ });
  });

  it('that is huge or deep is refused and does not overflow', () => {
    assert.throws(() => front(`description: ${'x'.repeat(17_000)}`), { message: /larger than 16 KB/ });
    for (const deep of ['['.repeat(16_000), `a: ${'{a: '.repeat(3_000)}`, '- '.repeat(8_000)])
      assert.throws(() => front(deep), { message: /not valid YAML/ });
  });

  it('cannot speak to the terminal through a message', () => {
    const { unknown } = parse('---\n"\\e[31mred\\e]0;title\\a": 1\n---\nx');
    assert.deepEqual(unknown, ['red']);
    assert.throws(() => front('thinking: "\\e[2Jdeep"'), { message: /not "deep"$/ });
  });
});

describe('a folder of agent files', () => {
  const base = mkdtempSync(join(tmpdir(), 'coppice-agents-'));
  after(() => rmSync(base, { recursive: true, force: true }));
  let [folder, agents] = ['', ''];
  beforeEach(() => {
    folder = mkdtempSync(join(base, 'work-'));
    agents = join(folder, '.coppice', 'agents');
    mkdirSync(agents, { recursive: true });
  });

  const read = () => parseAgentFiles(readProjectAgentFiles(folder));
  const names = () => read().profiles.map((profile) => profile.name);

  it('is read in the order of names; what is no *.md is none of its business', () => {
    for (const name of ['b.md', 'a.md', 'c.txt', '.md', 'D.MD'])
      writeFileSync(join(agents, name), 'Be good.');
    mkdirSync(join(agents, 'below'));
    writeFileSync(join(agents, 'below', 'd.md'), 'Be good.');
    assert.deepEqual(names(), ['a', 'b']);
    assert.deepEqual(read().notices, []);
    assert.equal(read().profiles[0]?.source, '.coppice/agents/a.md');
  });

  it('may not be there', () => {
    rmSync(join(folder, '.coppice'), { recursive: true });
    assert.deepEqual(read(), { profiles: [], notices: [] });
    assert.deepEqual(readUserAgentFiles(join(folder, 'agents')), { files: [], notices: [] });
  });

  it('reports each bad file and reads the others', () => {
    writeFileSync(join(agents, 'good.md'), 'Be good.');
    writeFileSync(join(agents, 'wrong.md'), '---\nturns: many\n---\nx');
    writeFileSync(join(agents, 'twin.md'), '---\nname: good\n---\nx');
    writeFileSync(join(agents, 'other.md'), '---\ncolor: red\n---\nx');
    writeFileSync(join(agents, 'huge.md'), 'x'.repeat(64 * 1024 + 1));
    writeFileSync(join(agents, 'full.md'), 'x'.repeat(64 * 1024));
    mkdirSync(join(agents, 'folder.md'));
    symlinkSync(join(agents, 'nowhere'), join(agents, 'dangling.md'));
    symlinkSync('circle.md', join(agents, 'circle.md'));
    writeFileSync(join(agents, 'new\nline.md'), '');
    assert.deepEqual(names(), ['full', 'good', 'other']);
    const notices = read().notices.join('\n');
    for (const expected of [
      /^\.coppice\/agents\/wrong\.md is ignored: "turns" must be a whole number, 1 or more, not "many"$/m,
      /^\.coppice\/agents\/twin\.md is ignored: \.coppice\/agents\/good\.md has the name good already$/m,
      /^\.coppice\/agents\/other\.md: this key means nothing here: color$/m,
      /^\.coppice\/agents\/huge\.md is ignored: larger than 64 KB$/m,
      /^\.coppice\/agents\/folder\.md is ignored: not a regular file$/m,
      /^\.coppice\/agents\/dangling\.md is ignored: .*leads nowhere$/m,
      /^\.coppice\/agents\/circle\.md is ignored: .*circle$/m,
      /^"\.coppice\/agents\/new\\nline\.md" is ignored: it is empty$/m,
    ])
      assert.match(notices, expected);
    assert.equal(read().notices.length, 8);
  });

  it('does not hang on a pipe', { skip: process.platform === 'win32' }, () => {
    execFileSync('mkfifo', [join(agents, 'pipe.md')]);
    assert.deepEqual(read().notices, ['.coppice/agents/pipe.md is ignored: not a regular file']);
    assert.match(readUserAgentFiles(agents).notices[0] ?? '', /not a regular file/);
  });

  it('reports what may not be read', {
    skip: process.getuid?.() === 0 && 'the superuser reads everything',
  }, () => {
    writeFileSync(join(agents, 'closed.md'), 'x');
    chmodSync(join(agents, 'closed.md'), 0);
    assert.match(read().notices[0] ?? '', /permission denied$/);
  });

  it('is not left by a link, of a file or of itself', () => {
    const secret = join(base, 'secret.md');
    writeFileSync(secret, 'A secret.');
    writeFileSync(join(folder, 'notes.md'), 'Of the same repository.');
    symlinkSync(secret, join(agents, 'out.md'));
    symlinkSync('../../notes.md', join(agents, 'up.md'));
    writeFileSync(join(agents, 'good.md'), 'Be good.');
    symlinkSync('good.md', join(agents, 'also.md'));
    assert.deepEqual(names(), ['also', 'good']);
    assert.equal(read().notices.length, 2);
    for (const notice of read().notices) assert.match(notice, /(?:out|up)\.md is ignored: .*is outside/);
    const other = mkdtempSync(join(base, 'other-'));
    symlinkSync(join(folder, '.coppice'), join(other, '.coppice'));
    const { files, notices } = readProjectAgentFiles(other);
    assert.deepEqual(files, []);
    assert.match(notices[0] ?? '', /^\.coppice\/agents is ignored: .*is outside/);
  });

  it('of the user may hold links to wherever the user keeps such files', () => {
    const kept = join(base, 'kept.md');
    writeFileSync(kept, 'Kept elsewhere.');
    symlinkSync(kept, join(agents, 'mine.md'));
    const { profiles } = parseAgentFiles(readUserAgentFiles(agents));
    assert.equal(profiles[0]?.system, 'Kept elsewhere.');
    assert.equal(profiles[0]?.source, 'agents/mine.md');
  });

  it('has at most a hundred files', () => {
    for (let at = 0; at < 103; at += 1)
      writeFileSync(join(agents, `a${String(at).padStart(3, '0')}.md`), 'Be good.');
    const { profiles, notices } = read();
    assert.equal(profiles.length, 100);
    assert.equal(profiles.at(-1)?.name, 'a099');
    assert.deepEqual(notices, ['.coppice/agents has 103 files: only the first 100 by name are read']);
  });
});
