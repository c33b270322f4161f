import { appendFileSync } from 'node:fs';
import { registerHooks } from 'node:module';

/** Loaded before a program (`--import`): writes the address of every module that it loads to the file `$LOADED_MODULES`, a line each. */
registerHooks({
  load(url, context, nextLoad) {
    appendFileSync(process.env.LOADED_MODULES as string, `${url}\n`);
    return nextLoad(url, context);
  },
});
