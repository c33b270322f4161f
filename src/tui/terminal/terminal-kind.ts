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

export function kindOfName(name: string): TerminalKind | null {
  return KINDS.find(([pattern]) => pattern.test(name))?.[1] ?? null;
}
