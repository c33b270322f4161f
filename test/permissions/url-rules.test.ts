/** Proves that rules about addresses match part by part: hosts are never reached through paths, and deny rules hold for every spelling. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { decide } from '../../src/permissions/decide.ts';
import { matchesUrl } from '../../src/permissions/glob-match.ts';
import { proposeRules } from '../../src/permissions/grants/propose-rules.ts';
import { createPolicy } from '../../src/permissions/policy.ts';
import { InvalidRuleError, parseKnownRule } from '../../src/permissions/rule.ts';
import { BUILT_IN_PERMISSIONS, permissionOf } from '../../src/tools/built-in-permissions.ts';

const web_fetch = permissionOf('web_fetch');
const TOOLS = Object.values(BUILT_IN_PERMISSIONS);

describe('an allow rule', () => {
  it('matches scheme, host, port and path, each for itself', () => {
    for (const [pattern, yes, no] of [
      [
        'https://docs.example.org/*',
        ['https://docs.example.org/', 'https://docs.example.org/a/b?c=d'],
        [
          'http://docs.example.org/',
          'https://docs.example.org:8443/',
          'https://docs.example.org.evil.com/',
          'https://evil.com/docs.example.org/',
          'https://a.docs.example.org/',
        ],
      ],
      [
        'docs.example.org',
        ['https://docs.example.org/x', 'http://docs.example.org/'],
        ['https://docs.example.org:8443/', 'https://xdocs.example.org/'],
      ],
      [
        '*.example.org',
        ['https://a.b.example.org/'],
        ['https://example.org/', 'https://badexample.org/', 'https://evil.com/.example.org'],
      ],
      [
        'https://*.example.org/*',
        ['https://a.example.org/x'],
        ['https://evil.com/x.example.org/y', 'https://evil.com/?.example.org/'],
      ],
      [
        'https://example.org/docs/*',
        ['https://example.org/docs/a'],
        ['https://example.org/admin', 'https://example.org/docsx', 'https://example.org/%64ocs/a'],
      ],
      ['https://example.org:8443/*', ['https://example.org:8443/x'], ['https://example.org/x']],
      ['example.org:*', ['https://example.org:8443/', 'http://example.org/'], []],
      ['https://*/*', ['https://any.host/x'], ['http://any.host/']],
      ['HTTPS://BÜCHER.example/*', ['https://xn--bcher-kva.example/'], []],
      ['http://[::1]:80/*', ['http://[::1]/'], ['http://[::2]/']],
    ] as const) {
      for (const url of yes) assert.ok(matchesUrl(pattern, url, 'allow'), `${pattern} ${url}`);
      for (const url of no) assert.ok(!matchesUrl(pattern, url, 'allow'), `${pattern} ${url}`);
    }
  });
});

describe('a deny rule', () => {
  it('holds for any scheme and port, and other spellings of the path', () => {
    for (const url of ['https://evil.example/', 'http://evil.example:8080/x'])
      for (const pattern of ['evil.example', 'https://evil.example/*', '*.example', '*'])
        assert.ok(matchesUrl(pattern, url, 'deny'), `${pattern} ${url}`);
    for (const path of ['private/x', 'PRIVATE/x', '%70rivate/x', 'priv%61te/x?y'])
      assert.ok(matchesUrl('https://example.org/private/*', `https://example.org/${path}`, 'deny'), path);
    assert.ok(!matchesUrl('https://example.org/private/*', 'https://example.org/public/', 'deny'));
    for (const pattern of ['example.org.', 'EXAMPLE.org', 'https://Example.Org./private/*', '*.ORG.'])
      assert.ok(matchesUrl(pattern, 'https://example.org/private/x', 'deny'), pattern);
  });
});

it('the default asks; rules and what may be granted decide by host', () => {
  const policy = createPolicy({
    config: { allow: ['web_fetch:https://docs.example.org/*'], deny: ['web_fetch:*.evil.example'] },
  });
  const verdict = (url: string) => decide(policy, web_fetch, url).verdict;
  assert.deepEqual(
    ['https://docs.example.org/x', 'https://www.evil.example/', 'https://other.example/'].map(verdict),
    ['allow', 'deny', 'ask'],
  );
  const { rules, first } = proposeRules({
    tool: 'web_fetch',
    subject: 'https://a.example:8443/x',
    subject_kind: 'url',
  });
  assert.deepEqual(rules, [
    'web_fetch:https://a.example:8443/x',
    'web_fetch:https://a.example:8443/*',
    'web_fetch:a.example:8443',
    'web_fetch',
  ]);
  assert.equal(rules[first], 'web_fetch:https://a.example:8443/*');
  const plain = proposeRules({ tool: 'web_fetch', subject: 'http://a.example/x', subject_kind: 'url' });
  assert.equal(plain.rules[plain.first], 'web_fetch:a.example');
});

it('a pattern that is no address is refused where it is written', () => {
  for (const pattern of [
    'ftp://x/*',
    'https://*.*/',
    'https://a@b/',
    'exa mple',
    '/etc/passwd',
    'https://',
    'ex*mple.org',
  ])
    assert.throws(() => parseKnownRule(`web_fetch:${pattern}`, 'allow', TOOLS), InvalidRuleError, pattern);
  for (const pattern of ['https://x.org/*', 'x.org', '*.x.org', '*', '*:8080', 'https://x.org/a/../b'])
    parseKnownRule(`web_fetch:${pattern}`, 'deny', TOOLS);
});
