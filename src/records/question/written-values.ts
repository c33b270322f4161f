/** Parses values as a person writes them after a command: `name=Ada note="two words"`; null if the text has another form. */
export function writtenValues(text: string): Readonly<Record<string, string>> | null {
  const pairs = /^(?:\s*[^\s="]+=(?:"[^"]*"|[^\s"]*)(?=\s|$))+\s*$/;
  if (!pairs.test(text)) return null;
  const values = new Map<string, string>();
  for (const [, name = '', quoted, plain = ''] of text.matchAll(/([^\s="]+)=(?:"([^"]*)"|([^\s"]*))/g))
    values.set(name, quoted ?? plain);
  return Object.fromEntries(values);
}
