const { homedir } = require('node:os');
const { isAbsolute, join } = require('node:path');

/**
 * Folder of Node's compile cache for this program; can be removed at any time. It belongs to the user alone and is never shared: whoever can write there can
 * run code here. JavaScript, because it is needed before anything is compiled.
 * @param {NodeJS.ProcessEnv} env
 * @returns {string}
 */
function cacheFolder(env) {
  if (process.platform === 'win32')
    return join(env.LOCALAPPDATA || join(homedir(), 'AppData', 'Local'), 'coppice', 'cache');
  const named = isAbsolute(env.XDG_CACHE_HOME || '') ? env.XDG_CACHE_HOME : undefined;
  if (process.platform === 'darwin' && named === undefined)
    return join(homedir(), 'Library', 'Caches', 'coppice');
  return join(named || join(homedir(), '.cache'), 'coppice');
}

exports.cacheFolder = cacheFolder;
