/*
 * A place in a list that is newest first, as text: `TIME,ID` of a row, or only a time. Below it are the rows that were created before that row, or before
 * that time.
 */

export function placeText({ created_at, id }: { readonly created_at: number; readonly id: string }): string {
  return `${new Date(created_at).toISOString()},${id}`;
}

/** `at`: milliseconds since the epoch. Null if the text is no place. */
export function readPlace(text: string): { readonly at: number; readonly id?: string | undefined } | null {
  const [, time = '', id] = /^(\d{4}-\d\d-\d\dT[\d:.]+Z)(?:,([^\0]{1,300}))?$/.exec(text) ?? [];
  const at = Date.parse(time);
  return Number.isNaN(at) ? null : { at, id };
}
