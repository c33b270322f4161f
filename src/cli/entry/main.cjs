#!/usr/bin/env node
// An older Node runs this file, too: the package.json beside it says CommonJS, and no word of it is newer than such a Node.
// JavaScript, because stripping types takes as long as the rest of `coppice --version`, and only compiled files are spared it.
const oldest_node = 24;

if (Number(process.versions.node.split('.')[0]) < oldest_node) {
  process.stderr.write(
    `coppice needs Node.js ${oldest_node} or newer; this is ${process.version}. Install it from https://nodejs.org\n`,
  );
  process.exitCode = 2;
} else {
  require('node:module').enableCompileCache(
    require('../../settings/cache-folder.cjs').cacheFolder(process.env),
  );
  void import('../start/start.ts').then(({ start }) => start());
}
