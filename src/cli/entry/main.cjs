#!/usr/bin/env node
// Must run on older Node versions, too: the package.json beside it selects CommonJS, and it uses no newer syntax.
// JavaScript, because stripping the types of an uncompiled file takes as long as the rest of `coppice --version`.
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
