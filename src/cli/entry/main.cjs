#!/usr/bin/env node
// An older Node runs this file, too: the package.json beside it says CommonJS, and no word of it is newer than such a Node.
// JavaScript, because stripping types takes as long as the rest of `coppice --version`, and only compiled files are spared it.
const too_old = require('../../settings/node-version.cjs').nodeTooOld(process.versions.node);

if (too_old !== null) {
  process.stderr.write(`${too_old}\n`);
  process.exitCode = 2;
} else {
  require('node:module').enableCompileCache(
    require('../../settings/cache-folder.cjs').cacheFolder(process.env),
  );
  void import('../start/start.ts').then(({ start }) => start());
}
