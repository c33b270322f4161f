import { listedNames } from '../records/text/cut-text.ts';
import { clean } from '../render/clean.ts';
import type { DocumentOf } from './shapes/all-documents.ts';

/** How the merge of one branch ended, as a line for people. */
export function mergeLine(row: DocumentOf<'coppice/merge/v1'>['merges'][number]): string {
  const { status, name, branch, commit, files, error, sent_to } = row;
  const told =
    sent_to === null
      ? ''
      : `; ${sent_to === row.agent_id ? clean(name) : `agent ${sent_to.slice(0, 8)}`} was told`;
  const what = {
    merged: `merged as ${commit?.slice(0, 12)}`,
    unchanged: 'nothing new',
    conflict: `conflicts in ${clean(listedNames(files))}, not merged`,
    test_failed: `the test failed (${clean(error ?? '')}), not merged`,
    failed: `not merged: ${clean(error ?? '')}`,
  }[status];
  return `${clean(name)} (${branch}): ${what}${told}`;
}
