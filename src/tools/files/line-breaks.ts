const MARK = '\ufeff';

export function withPlainBreaks(text: string): string {
  return text.replaceAll('\r\n', '\n');
}

/**
 * Returns `after` with the byte order mark of `before` and, if that has any CR LF, its line breaks: lines that stay keep their own, and a new line gets that of
 * the line before it. Models see neither.
 */
export function withBreaksOf(before: string, after: string): string {
  const text = before.startsWith(MARK) && !after.startsWith(MARK) ? MARK + after : after;
  if (!before.includes('\r\n')) return text;
  const lines = withPlainBreaks(text).split('\n');
  const old = withPlainBreaks(before).split('\n');
  const breaks = before.match(/\r?\n/g) ?? [];
  const shorter = Math.min(lines.length, old.length);
  let start = 0;
  while (start < shorter && lines[start] === old[start]) start += 1;
  let end = 0;
  while (end < shorter - start && lines.at(-1 - end) === old.at(-1 - end)) end += 1;
  const moved = new Map(old.slice(start, old.length - end).map((line, at) => [line, breaks[start + at]]));
  let last = breaks[0];
  const broken = lines.slice(0, -1).map((line, at) => {
    const is_new = at >= start && at < lines.length - end;
    const stays = at >= lines.length - end ? at - lines.length + old.length : at;
    last = (is_new && moved.get(line)) || (is_new && at >= old.length - end ? last : breaks[stays]) || last;
    return line + last;
  });
  return broken.join('') + lines.at(-1);
}
