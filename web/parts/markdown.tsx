import type { MarkedToken, Token, Tokens } from 'marked';
import type { ComponentChildren } from 'preact';
import { useMemo } from 'preact/hooks';
import { isCostlyMarkdown, MARKED_MAX } from '../../src/render/markdown/costly-markdown.ts';
import { unescaped } from '../../src/render/markdown/unescaped.ts';
import { useTexts } from '../data/texts.ts';
import { CodeBlock } from './code-block.tsx';
import { useFold } from './fold-button.tsx';
import { Output } from './output.tsx';

/** Levels of headings in a text begin below those of the page. */
const HEADING_BELOW = 2;
const LOWEST_HEADING = 6;
const ROWS_SHOWN = 40;

/**
 * Markdown of a model or a person. Elements are made from tokens, never from text: HTML is shown as it was written, nothing is loaded, and an address is only
 * followed when a person opens it, in a page of its own. What is costly to parse, and the rest of a long text, is shown as it was written, and folded.
 */
export function Markdown({ text }: { readonly text: string }) {
  const texts = useTexts();
  const begin = useMemo(() => {
    const first = text.length > MARKED_MAX ? text.slice(0, text.lastIndexOf('\n', MARKED_MAX) + 1) : text;
    return isCostlyMarkdown(first) ? '' : first;
  }, [text]);
  const tokens = useMemo(() => texts?.lex(begin) ?? null, [texts, begin]);
  const rest = text.slice(begin.length);
  return (
    <>
      {tokens === null ? (
        <PlainText text={begin} />
      ) : (
        tokens.length > 0 && <div class="markdown">{blocks(tokens, 'auto')}</div>
      )}
      {rest !== '' && (
        <>
          <p class="dim">
            {begin === '' ? 'Too long or too deeply nested' : 'The rest is too long'} to be formatted:
          </p>
          <Output text={rest} />
        </>
      )}
    </>
  );
}

/** A text as it was typed. */
export function PlainText({ text }: { readonly text: string }) {
  return text === '' ? null : (
    <p class="text" dir="auto">
      {text}
    </p>
  );
}

/** `dir`: `auto` of blocks that are in no other; an element with it would not count for the direction of the one around it. */
function blocks(tokens: readonly Token[], dir?: 'auto'): ComponentChildren {
  return (tokens as readonly MarkedToken[]).map((token, at) => <Block key={at} token={token} dir={dir} />);
}

interface BlockProps {
  readonly token: MarkedToken;
  readonly dir?: 'auto' | undefined;
}

function Block({ token, dir }: BlockProps): ComponentChildren {
  switch (token.type) {
    case 'space':
    case 'def':
      return null;
    case 'code':
      return <CodeBlock code={token.text} language={token.lang?.split(/\s/)[0]} />;
    case 'heading': {
      const Heading = `h${Math.min(LOWEST_HEADING, token.depth + HEADING_BELOW)}` as 'h3';
      return (
        <Heading class={`heading h${token.depth}`} dir={dir}>
          {inlines(token.tokens)}
        </Heading>
      );
    }
    case 'hr':
      return <hr />;
    case 'blockquote':
      return <blockquote dir={dir}>{blocks(token.tokens)}</blockquote>;
    case 'list':
      return <List list={token} dir={dir} />;
    case 'table':
      return <Table table={token} dir={dir} />;
    case 'paragraph':
      return <p dir={dir}>{inlines(token.tokens)}</p>;
    case 'text':
      return token.tokens === undefined ? token.text : inlines(token.tokens);
    case 'html':
      return <p>{token.text.trimEnd()}</p>;
    default:
      return inlines([token]);
  }
}

function List({
  list: { ordered, start, items },
  dir,
}: Pick<BlockProps, 'dir'> & { readonly list: Tokens.List }) {
  const rows = items.map(({ task, checked, tokens }, at) => (
    <li key={at} class={task ? 'task' : undefined}>
      {task && (
        <span role="img" aria-label={checked === true ? 'done' : 'open'}>
          {checked === true ? '☑' : '☐'}{' '}
        </span>
      )}
      {blocks(tokens.filter(({ type }) => type !== 'checkbox'))}
    </li>
  ));
  const Items = ordered ? 'ol' : 'ul';
  return (
    <Items dir={dir} start={start === '' ? undefined : start}>
      {rows}
    </Items>
  );
}

function Table({ table: { header, rows }, dir }: Pick<BlockProps, 'dir'> & { readonly table: Tokens.Table }) {
  const { until, button } = useFold(rows.length, ROWS_SHOWN);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a table that is wider than the page is scrolled with the keyboard
    <section class="wide" tabIndex={0} aria-label="Table" dir={dir}>
      <table class="as-table">
        <thead>
          <tr>
            {header.map(({ tokens, align }, at) => (
              <th key={at} scope="col" class={align ?? undefined}>
                {inlines(tokens)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.slice(0, until).map((row, at) => (
            <tr key={at}>
              {row.map(({ tokens, align }, column) => (
                <td key={column} class={align ?? undefined}>
                  {inlines(tokens)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {button}
    </section>
  );
}

function inlines(tokens: readonly Token[]): ComponentChildren {
  return (tokens as readonly MarkedToken[]).map((token, at) => <Inline key={at} token={token} />);
}

function Inline({ token }: { readonly token: MarkedToken }): ComponentChildren {
  switch (token.type) {
    case 'strong':
      return <strong>{inlines(token.tokens)}</strong>;
    case 'em':
      return <em>{inlines(token.tokens)}</em>;
    case 'del':
      return <del>{inlines(token.tokens)}</del>;
    case 'codespan':
      return <code>{token.text}</code>;
    case 'br':
      return <br />;
    case 'link':
      return (
        <Link href={token.href} text={token.text}>
          {inlines(token.tokens)}
        </Link>
      );
    case 'image':
      return (
        <Link href={token.href} text={token.text}>
          {token.text === '' ? 'picture' : `picture: ${token.text}`}
        </Link>
      );
    case 'text':
      // The lexer leaves entities in texts as they are.
      return token.tokens === undefined ? unescaped(token.text) : inlines(token.tokens);
    case 'escape':
      return token.text;
    default:
      return token.raw;
  }
}

interface LinkProps {
  readonly href: string;
  readonly text: string;
  readonly children: ComponentChildren;
}

/** A link that says where it leads if its text does not; an address that a browser would run, or cannot open, is shown as text. */
function Link({ href, text, children }: LinkProps) {
  const url = URL.parse(href);
  if (url === null || !['http:', 'https:', 'mailto:'].includes(url.protocol))
    return (
      <>
        {children}
        {href !== text && <span class="dim"> ({href})</span>}
      </>
    );
  const says_where = text.includes(url.host === '' ? url.pathname : url.host);
  return (
    <>
      <a href={url.href} target="_blank" rel="noopener noreferrer nofollow">
        {children}
      </a>
      {!says_where && <span class="dim"> ({url.host === '' ? url.pathname : url.host})</span>}
    </>
  );
}
