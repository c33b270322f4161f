/** Values as a person writes them behind a command: `name=Ada note="two words"`. Null: it is something else. */
export function writtenValues(text: string): Readonly<Record<string, string>> | null {
  const pairs = /^(?:\s*[^\s="]+=(?:"[^"]*"|[^\s"]*)(?=\s|$))+\s*$/;
  if (!pairs.test(text)) return null;
  const values = new Map<string, string>();
  for (const [, name = '', quoted, plain = ''] of text.matchAll(/([^\s="]+)=(?:"([^"]*)"|([^\s"]*))/g))
    values.set(name, quoted ?? plain);
  return Object.fromEntries(values);
}
