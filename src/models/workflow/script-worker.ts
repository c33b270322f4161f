import { hash } from 'node:crypto';
import { parentPort } from 'node:worker_threads';
import { CoppiceError } from '../../records/coppice-error.ts';
import { ScriptMachine } from './script-machine.ts';
import { compileScript } from './script-source.ts';
import type { CompiledWasm, ScriptLimits, ScriptRequest, ScriptSetup } from './script-step.ts';

/** The thread's side of `script-run.ts`: opens one script, then answers each request with a step. */
export interface ScriptOpening {
  /** The interpreter, compiled: while it is, the thread starts. */
  readonly wasm: CompiledWasm;
  readonly setup: ScriptSetup;
  readonly limits: ScriptLimits;
}

const port = parentPort;

/** The interpreter takes time and time zone from this thread's `Date`; a run has the same of both on every machine. */
let now = 0;
Date.now = () => now;
const local = Date.prototype;
local.getTimezoneOffset = () => 0;
local.getFullYear = local.getUTCFullYear;
local.getMonth = local.getUTCMonth;
local.getDate = local.getUTCDate;
local.getDay = local.getUTCDay;
local.getHours = local.getUTCHours;
local.getMinutes = local.getUTCMinutes;
local.getSeconds = local.getUTCSeconds;

port?.once('message', async ({ wasm, setup, limits }: ScriptOpening) => {
  now = setup.started_at;
  try {
    const { meta, program } = compileScript(setup.source);
    const seed = hash('sha256', setup.seed, 'buffer');
    const { source: _, args, budget = { total: null, spent: 0 }, nested = false } = setup;
    const machine = await ScriptMachine.open({
      wasm,
      program,
      limits,
      globals: {
        ...(args === undefined ? {} : { args: JSON.stringify(args) }),
        seed: [0, 4, 8, 12].map((at) => seed.readUInt32LE(at)),
        budget,
        agents_max: limits.agents,
        nested,
      },
      setClock: (instant) => {
        now = instant;
      },
      started_at: setup.started_at,
    });
    port.on('message', ({ entries, recorded, last }: ScriptRequest) => {
      if (recorded !== null) machine.begin(recorded);
      for (const entry of entries) machine.feed(entry);
      if (last) machine.record.closeReplay();
      port.postMessage({ events: machine.record.takeEvents(), state: machine.record.state });
    });
    port.postMessage({ meta });
  } catch (error) {
    if (!(error instanceof CoppiceError)) throw error;
    port.postMessage({ refused: error.message });
  }
});
