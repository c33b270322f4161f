import { readFileSync } from 'node:fs';

/** The command line from its first word: nothing is loaded that the word does not need. */
export async function start(): Promise<void> {
  // A reader that leaves early (`coppice ps | head`) is no error.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(0);
    process.stderr.write(`error: standard output cannot be written: ${error.message}\n`);
    process.exit(1);
  });
  // A log that finds no room on its disk stops no work.
  process.stderr.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(0);
  });
  // Somebody waits at a prompt for these: nothing of the commands is loaded for them.
  if (process.argv[2] === '__complete') {
    const { completeWords } = await import('./completion/complete-words.ts');
    for (const line of await completeWords(process.argv.slice(3), process.env))
      process.stdout.write(`${line}\n`);
    return;
  }
  const { runCommandLine } = await import('./run-command-line.ts');
  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
    version: string;
  };
  process.exitCode = await runCommandLine(process.argv, version);
}
