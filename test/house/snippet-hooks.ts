import { registerHooks } from 'node:module';

const OWN: Readonly<Record<string, string>> = {
  coppice: new URL('./snippet-library.ts', import.meta.url).href,
  'coppice/testing': new URL('../../src/testing.ts', import.meta.url).href,
  '@ai-sdk/openai': import.meta.resolve('@ai-sdk/openai'),
  zod: import.meta.resolve('zod'),
};

/** Preloaded into a snippet of the documentation (`--import`): the packages that it imports are those of this clone. */
registerHooks({
  resolve(specifier, context, nextResolve) {
    const url = OWN[specifier];
    return url === undefined ? nextResolve(specifier, context) : { url, shortCircuit: true };
  },
});
