import { readFileSync } from 'node:fs';

/** Starts the command line, and loads only what the first word needs. */
export async function start(): Promise<void> {
  let has_reader = true;
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (!has_reader) return;
    has_reader = error.code !== 'EPIPE';
    if (has_reader) {
      process.stderr.write(`error: standard output cannot be written: ${error.message}\n`);
      process.exit(1);
    }
    // A reader that closes the pipe early (`coppice ps | head`) is not an error; work under way stops as by a signal.
    if (!process.emit('SIGHUP')) process.exit(0);
  });
  // Neither a full disk under the log nor a reader of it that left may stop work.
  process.stderr.on('error', () => undefined);
  process.emitWarning = withoutSqliteWarning(process.emitWarning);
  const [first, ...more] = process.argv.slice(2);
  if (more.length === 0 && (first === '--version' || first === '-V')) {
    process.stdout.write(`${version()}\n`);
    return;
  }
  // A person waits at a prompt, so no command is loaded.
  if (first === '__complete') {
    const { completeWords } = await import('../completion/complete-words.ts');
    for (const line of await completeWords(more, process.env)) process.stdout.write(`${line}\n`);
    return;
  }
  if (Object.keys(process.env).some((name) => /^https?_proxy$/i.test(name)))
    await (await import('../../processes/hosts/proxies.ts')).proxyFetch();
  const { runCommandLine } = await import('./run-command-line.ts');
  process.exitCode = await runCommandLine(process.argv, version());
}

/** Drops the warning of Node before 24.15 that its SQLite is experimental, which would appear in the middle of the terminal UI. */
function withoutSqliteWarning(emit: typeof process.emitWarning): typeof process.emitWarning {
  return (warning: string | Error, ...more: unknown[]) => {
    if (more[0] !== 'ExperimentalWarning' || !String(warning).startsWith('SQLite'))
      Reflect.apply(emit, process, [warning, ...more]);
  };
}

function version(): string {
  const text = readFileSync(new URL('../../../package.json', import.meta.url), 'utf8');
  return (JSON.parse(text) as { readonly version: string }).version;
}
