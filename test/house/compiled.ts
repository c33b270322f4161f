/** For the environment of programs that a test starts: where they find themselves compiled (scripts/test.ts). */
export const COMPILED: Readonly<NodeJS.ProcessEnv> =
  process.env.NODE_COMPILE_CACHE === undefined ? {} : { NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE };
