import type { DocumentOf } from '../../src/documents/shapes/all-documents.ts';
import { type OutcomeWord, restsCut } from '../../src/records/run/outcome.ts';

export type Tree = DocumentOf<'coppice/trees/v1'>['trees'][number];

/** Groups of trees by what came of them, the most urgent for a person first. Whoever a person stopped has not failed. */
export const GROUPS: readonly {
  readonly key: string;
  readonly title: string;
  readonly of: readonly OutcomeWord[];
}[] = [
  { key: 'you', title: 'Needs you', of: ['waiting_for_you', 'unled'] },
  { key: 'running', title: 'Running', of: ['working', 'waiting'] },
  { key: 'failed', title: 'Failed', of: ['failed', 'declined'] },
  { key: 'cut', title: 'Cut short', of: ['cut_short'] },
  { key: 'done', title: 'Done', of: ['done', 'stopped'] },
];

/** The group of a tree. One that rests where it was cut from another needs nobody. */
export function groupOf(tree: Tree): (typeof GROUPS)[number] {
  const of = restsCut(tree) ? 'done' : tree.outcome;
  return GROUPS.find((group) => group.of.includes(of)) as (typeof GROUPS)[number];
}

/** Whether a tree came to this: an outcome, or a group by its title; a word that is neither finds those that begin so. */
function isOfOutcome(tree: Tree, text: string): boolean {
  const wanted = text.replaceAll('-', '_');
  const { title } = groupOf(tree);
  const group = title.toLowerCase().replaceAll(' ', '_');
  const is_word = GROUPS.some(({ of }) => of.some((word) => word === wanted));
  return [tree.outcome, group].some((word) => (is_word ? word === wanted : word.startsWith(wanted)));
}

/** Whether every word matches: `field:text` in that field, any other word in title, folder, model, id or name. */
export function matches(tree: Tree, typed: string): boolean {
  const search = typed.trim().toLowerCase();
  return search.split(/\s+/).every((word) => {
    const [, field, text = ''] = /^(\w+):(.*)$/.exec(word) ?? [];
    if (field === 'status' || field === 'outcome') return isOfOutcome(tree, text);
    const value = field === undefined ? undefined : (tree as Record<string, unknown>)[field];
    if (value !== undefined) return String(value).toLowerCase().includes(text);
    return [tree.title, tree.cwd, tree.model, tree.root_id, tree.name].some((one) =>
      one.toLowerCase().includes(word),
    );
  });
}
