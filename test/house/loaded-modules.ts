import { appendFileSync } from 'node:fs';
import { registerHooks } from 'node:module';

/** Preloaded into a program (`--import`): appends the URL of every module that it loads to the file `$LOADED_MODULES`, one per line. */
registerHooks({
  load(url, context, nextLoad) {
    appendFileSync(process.env.LOADED_MODULES as string, `${url}\n`);
    return nextLoad(url, context);
  },
});
