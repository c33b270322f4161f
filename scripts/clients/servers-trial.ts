import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { executeSql } from '../../test/postgres/execute-sql.ts';
import { startPostgres } from '../../test/postgres/start-postgres.ts';
import { startAnthropicServer } from '../../test/servers/anthropic-server.ts';
import { OWNERS, serversBrain } from './servers-brain.ts';
import { environment, installed, MAIN, newPlace, start } from './trial-place.ts';

const DATABASE = '@bytebase/dbhub@1.4.0';
const BROWSER = '@playwright/mcp@0.0.83';
const CHROMIUM = '/usr/bin/chromium';

/** Shows the agent's name and counts clicks, which proves that each agent has a page of its own. */
const PAGE = `<!doctype html><title>A page</title><p id="text"></p><button>Click</button><script>
let clicked = 0;
const owner = new URLSearchParams(location.search).get('for');
const show = () => { text.textContent = 'greeting for ' + owner + ', clicked ' + clicked + ' times'; };
document.querySelector('button').onclick = () => { clicked += 1; show(); };
show();
</script>`;

const TOOLS = `[[sources]]
id = "notes"
dsn = "DSN"
[[tools]]
name = "execute_sql"
source = "notes"
[[tools]]
name = "forget_notes"
description = "Deletes all notes of an owner"
source = "notes"
statement = "DELETE FROM notes WHERE owner = $1"
[[tools.parameters]]
name = "owner"
type = "string"
description = "whose"
`;

interface Recorded {
  readonly server: string;
  readonly call?: string;
  readonly open: number;
}

/** Tries real servers from npm, a database and a browser, used concurrently by three agents of one tree, in a sandbox and under rules. */
export async function tryServers(into: string): Promise<boolean> {
  const program = (name: string, bin: string, ...specs: string[]): string =>
    join(installed(into, name, ...specs), 'node_modules', '.bin', bin);
  const dbhub = program('dbhub', 'dbhub', DATABASE, 'pg', '--omit=optional');
  const playwright = program('playwright', 'playwright-mcp', BROWSER);
  const { home, work } = newPlace(into, 'servers');
  const asked: string[] = [];
  const pages = createServer((request, response) => {
    asked.push(request.url ?? '');
    response.writeHead(200, { 'content-type': 'text/html' }).end(PAGE);
  });
  await new Promise<void>((listening) => pages.listen(0, '127.0.0.1', listening));
  const page_host = `127.0.0.1:${(pages.address() as AddressInfo).port}`;
  const postgres = await startPostgres({ in_memory: true });
  const model = await startAnthropicServer({ answer: serversBrain(`http://${page_host}`) });
  const recorded = (name: string, command: string, ...args: string[]) => ({
    command: process.execPath,
    args: [join(import.meta.dirname, 'recorded-server.ts'), join(work, `${name}.jsonl`), command, ...args],
  });
  let good = true;
  const see = (what: string, passed: boolean, seen: string): void => {
    good &&= passed;
    console.log(`${passed ? 'ok  ' : 'FAIL'} servers: ${what}: ${seen}`);
  };
  try {
    const dsn = await postgres.createDatabase();
    await executeSql(dsn, 'CREATE TABLE notes (owner text, points int)');
    const toml = join(work, 'dbhub.toml');
    writeFileSync(toml, TOOLS.replace('DSN', `${dsn}?sslmode=disable`));
    configure(home, {
      mcp: {
        servers: {
          database: {
            ...recorded('database', dbhub, '--transport', 'stdio', '--config', toml),
            hosts: [new URL(dsn).host],
          },
          browser: {
            ...recorded(
              'browser',
              playwright,
              '--headless',
              '--no-sandbox',
              '--isolated',
              '--executable-path',
              CHROMIUM,
            ),
            env: { XDG_CACHE_HOME: '/tmp' },
            hosts: [page_host],
            sockets: true,
            perAgent: true,
          },
        },
      },
    });
    const began = performance.now();
    const rules = [
      ...['--allow', 'database__*', '--deny', 'database__forget_*'],
      ...['--allow', 'browser__*', '--deny', 'browser__browser_evaluate'],
    ];
    const { code, stdout, stderr } = await start(
      process.execPath,
      [MAIN, 'run', '--model', 'anthropic/claude-sonnet-4-5', '--toolset', 'fanout', ...rules, 'TRIAL'],
      { cwd: work, env: environment(home, { ANTHROPIC_API_KEY: 'any', ANTHROPIC_BASE_URL: model.url }) },
    ).ended;
    const seconds = ((performance.now() - began) / 1_000).toFixed(1);
    see('the tree ends', code === 0, `exit code ${code} after ${seconds} s`);
    for (const owner of OWNERS) {
      const expected = `${owner}: sum-${owner.charCodeAt(0)}; greeting for ${owner}, clicked 1 times; 2 denied`;
      const found = new RegExp(`${owner}: [^"]*`).exec(stdout)?.[0] ?? 'nothing';
      see(`result of ${owner}`, found === expected, found);
    }
    const reached = [...readRecord(work, 'database'), ...readRecord(work, 'browser')];
    const denied = reached.filter(({ call }) => call === 'forget_notes' || call === 'browser_evaluate');
    see('denied calls that reached a server', denied.length === 0, String(denied.length));
    see(
      'denied address asked for',
      asked.every((one) => !one.startsWith('/denied')),
      asked.join(' '),
    );
    const [most] = readRecord(work, 'database')
      .map(({ open }) => open)
      .sort((a, b) => b - a);
    see('calls that one database server had at once', most === OWNERS.length, String(most));
    const browsers = new Set(readRecord(work, 'browser').map(({ server }) => server)).size;
    see('browsers', browsers === OWNERS.length, String(browsers));
    if (!good) console.log(`${stdout.slice(-2_000)}\n${stderr.slice(-2_000)}`);
  } finally {
    await model.close();
    await postgres.stop();
    pages.close();
  }
  return good;
}

function configure(home: string, configuration: object): void {
  const folder = join(home, '.config', 'coppice');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'config.json'), JSON.stringify(configuration));
}

function readRecord(work: string, name: string): readonly Recorded[] {
  const path = join(work, `${name}.jsonl`);
  if (!existsSync(path)) return [];
  return readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Recorded);
}
