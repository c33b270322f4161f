/** Environment for programs that a test starts: the compile cache in which Node finds them already compiled (scripts/test.ts). */
export const COMPILED: Readonly<NodeJS.ProcessEnv> =
  process.env.NODE_COMPILE_CACHE === undefined ? {} : { NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE };
