#!/usr/bin/env node
// Must run on older Node versions, too: the package.json beside it selects CommonJS, and it uses no newer syntax.
// JavaScript, because stripping the types of an uncompiled file takes as long as the rest of `coppice --version`.
const too_old = require('../../settings/node-version.cjs').nodeTooOld(process.versions.node);

if (too_old !== null) {
  process.stderr.write(`${too_old}\n`);
  process.exitCode = 2;
} else {
  // What is found there is run, or is the ledger: a path that is not absolute would lead into the folder in which agents work.
  const { isAbsolute } = require('node:path');
  const { HOME, TMPDIR } = process.env;
  if (HOME !== undefined && !isAbsolute(HOME)) delete process.env.HOME;
  if (TMPDIR !== undefined && !(isAbsolute(TMPDIR) && require('node:fs').existsSync(TMPDIR)))
    delete process.env.TMPDIR;
  try {
    require('node:os').homedir();
  } catch {
    // A user that no list of accounts has: containers give it the same.
    process.env.HOME = '/';
  }
  require('node:module').enableCompileCache(
    require('../../settings/cache-folder.cjs').cacheFolder(process.env),
  );
  void import('../start/start.ts').then(({ start }) => start());
}
