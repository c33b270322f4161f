/** Parses name and task from the identity message of a fork; null if it has no task yet or another form. */
export function forkTask(text: string): { readonly name: string; readonly task: string } | null {
  const name = /^You are [^"\n]*"(.*?)" \(/.exec(text)?.[1];
  const [, task] = /\nYour task:\n([\s\S]+)$/.exec(text) ?? [];
  return name === undefined || task === undefined ? null : { name, task };
}
