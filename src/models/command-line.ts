/** Joins words to one line as a shell would read it, with quotes where a word needs them. */
export function commandLine(words: readonly string[]): string {
  return words.map(quoted).join(' ');
}

/** Quotes a word with `=`, which could pass for a variable assignment, and any with special characters; paths and options stay as they are. */
function quoted(word: string): string {
  return /^(?:--?[\w-]+=)?[\w@%+:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
