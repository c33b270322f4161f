/** Proves which hosts sandboxed programs may reach: by name and port, and never by a name that leads to a private address. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { AllowedHosts } from '../../../src/processes/hosts/allowed-hosts.ts';

const ADDRESSES: Readonly<Record<string, readonly string[]>> = {
  'example.com': ['93.184.216.34'],
  'a.example.com': ['2606:2800::1'],
  'inside.example.com': ['10.1.2.3'],
  'both.example.com': ['127.0.0.1', '93.184.216.35'],
  'metadata.example.com': ['169.254.169.254'],
  'hidden.example.com': ['::ffff:127.0.0.1'],
  'nat.example.com': ['64:ff9b::7f00:1'],
  localhost: ['127.0.0.1'],
};

async function reached(patterns: readonly string[], host: string, port = 443): Promise<string | null> {
  const hosts = new AllowedHosts(patterns, async (name) => {
    const found = ADDRESSES[name];
    if (found === undefined) throw new Error(`${name} was looked up`);
    return found;
  });
  return hosts.resolve({ host, port });
}

it('allows names, names below one, all names, and one port only where it is said', async () => {
  const all: readonly (readonly [pattern: string, host: string, port: number, allowed: boolean])[] = [
    ['example.com', 'example.com', 443, true],
    ['example.com', 'EXAMPLE.com.', 443, true],
    ['example.com', 'a.example.com', 443, false],
    ['example.com', 'notexample.com', 443, false],
    ['*.example.com', 'a.example.com', 443, true],
    ['*.example.com', 'example.com', 443, false],
    ['*', 'example.com', 80, true],
    ['example.com:443', 'example.com', 443, true],
    ['example.com:443', 'example.com', 80, false],
    ['*:443', 'a.example.com', 443, true],
    ['*:443', 'a.example.com', 22, false],
    ['EXAMPLE.com', 'example.com', 443, true],
  ];
  for (const [pattern, host, port, allowed] of all)
    assert.equal((await reached([pattern], host, port)) !== null, allowed, `${pattern} ${host}:${port}`);
  assert.equal(await reached([], 'example.com'), null);
});

it('connects to no private address but one that is named itself', async () => {
  for (const host of ['inside', 'metadata', 'hidden', 'nat'].map((name) => `${name}.example.com`))
    assert.equal(await reached(['*'], host), null, host);
  for (const host of [
    '127.0.0.1',
    '10.0.0.1',
    '[::1]',
    '[::ffff:10.0.0.1]',
    '0.0.0.0',
    '[fe80::1]',
    '[fec0::1]',
    'localhost',
    '2130706433',
    '0x7f.1',
  ])
    assert.equal(await reached(['*'], host).catch(() => null), null, host);
  assert.equal(await reached(['*'], 'both.example.com'), '93.184.216.35');
  assert.equal(await reached(['*', '10.1.2.3'], 'inside.example.com'), '10.1.2.3');
  assert.equal(await reached(['127.0.0.1:8080'], '127.0.0.1', 8080), '127.0.0.1');
  assert.equal(await reached(['127.0.0.1:8080'], '127.0.0.1', 80), null);
  assert.equal(await reached(['localhost'], 'localhost'), '127.0.0.1');
  assert.equal(await reached(['[::1]:80'], '[0:0::1]', 80), '::1');
});
