import { errorJson } from '../../documents/error-json.ts';
import { paint } from '../../render/style.ts';
import type { Context } from '../setup/context.ts';
import { printResult } from '../setup/output.ts';
import { broughtChecks, folderCheck, machineChecks, toolChecks } from './machine-checks.ts';
import { modelChecks } from './model-checks.ts';
import { serveChecks } from './serve-checks.ts';

/** `coppice doctor`: reports what is configured and what is missing. Keys are named, never shown. */
export async function doctor(context: Context): Promise<number> {
  // One that cannot be opened is a check of its own, and the others do without; none yet is an empty one.
  const opened = await context.openIfExists().catch((error: unknown) => errorJson(error).message);
  const store = typeof opened === 'string' ? null : (opened ?? (await context.openStore().catch(() => null)));
  const checks = [
    ...(await machineChecks(context, opened)),
    ...(await modelChecks(context, store)),
    folderCheck(context),
    ...broughtChecks(context),
    ...(await serveChecks(context, store)),
    ...(await toolChecks(context)),
  ];
  await store?.close();
  const missing = checks.filter((check) => check.needed && !check.ok);
  const healthy = missing.length === 0;
  const hinted = checks.map((check) => ({ ...check, text: context.hint(check.text) }));
  // The spaces before a name are the indent of the list for people.
  const named = hinted.map((check) => ({ ...check, name: check.name.trim() }));
  const mark = (ok: boolean, needed: boolean): string => {
    if (ok) return paint(context.out, 'green', 'ok      ');
    return needed ? paint(context.out, 'red', 'missing ') : paint(context.out, 'dim', '–       ');
  };
  printResult(context, { schema: 'coppice/doctor/v1', healthy, checks: named }, () => [
    ...hinted.map(({ ok, needed, name, text }) => `${mark(ok, needed)} ${name.padEnd(14)} ${text}`),
    healthy
      ? 'Nothing needed is missing.'
      : `Needed, but missing: ${[...new Set(missing.map(({ name }) => name.trim()))].join(', ')}.`,
  ]);
  return healthy ? 0 : 1;
}
