#!/usr/bin/env node
import { readFileSync } from 'node:fs';

const OLDEST_NODE = 24;

/** The entry of the command line: nothing is loaded before the Node version is known to do. */
async function main(): Promise<void> {
  const major = Number(process.versions.node.split('.')[0]);
  if (major < OLDEST_NODE) {
    process.stderr.write(
      `coppice needs Node.js ${OLDEST_NODE} or newer; this is ${process.version}. Install it from https://nodejs.org\n`,
    );
    process.exitCode = 2;
    return;
  }
  // A reader that leaves early (`coppice ps | head`) is no error.
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EPIPE') process.exit(0);
      throw error;
    });
  }
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

await main();
