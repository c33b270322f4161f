import { StoreError } from './store-error.ts';

/** Where a ledger is: in a file, or on a server. */
export type DatabaseAddress =
  | { readonly kind: 'sqlite'; readonly path: string }
  | { readonly kind: 'postgres'; readonly url: string };

const POSTGRES = 'postgres://USER@HOST/NAME';

/** Common mistakes and their messages; the first match counts. No message quotes the text, which may contain a password. */
const MISTAKES: readonly (readonly [RegExp, string])[] = [
  [
    /^[\s\u200b\u2060\ufeff]|[\s\u200b\u2060\ufeff]$/,
    'begins or ends with a blank or a line break: remove it',
  ],
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused
  [/[\u0000-\u001f\u007f-\u009f]/, 'contains a control character'],
  [
    /(^|[\s;])(host|hostaddr|port|dbname|database|user|password|pwd|server|service|sslmode)\s*=/i,
    `is a list of settings: write ${POSTGRES}`,
  ],
  [/^["'`<]|["'`>]$/, 'is in quotes: remove them (files of environment variables keep quotes as they are)'],
];

/** Mistakes: addresses meant for a server, or for another program. */
const SCHEMES: typeof MISTAKES = [
  [/^:memory:$/i, 'is in memory: a ledger is a file or a server, so that other processes can open it'],
  [/^postgres(ql)?:/i, `lacks its two slashes: write ${POSTGRES}`],
  [/^[a-z][a-z0-9+.-]+:/i, `has an unknown scheme: use sqlite:PATH or ${POSTGRES}`],
];

/** Mistakes: texts that nobody means as a path. */
const NO_PATHS: typeof MISTAKES = [
  [/^$/, 'names no file: use sqlite:PATH'],
  [/:[/\\]/, `is not a path: use sqlite:PATH, or ${POSTGRES} with nothing before it`],
  [/:[^/\\]*@/, `contains user and password, but no scheme: write ${POSTGRES}, or sqlite:PATH`],
  [/\?.*=/, 'has options, and a file takes none: use sqlite:PATH'],
  [/^~/, 'begins with ~, which only a shell expands: write the whole path'],
  [/[/\\]$/, 'names a folder: name a file in it'],
];

/** Parses a path, `sqlite:PATH` or `postgres://…`. Throws a `StoreError` for everything else, so that a mistyped address never becomes a file name. */
export function databaseAddress(text: string): DatabaseAddress {
  if (typeof text !== 'string')
    throw new StoreError(
      'E_DB_URL',
      `the address of the database is no text: use sqlite:PATH or ${POSTGRES}`,
    );
  refuse(text, MISTAKES);
  const server = /^(postgres(?:ql)?):\/\/(.*)$/is.exec(text);
  if (server !== null) return { kind: 'postgres', url: `${server[1]?.toLowerCase()}://${server[2]}` };
  const path = text.replace(/^sqlite:(\/\/)?/i, '');
  // A Windows drive letter is not a scheme.
  const rest = path.replace(/^[a-z]:(?=[/\\])/i, '');
  refuse(rest, path === text ? [...SCHEMES, ...NO_PATHS] : [...NO_PATHS, ...SCHEMES]);
  return { kind: 'sqlite', path };
}

function refuse(text: string, mistakes: typeof MISTAKES): void {
  for (const [sign, words] of mistakes)
    if (sign.test(text)) throw new StoreError('E_DB_URL', `the address of the database ${words}`);
}
