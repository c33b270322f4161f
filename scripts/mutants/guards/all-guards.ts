import { DOOR_GUARDS } from './door-guards.ts';
import type { Guard } from './guard.ts';
import { HTTP_GUARDS } from './http-guards.ts';
import { KERNEL_GUARDS } from './kernel-guards.ts';
import { LEDGER_GUARDS } from './ledger-guards.ts';
import { PAIR_GUARDS } from './pair-guards.ts';
import { PAUSE_GUARDS } from './pause-guards.ts';
import { SERVER_GUARDS } from './server-guards.ts';
import { TOOL_GUARDS } from './tool-guards.ts';
import { WAIT_GUARDS } from './wait-guards.ts';

/** Every guard that `npm run mutants -- --guards` takes out. */
export const ALL_GUARDS: readonly Guard[] = [
  ...LEDGER_GUARDS,
  ...KERNEL_GUARDS,
  ...TOOL_GUARDS,
  ...DOOR_GUARDS,
  ...HTTP_GUARDS,
  ...PAIR_GUARDS,
  ...PAUSE_GUARDS,
  ...SERVER_GUARDS,
  ...WAIT_GUARDS,
];
