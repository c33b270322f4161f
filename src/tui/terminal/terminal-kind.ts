/** What is known of a terminal program: whether it takes texts to copy (OSC 52), and by which sequence it notifies people; null: only by its bell. */
export interface TerminalKind {
  readonly copies: 'known' | 'unknown' | 'never';
  readonly notifies: 9 | 99 | 777 | null;
}

const UNKNOWN: TerminalKind = { copies: 'unknown', notifies: null };

/** Names as in the answer to XTVERSION, or `TERM_PROGRAM`, or the beginning of `TERM`. */
const KINDS: readonly (readonly [RegExp, TerminalKind])[] = [
  // They pass on neither, unless their user has allowed it.
  [/^(?:tmux|screen)/i, UNKNOWN],
  [/^(?:xterm-)?kitty/i, { copies: 'known', notifies: 99 }],
  [/^(?:xterm-)?ghostty/i, { copies: 'known', notifies: 777 }],
  [/^wezterm/i, { copies: 'known', notifies: 777 }],
  [/^foot/i, { copies: 'known', notifies: 777 }],
  [/^rxvt-unicode/i, { copies: 'unknown', notifies: 777 }],
  [/^iterm/i, { copies: 'unknown', notifies: 9 }],
  [/^alacritty/i, { copies: 'known', notifies: null }],
  [/^vscode/i, { copies: 'known', notifies: null }],
  [/^contour/i, { copies: 'known', notifies: 777 }],
  [/^apple_terminal/i, { copies: 'never', notifies: null }],
  [/^vte/i, { copies: 'unknown', notifies: 777 }],
];

/** By the environment, until the terminal reports its name (`kindOfName`). */
export function kindOf(env: NodeJS.ProcessEnv): TerminalKind {
  if (env.TMUX || env.STY) return UNKNOWN;
  const { TERM_PROGRAM = '', TERM = '', VTE_VERSION } = env;
  const hints = [
    env.KITTY_WINDOW_ID && 'kitty',
    env.WEZTERM_PANE && 'wezterm',
    env.ITERM_SESSION_ID && 'iterm',
    VTE_VERSION && 'vte',
  ];
  for (const name of [TERM_PROGRAM, TERM, ...hints]) {
    const kind = kindOfName(name || '');
    if (kind !== null) return kind;
  }
  return env.WT_SESSION ? { copies: 'known', notifies: null } : UNKNOWN;
}

/** What notifies a person: the bell, and where the terminal has notifications, one that names the project. */
export function noticeText({ notifies }: TerminalKind, project: string, text: string): string {
  const plain = (words: string) => words.replaceAll(/[\p{Cc};]+/gu, ' ');
  const [title, body] = [plain(project), plain(text)];
  if (notifies === 777) return `\x07\x1b]777;notify;${title};${body}\x07`;
  // A digit at the start would select another command.
  if (notifies === 9) return `\x07\x1b]9;${`${title}: ${body}`.replace(/^(?=\d)/, ' ')}\x07`;
  if (notifies !== 99) return '\x07';
  return `\x07\x1b]99;i=coppice:d=0;${title}\x1b\\\x1b]99;i=coppice:p=body;${body}\x1b\\`;
}

/** Whether a title can be set: some consoles would print it. */
export function takesTitle({ TERM = '' }: NodeJS.ProcessEnv): boolean {
  return !/^(?:|linux.*|cons.*|vt\d.*|dumb)$/.test(TERM);
}

export function kindOfName(name: string): TerminalKind | null {
  return KINDS.find(([pattern]) => pattern.test(name))?.[1] ?? null;
}
