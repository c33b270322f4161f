import { AGENT_FUNCTIONS } from './agent-functions.ts';
import { CRON_FUNCTIONS } from './cron-functions.ts';
import { GROUND_FUNCTIONS } from './ground-functions.ts';
import { MAIL_FUNCTIONS } from './mail-functions.ts';
import { RETENTION_FUNCTIONS } from './retention-functions.ts';
import { STEP_FUNCTIONS } from './step-functions.ts';
import { WORKER_FUNCTIONS } from './worker-functions.ts';

/** Everything that the ledger does inside the database. Those in plain SQL come behind what they use. */
export const FUNCTIONS = [
  GROUND_FUNCTIONS,
  MAIL_FUNCTIONS,
  AGENT_FUNCTIONS,
  STEP_FUNCTIONS,
  CRON_FUNCTIONS,
  WORKER_FUNCTIONS,
  RETENTION_FUNCTIONS,
].join('\n');
