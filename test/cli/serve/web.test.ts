// Proves that `coppice web` opens the dashboard: that of a running server, or of one that it runs itself until stopped.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { until } from '../../until.ts';
import { makeHome } from '../run-cli.ts';

async function signsIn(link: string): Promise<void> {
  const { origin, pathname, hash } = new URL(link);
  const redeem = () =>
    fetch(`${origin}${pathname}`, { method: 'POST', headers: { 'coppice-code': hash.slice(1) } });
  const answer = await redeem();
  assert.equal(answer.status, 200);
  assert.match(answer.headers.get('set-cookie') ?? '', /HttpOnly/);
  assert.equal((await redeem()).status, 401, 'it works once');
}

it('without a server it serves on loopback until it is stopped, and the next one uses that', async () => {
  const home = makeHome();
  home.configure({ server: { listen: '0.0.0.0:0' } });
  const { child, ended } = home.start(['web', '--no-open']);
  let out = '';
  child.stdout?.on('data', (text: string) => {
    out += text;
  });
  await until(() => out.endsWith('\n'), 'a link');
  assert.match(out, /^http:\/\/127\.0\.0\.1:\d+\/login#\S+\n$/);
  await signsIn(out.trim());
  const second = await home.run(['web', '--no-open', '--read-only', '--json']);
  assert.equal(second.code, 0, second.stderr);
  const link = JSON.parse(second.stdout);
  assert.equal(link.scope, 'read');
  assert.equal(new URL(link.url).origin, new URL(out.trim()).origin);
  const drawn = await home.run(['web', '--no-open', '--qr']);
  const [, ...lines] = drawn.stdout.trimEnd().split('\n');
  // A phone needs light and dark modules, whatever the colours of the terminal.
  assert.ok(lines.length > 15 && lines.every((line) => line.startsWith('\u001b[97;40m')), drawn.stdout);
  assert.match(drawn.stderr, /only this machine reaches that address/);
  child.kill('SIGINT');
  const { code, stderr } = await ended;
  assert.equal(code, 0, stderr);
  assert.match(stderr, /no server runs on this ledger: this command serves until Ctrl-C/);
});

it('a program that asks for JSON is told to start a server', async () => {
  const { code, stdout } = await makeHome().run(['web', '--json']);
  assert.equal(code, 1);
  const { error } = JSON.parse(stdout);
  assert.equal(error.code, 'E_SERVER');
  assert.match(error.hint, /coppice serve/);
});
