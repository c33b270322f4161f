import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startWebhookReceiver, type WebhookReceiver } from '../channels/webhook-receiver.ts';
import { type Home, makeHome } from '../cli/run-cli.ts';
import { type PostgresServer, startPostgres } from '../postgres/start-postgres.ts';

/** `stop`: connections are refused. `freeze`: the server accepts them and is silent. */
export type Outage = 'stop' | 'freeze';

const SECRET = `whsec_${Buffer.from('a signing key for tests').toString('base64')}`;
/** For how long after an outage nothing more may be told: longer than leases, polls and pauses take. */
const AFTERMATH_MS = 12_000;

interface Told {
  readonly id: string;
  readonly text: string;
}

/**
 * Two servers with all rules for a tree that fails and a process that is gone, alerting to a file and a webhook. For each length: a tree fails, the database
 * goes away in the middle of the delivery of that alert, a worker is killed if the outage is long, and the database returns. Each cause must be told once to
 * each target, and nothing else.
 */
export async function alertsAcross(outage: Outage, lengths_s: readonly number[]): Promise<void> {
  const home = makeHome();
  const receiver = await startWebhookReceiver();
  const postgres = await startPostgres();
  const database = await postgres.createDatabase();
  const lines = join(home.folder, 'alerts.jsonl');
  writeFileSync(join(home.work, 'rules.json'), JSON.stringify({ rules: [{ when: { step: 99 }, say: 'x' }] }));
  const to = ['webhook:ops', 'file:log'];
  home.configure({
    channels: { webhook: { ops: { url: receiver.url, secretEnv: 'OPS_SECRET' } }, file: { log: lines } },
    alerts: ['tree-failed', 'worker-gone'].map((when) => ({ when, to })),
  });
  const env = { OPS_SECRET: SECRET };
  const start = async (role: string) => {
    const process_of_role = home.start([role, '--log', 'json', '--database', database], { env });
    let log = '';
    process_of_role.child.stderr?.on('data', (text: string) => {
      log += text;
    });
    await patiently(() => /coppice (serves|works)/.test(log), `the ${role} starts: ${log}`);
    return { ...process_of_role, log: () => log };
  };
  const servers = [await start('serve'), await start('serve')];
  const told = () => ({ webhook: byWebhook(receiver), file: inFile(lines) });
  const expected: string[] = [];
  try {
    for (const seconds of lengths_s) {
      const worker = await start('worker');
      // The servers list it before the outage.
      await sleep(6_000);
      const begun = receiver.requests.length;
      let away: () => void = () => undefined;
      const is_away = new Promise<void>((resolve) => {
        away = resolve;
      });
      receiver.answerNext((response) => void is_away.then(() => response.writeHead(204).end()));
      expected.push(await failingTree(home, database));
      await patiently(() => receiver.requests.length > begun, 'the alert is under way');
      const back = await begin(outage, postgres);
      away();
      const kills = seconds > 10;
      if (kills) {
        worker.child.kill('SIGKILL');
        await worker.ended;
        expected.push(`worker ${worker.child.pid} on`);
      }
      await sleep(seconds * 1_000);
      await back();
      const whole = () =>
        [told().webhook, told().file].every((texts) => expected.every((one) => has(texts, one)));
      await patiently(whole, `all is told after ${seconds} s: ${JSON.stringify([expected, told()])}`);
      await sleep(AFTERMATH_MS);
      for (const [target, texts] of Object.entries(told()))
        assert.deepEqual(
          texts.map(({ text }) => expected.find((one) => text.includes(one)) ?? text).toSorted(),
          expected.toSorted(),
          `each cause once after ${outage} for ${seconds} s, by ${target}`,
        );
      if (!kills) {
        worker.child.kill('SIGTERM');
        await worker.ended;
      }
    }
    for (const { child, log } of servers) {
      assert.equal(child.exitCode, null, 'the servers have lived through it');
      const lost = log().split('the claim of a delivery was lost').length - 1;
      // An answer that came too late to be read looks like a lost claim once.
      assert.ok(lost <= 2 * lengths_s.length, log());
    }
  } finally {
    for (const { child } of servers) {
      child.kill('SIGKILL');
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    }
    await postgres.stop();
    await receiver.close();
  }
}

function has(texts: readonly Told[], wanted: string): boolean {
  return texts.some(({ text }) => text.includes(wanted));
}

function byWebhook({ requests }: WebhookReceiver): Told[] {
  return requests.map(({ body }) => JSON.parse(body) as Told);
}

function inFile(path: string): Told[] {
  if (!existsSync(path)) return [];
  const lines = readFileSync(path, 'utf8').trimEnd().split('\n');
  return lines.map((line) => JSON.parse(line) as Told);
}

/** Resolves to the id of the tree. */
async function failingTree(home: Home, database: string): Promise<string> {
  const args = ['run', 'break', '--json', '--model', 'scripted:rules.json', '--database', database];
  const { stdout, stderr } = await home.run(args);
  const [id] = /[0-9a-f]{8}-[0-9a-f-]{27}/.exec(stdout) ?? assert.fail(`no tree: ${stdout} ${stderr}`);
  return id;
}

/** Resolves once the database is away, to what brings it back. */
async function begin(outage: Outage, postgres: PostgresServer): Promise<() => Promise<void>> {
  if (outage === 'stop') {
    await postgres.halt();
    return () => postgres.start();
  }
  const pids = withChildren(postgres.pid());
  for (const pid of pids) process.kill(pid, 'SIGSTOP');
  return async () => {
    for (const pid of pids) process.kill(pid, 'SIGCONT');
  };
}

/** The server, first, and the processes of its connections, each in a process group of its own. */
function withChildren(pid: number): number[] {
  const parentOf = (entry: string) => {
    try {
      return Number(
        readFileSync(`/proc/${entry}/stat`, 'latin1')
          .replace(/^.*\) \S /s, '')
          .split(' ')[0],
      );
    } catch {
      return 0;
    }
  };
  const children = readdirSync('/proc').filter((entry) => /^\d+$/.test(entry) && parentOf(entry) === pid);
  return [pid, ...children.map(Number)];
}

async function patiently(condition: () => boolean, what: string): Promise<void> {
  for (const end = Date.now() + 60_000; !condition(); await sleep(50))
    if (Date.now() > end) assert.fail(`not within a minute: ${what}`);
}
