/**
 * Node from 24.7 on: earlier ones fail in `node:sqlite` at numbered parameters (`?1`). JavaScript that any Node reads, because an older one runs it.
 * @param {string} version of `process.versions.node`
 * @returns {string | null} what to tell; null if it is new enough
 */
function nodeTooOld(version) {
  const parts = version.split('.').map(Number);
  const major = parts[0] || 0;
  if (major > 24 || (major === 24 && (parts[1] || 0) >= 7)) return null;
  return `coppice needs Node.js 24.7 or newer; this is v${version}. Install it from https://nodejs.org`;
}

exports.nodeTooOld = nodeTooOld;
