/** Kinds of findings, described. */
export const LAWS = {
  lost: 'acknowledged, and not in the ledger as it was',
  doubled: 'applied, delivered or run twice',
  gap: 'a place in a conversation or a mailbox is missing',
  torn: 'a step is in the ledger in part',
  wrong: 'a tree ended differently from one that nothing disturbed, or another law is broken',
} as const;
export type Law = keyof typeof LAWS;

/** One violation, in words. */
export interface Finding {
  readonly law: Law;
  readonly text: string;
}
