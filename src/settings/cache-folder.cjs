const { homedir } = require('node:os');
const { join } = require('node:path');

/**
 * Where Node keeps the compiled code of this program. It can be removed at any time. A folder of the user's own, never a
 * shared one: whoever can write there can run code here. JavaScript, because it is asked for before anything is compiled.
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
