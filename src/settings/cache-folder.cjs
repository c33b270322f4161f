const { homedir } = require('node:os');
const { join } = require('node:path');

/**
 * Folder of Node's compile cache for this program; can be removed at any time. It belongs to the user alone and is never shared: whoever can write there can
 * run code here. JavaScript, because it is needed before anything is compiled.
 * @param {NodeJS.ProcessEnv} env
 * @returns {string}
 */
function cacheFolder(env) {
  if (process.platform === 'win32')
    return join(env.LOCALAPPDATA || join(homedir(), 'AppData', 'Local'), 'coppice', 'cache');
  if (process.platform === 'darwin' && !env.XDG_CACHE_HOME)
    return join(homedir(), 'Library', 'Caches', 'coppice');
  return join(env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'coppice');
}

exports.cacheFolder = cacheFolder;
