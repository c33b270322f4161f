import type { UiStyle } from '../../render/style.ts';

/** Matches addresses that may become links in text that a model wrote: only these schemes, no control characters. */
const LINK = /(?:https?|file):\/\/[!-~]+/g;
/** Punctuation at the end of an address, which belongs to the sentence around it. */
const BEHIND = /[.,;:!?'"`\])}>]+$/;
const LINK_MAX = 2_000;
/** Longer texts are searched for no addresses. */
const TEXT_MAX = 32_768;

const BLANK = '(?:\\s|\u001b\\[[\\d;]*m)*';
const INDENT = new RegExp(`^${BLANK}`);
const LINE_END = new RegExp(`^${BLANK}$`);

const OPEN = (target: string) => `\u001b]8;;${target}\u001b\\`;
const CLOSE = OPEN('');

/** Makes the addresses in drawn lines links of the terminal (OSC 8) if it has them, including those that are broken over lines. The visible text stays the same. */
export function withLinks({ links }: UiStyle, source: string, lines: readonly string[]): readonly string[] {
  if (links !== true || source.length > TEXT_MAX) return lines;
  const targets = [...new Set(source.match(LINK) ?? [])]
    .map((target) => target.replace(BEHIND, ''))
    .filter((target) => target.length <= LINK_MAX);
  if (targets.length === 0) return lines;
  /** The broken address whose rest the next line begins with. */
  let open: { readonly target: string; readonly rest: string } | null = null;
  return lines.map((line) => {
    const begun = open;
    open = null;
    let [before, text] = ['', line];
    if (begun !== null) {
      const indent = INDENT.exec(line)?.[0] ?? '';
      const shown = shownPart(line.slice(indent.length), begun.rest);
      if (shown === '') return line;
      before = `${indent}${OPEN(begun.target)}${shown}${CLOSE}`;
      text = line.slice(indent.length + shown.length);
      if (shown.length < begun.rest.length) open = { ...begun, rest: begun.rest.slice(shown.length) };
    }
    const linked = text.replaceAll(LINK, (found: string, at: number) => {
      const shown = found.replace(BEHIND, '');
      const is_end = LINE_END.test(text.slice(at + found.length));
      const exact = targets.includes(shown) ? shown : undefined;
      const target = exact ?? (is_end ? targets.find((one) => one.startsWith(found)) : undefined);
      if (target === undefined) return found;
      if (exact === undefined) open = { target, rest: target.slice(found.length) };
      const drawn = exact === undefined ? found : shown;
      return `${OPEN(target)}${drawn}${CLOSE}${found.slice(drawn.length)}`;
    });
    return before + linked;
  });
}

/** The part of the rest of an address with which a line begins: all of it, or as much as fits the line; empty if none. */
function shownPart(text: string, rest: string): string {
  const shown = /^[!-~]*/.exec(text)?.[0] ?? '';
  if (shown.startsWith(rest)) return rest;
  return rest.startsWith(shown) ? shown : '';
}

/** Whether the terminal is known to support links; other terminals may show the sequence. */
export function hasLinks(env: NodeJS.ProcessEnv): boolean {
  if (env.TERM === 'dumb' || env.STY || /^(?:screen|linux|vt)/.test(env.TERM ?? '')) return false;
  if (env.KITTY_WINDOW_ID || env.WT_SESSION || env.WEZTERM_PANE || env.ITERM_SESSION_ID) return true;
  // VTE supports links since version 0.50.
  if (Number(env.VTE_VERSION ?? 0) >= 5000) return true;
  return /^(?:vscode|ghostty|iTerm\.app|WezTerm|alacritty|zed|kitty)$/i.test(env.TERM_PROGRAM ?? '');
}
