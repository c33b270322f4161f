import { Lexer } from 'marked';
import { codeSpans } from '../src/render/markdown/code-spans.ts';

/** What Markdown and code in colours need: larger than the rest of the dashboard, so it is a script of its own, which pages with texts load, and exported pages contain. */
export const texts = {
  lex: (text: string) => new Lexer({ gfm: true }).lex(text),
  codeSpans,
};

(globalThis as { coppiceTexts?: typeof texts }).coppiceTexts = texts;
