/** One line as a shell would read it, with quotes where a word needs them. */
export function commandLine(words: readonly string[]): string {
  return words.map(quoted).join(' ');
}

/** A word with `=` may pass for a variable that is set, so it is quoted; a path or an option is not. */
function quoted(word: string): string {
  return /^(?:--?[\w-]+=)?[\w@%+:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
