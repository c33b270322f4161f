/**
 * Requires Node 24.7: earlier versions fail in `node:sqlite` on numbered parameters (`?1`). JavaScript that any Node can parse, because older versions run
 * it.
 * @param {string} version of `process.versions.node`
 * @param {NodeJS.Dict<string>} others versions of programs that run JavaScript like Node and lack parts of it
 * @returns {string | null} the message to show; null if the version is new enough
 */
function nodeTooOld(version, others = process.versions) {
  const other = others.deno ? `Deno ${others.deno}` : others.bun ? `Bun ${others.bun}` : null;
  if (other !== null)
    return `coppice needs Node.js 24.7 or newer; this is ${other}. Install Node.js from https://nodejs.org and run it with that`;
  const parts = version.split('.').map(Number);
  const major = parts[0] || 0;
  if (major > 24 || (major === 24 && (parts[1] || 0) >= 7)) return null;
  return `coppice needs Node.js 24.7 or newer; this is v${version}. Install it from https://nodejs.org`;
}

exports.nodeTooOld = nodeTooOld;
