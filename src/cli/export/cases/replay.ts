import { readFile, writeFile } from 'node:fs/promises';
import type { DocumentOf } from '../../../documents/shapes/all-documents.ts';
import { divergenceText } from '../../../library/testing/cases/record-case.ts';
import { readCase } from '../../../library/testing/cases/recorded-case.ts';
import { type Divergence, replayCase } from '../../../library/testing/cases/replay-case.ts';
import { CoppiceError } from '../../../records/coppice-error.ts';
import { clean, cleanLines } from '../../../render/clean.ts';
import { difference } from '../../../tools/files/difference.ts';
import type { Context } from '../../setup/context.ts';
import { printResult } from '../../setup/output.ts';
import { EXIT } from '../../start/exit-code.ts';
import { termsOfToday } from './terms-of-today.ts';

/** `coppice replay FILE…`: runs recorded cases against the prompts, tools, profiles and version of today. */
export async function replay(
  context: Context,
  files: readonly string[],
  { update = false }: { readonly update?: boolean },
): Promise<number> {
  let differ = 0;
  for (const file of files) {
    const recorded = readCase(
      await readFile(file, 'utf8').catch((error: Error) => {
        throw new CoppiceError('E_INVALID_ARGUMENT', `${file} cannot be read: ${error.message}`, {
          cause: error,
        });
      }),
      file,
    );
    const { model = recorded.root.model } = context.options;
    const today = termsOfToday(context, { ...recorded.root, model });
    const { divergences, requests, replayed } = await replayCase(recorded, today);
    if (divergences.length > 0) differ += 1;
    const ended = divergences.find(({ what }) => what === 'order');
    const updates = update && divergences.length > 0 && ended === undefined;
    if (updates) await writeFile(file, `${JSON.stringify(replayed, null, 1)}\n`);
    const { version: recorded_by, recorded_at } = recorded;
    const document: DocumentOf<'coppice/replay/v1'> = {
      ...{ schema: 'coppice/replay/v1', file, recorded_by, recorded_at },
      ...{ requests, divergences, updated: updates },
    };
    printResult(context, document, () => replayLines(document));
    if (update && ended !== undefined)
      process.stderr.write(
        `${clean(file)} was left as it is: it goes another way, so it must be recorded anew\n`,
      );
  }
  return differ > 0 ? EXIT.failed : EXIT.done;
}

function replayLines({
  file,
  requests,
  divergences,
  updated,
  recorded_by,
}: DocumentOf<'coppice/replay/v1'>): string[] {
  const name = clean(file);
  if (divergences.length === 0) return [`✓ ${name}: as recorded (requests: ${requests})`];
  const others = divergences.length - 1;
  return [
    `✗ ${name}: not as recorded by coppice ${clean(recorded_by)}; first:`,
    ...divergences
      .slice(0, 1)
      .flatMap(divergenceLines)
      .map((line) => `  ${line}`),
    ...(others > 0 ? [`other differences: ${others} (--json shows them)`] : []),
    ...(updated ? ['the case was updated: it now holds what is sent today'] : []),
  ];
}

/** Where and how a replay differs, for people. */
function divergenceLines(one: Divergence): string[] {
  const { what, recorded, now } = one;
  if (what === 'order') return [cleanLines(divergenceText(one))];
  const patch = difference(what, `${recorded}\n`, `${now}\n`) ?? '';
  const hunks = patch.slice(Math.max(0, patch.indexOf('@@'))).trimEnd();
  return [clean(divergenceText(one)), ...(hunks === '' ? [] : cleanLines(hunks).split('\n'))];
}
