/** What a value of the command line is; `text` is whatever the user likes. */
export type WordKind =
  | 'file'
  | 'folder'
  | 'agent'
  | 'living-agent'
  | 'run'
  | 'active-run'
  | 'approval'
  | 'job'
  | 'delivery'
  | 'zone'
  | 'profile'
  | 'toolset'
  | 'text';

/** What is of use to a command, where not everything of its kind is. */
const NARROWED: Readonly<Record<string, WordKind>> = {
  'approvals allow': 'approval',
  'approvals deny': 'approval',
  kill: 'living-agent',
  send: 'living-agent',
  wait: 'living-agent',
  'subagent cancel': 'active-run',
};

/** By the placeholder that help shows: `<file>`. */
const PLACEHOLDERS: Readonly<Record<string, WordKind>> = {
  id: 'agent',
  ids: 'agent',
  run: 'run',
  job: 'job',
  deliveries: 'delivery',
  zone: 'zone',
  file: 'file',
  folder: 'folder',
  url: 'file',
};

/** Where the placeholder says too little. */
const OPTIONS: Readonly<Record<string, WordKind>> = { '--profile': 'profile', '--toolset': 'toolset' };

/** What an argument of a command takes. `path` is `approvals allow`. */
export function kindOfArgument(path: string, placeholder: string): WordKind {
  const kind = PLACEHOLDERS[placeholder] ?? 'text';
  return kind === 'agent' || kind === 'run' ? (NARROWED[path] ?? kind) : kind;
}

/** What an option takes: `--tree <id>`. */
export function kindOfOption(long: string, placeholder: string): WordKind {
  return OPTIONS[long] ?? PLACEHOLDERS[placeholder] ?? 'text';
}
