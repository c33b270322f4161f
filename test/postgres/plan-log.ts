import { chmodSync, closeSync, fstatSync, mkdtempSync, openSync, readSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';

/** One scan of a table or index. */
export interface Scan {
  /** `Seq Scan`, `Index Scan`… */
  readonly node: string;
  readonly table: string;
  readonly index: string | null;
  /** Rows read, including those filtered out. */
  readonly rows: number;
  readonly statement: string;
}

interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Index Name'?: string;
  readonly 'Actual Rows'?: number;
  readonly 'Actual Loops'?: number;
  readonly 'Rows Removed by Filter'?: number;
  readonly Plans?: readonly PlanNode[];
}

/** The plans of all statements of a server with these `settings`, including those inside functions (`auto_explain`). */
export class PlanLog {
  readonly #folder = mkdtempSync(join(tmpdir(), 'coppice-plans-'));
  /** Bytes of the log that were read. */
  #read = 0;
  #marks = 0;

  constructor() {
    chmodSync(this.#folder, 0o777);
  }

  /** Server settings for `startPostgres`. */
  get settings(): readonly string[] {
    return [
      'shared_preload_libraries=auto_explain',
      'auto_explain.log_nested_statements=on',
      'auto_explain.log_analyze=on',
      'auto_explain.log_timing=off',
      'auto_explain.log_format=json',
      'logging_collector=on',
      'log_destination=jsonlog',
      `log_directory=${this.#folder}`,
      'log_filename=plans',
      'log_file_mode=0644',
      'log_rotation_age=0',
      'log_rotation_size=0',
    ];
  }

  /** Logs plans of new connections to the database of `url`. */
  async begin(url: string): Promise<void> {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    await client.query(
      `ALTER DATABASE ${new URL(url).pathname.slice(1)} SET auto_explain.log_min_duration = 0`,
    );
    await client.end();
  }

  /** Scans since the last call. `admin`: a connection opened before `begin`. */
  async scans(admin: pg.Client): Promise<readonly Scan[]> {
    this.#marks += 1;
    const mark = `mark ${this.#marks} of the plans`;
    await admin.query(`DO $$ BEGIN RAISE LOG '${mark}'; END $$`);
    for (let tries = 0; tries < 500; tries += 1) {
      const text = this.#unread();
      const end = text.indexOf(mark);
      const last = text.indexOf(10, end);
      if (end >= 0 && last >= 0) {
        this.#read += last + 1;
        return text.toString('utf8', 0, end).split('\n').slice(0, -1).flatMap(scansOf);
      }
      await sleep(20);
    }
    throw new Error('the server wrote no log');
  }

  #unread(): Buffer {
    const file = openSync(join(this.#folder, 'plans.json'), 'r');
    try {
      const text = Buffer.alloc(fstatSync(file).size - this.#read);
      readSync(file, text, 0, text.length, this.#read);
      return text;
    } finally {
      closeSync(file);
    }
  }

  remove(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

function scansOf(line: string): Scan[] {
  if (line === '') return [];
  const { message } = JSON.parse(line) as { readonly message?: string };
  const at = message?.indexOf('plan:\n') ?? -1;
  if (message === undefined || at < 0) return [];
  const plan = JSON.parse(message.slice(at + 6)) as { 'Query Text': string; Plan: PlanNode };
  const walk = (node: PlanNode): Scan[] => {
    const loops = node['Actual Loops'] ?? 0;
    const table = node['Relation Name'];
    const below = (node.Plans ?? []).flatMap(walk);
    if (table === undefined || !node['Node Type'].includes('Scan')) return below;
    const rows = ((node['Actual Rows'] ?? 0) + (node['Rows Removed by Filter'] ?? 0)) * loops;
    const statement = plan['Query Text'].replaceAll(/\s+/g, ' ').slice(0, 300);
    return [{ node: node['Node Type'], table, index: node['Index Name'] ?? null, rows, statement }, ...below];
  };
  return walk(plan.Plan);
}
