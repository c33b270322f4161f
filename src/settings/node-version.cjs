/**
 * Requires Node 24.7: earlier versions fail in `node:sqlite` on numbered parameters (`?1`). JavaScript that any Node can parse, because older versions run
 * it.
 * @param {string} version of `process.versions.node`
 * @returns {string | null} the message to show; null if the version is new enough
 */
function nodeTooOld(version) {
  const parts = version.split('.').map(Number);
  const major = parts[0] || 0;
  if (major > 24 || (major === 24 && (parts[1] || 0) >= 7)) return null;
  return `coppice needs Node.js 24.7 or newer; this is v${version}. Install it from https://nodejs.org`;
}

exports.nodeTooOld = nodeTooOld;
