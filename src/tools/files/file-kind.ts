/** Returns the media type of an image that models accept, by the first bytes of the file; its name is not trusted. */
export function imageTypeOf(bytes: Buffer): string | undefined {
  const starts = (text: string, at = 0): boolean => bytes.toString('latin1', at, at + text.length) === text;
  if (starts('\x89PNG\r\n\x1a\n')) return 'image/png';
  if (starts('\xff\xd8\xff')) return 'image/jpeg';
  if (starts('GIF87a') || starts('GIF89a')) return 'image/gif';
  if (starts('RIFF') && starts('WEBP', 8)) return 'image/webp';
  return undefined;
}

/** Whether the beginning of a file is not text: text contains no NUL. */
export function isBinary(bytes: Buffer): boolean {
  return bytes.includes(0);
}
