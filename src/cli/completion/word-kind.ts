import type { Argument, Option } from 'commander';

/** The value that one position of the command line takes. */
export interface Place {
  readonly kind: WordKind;
  /** Fixed list of values; null if there is none. */
  readonly choices: readonly string[] | null;
}

/** The place of an argument of the command at `path`, such as `approvals allow`. */
export function argumentPlace(argument: Argument, path: string): Place {
  const kind = PLACEHOLDERS[argument.name()] ?? 'text';
  const narrowed = kind === 'agent' || kind === 'run' ? (NARROWED[path] ?? kind) : kind;
  return { kind: narrowed, choices: argument.argChoices ?? null };
}

/** The place of an option's value, as in `--tree <id>`; null if it takes none. */
export function optionPlace({ short, long, required, optional, argChoices, flags }: Option): Place | null {
  if (!required && !optional) return null;
  const placeholder = /[<[]([\w=]+)/.exec(flags)?.[1] ?? '';
  const kind = OPTIONS[long ?? short ?? ''] ?? PLACEHOLDERS[placeholder] ?? 'text';
  return { kind, choices: argChoices ?? null };
}

/** Kind of a value on the command line; `text` is not completed. */
export type WordKind =
  | 'file'
  | 'folder'
  | 'agent'
  | 'living-agent'
  | 'run'
  | 'active-run'
  | 'approval'
  | 'granted-rule'
  | 'job'
  | 'delivery'
  | 'zone'
  | 'profile'
  | 'toolset'
  | 'text';

/** Commands for which only some values of the kind make sense. */
const NARROWED: Readonly<Record<string, WordKind>> = {
  'approvals show': 'approval',
  'approvals allow': 'approval',
  'approvals deny': 'approval',
  'approvals rules remove': 'granted-rule',
  kill: 'living-agent',
  send: 'living-agent',
  wait: 'living-agent',
  'subagent cancel': 'active-run',
  'workflow show': 'agent',
  'workflow save': 'agent',
  'workflow rerun': 'agent',
  'workflow pause': 'living-agent',
  'workflow resume': 'living-agent',
  'workflow send': 'living-agent',
  'workflow skip': 'living-agent',
  'workflow stop': 'living-agent',
};

/** Kinds by the placeholder in the help, such as `<file>`. */
const PLACEHOLDERS: Readonly<Record<string, WordKind>> = {
  id: 'agent',
  ids: 'agent',
  agent: 'agent',
  what: 'agent',
  other: 'agent',
  run: 'run',
  job: 'job',
  deliveries: 'delivery',
  zone: 'zone',
  file: 'file',
  folder: 'folder',
  url: 'file',
};

/** Kinds of options whose placeholder is not specific enough. */
const OPTIONS: Readonly<Record<string, WordKind>> = {
  '--profile': 'profile',
  '--toolset': 'toolset',
  '--server': 'text',
};
