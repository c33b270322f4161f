import { paint } from '../../render/style.ts';
import type { Context } from '../setup/context.ts';
import { printJson, printLines } from '../setup/output.ts';
import { broughtChecks, folderCheck, ledgerChecks, toolChecks } from './machine-checks.ts';
import { modelChecks } from './model-checks.ts';
import { serveChecks } from './serve-checks.ts';

/** `coppice doctor`: reports what is configured and what is missing. Keys are named, never shown. */
export async function doctor(context: Context): Promise<number> {
  const checks = [
    ...(await ledgerChecks(context)),
    ...(await modelChecks(context)),
    folderCheck(context),
    ...broughtChecks(context),
    ...(await serveChecks(context)),
    ...(await toolChecks(context)),
  ];
  const missing = checks.filter((check) => check.needed && !check.ok);
  const healthy = missing.length === 0;
  if (context.json) {
    // The spaces before a name are the indent of the list for people.
    const named = checks.map((check) => ({ ...check, name: check.name.trim() }));
    printJson({ schema: 'coppice/doctor/v1', healthy, checks: named });
    return healthy ? 0 : 1;
  }
  const mark = (ok: boolean, needed: boolean): string => {
    if (ok) return paint(context.out, 'green', 'ok      ');
    return needed ? paint(context.out, 'red', 'missing ') : paint(context.out, 'dim', '–       ');
  };
  printLines([
    ...checks.map(({ ok, needed, name, text }) => `${mark(ok, needed)} ${name.padEnd(14)} ${text}`),
    healthy
      ? 'Nothing needed is missing.'
      : `Needed, but missing: ${[...new Set(missing.map(({ name }) => name.trim()))].join(', ')}.`,
  ]);
  return healthy ? 0 : 1;
}
