/** Parts of a document that a script writes: everything between `<!-- NAME -->` and `<!-- /NAME -->`. */
export function markedBlocks(document: string): ReadonlyMap<string, string> {
  const blocks = new Map<string, string>();
  for (const [, name = '', text = ''] of document.matchAll(MARKED)) blocks.set(name, text.trim());
  return blocks;
}

/** Replaces the given blocks of a document; a block without markers in it is ignored. */
export function withMarkedBlocks(document: string, blocks: ReadonlyMap<string, string>): string {
  return document.replaceAll(MARKED, (whole, name: string) => {
    const text = blocks.get(name);
    return text === undefined ? whole : `<!-- ${name} -->\n\n${text}\n\n<!-- /${name} -->`;
  });
}

const MARKED = /<!-- ([a-z][\w-]*) -->\n([\s\S]*?)<!-- \/\1 -->/g;
