import { useEffect, useRef, useState } from 'preact/hooks';
import { messageText } from '../../src/records/conversation/message.ts';
import type { Message, Messages } from '../views/agent/agent.tsx';
import { request } from './api.ts';

const PAGE = 1_000;
/** Debounce of what is typed. */
const SETTLE_MS = 150;

/** What is searched for on a page: parts between blanks, or in double quotes, as they are written, without regard to case. */
export function findParts(query: string): string[] {
  return (query.match(/"[^"]+"?|[^\s"]+/g) ?? []).map((part) => part.replaceAll('"', '').toLowerCase());
}

/** An item of the conversation in which something was found; `seq`: the last such message of it. */
export interface Found {
  readonly index: number;
  readonly seq: number;
}

interface Known extends Found {
  readonly text: string;
}

/**
 * Where a conversation contains all parts of the query in one message, oldest first, folded or not, loaded or not. The result of a call stands in the item of the
 * message that made the call. Null: there is no query.
 */
export function useFind(agent_id: string, count: number, query: string): readonly Found[] | null {
  const known = useRef<{ agent_id: string; rows: Known[]; calls: Map<string, number> }>(undefined);
  const [found, setFound] = useState<readonly Found[] | null>(null);
  useEffect(() => {
    const parts = findParts(query);
    if (parts.length === 0) return setFound(null);
    let left = false;
    const look = async () => {
      if (known.current?.agent_id !== agent_id) known.current = { agent_id, rows: [], calls: new Map() };
      const { rows, calls } = known.current;
      const show = () => {
        const hits = rows.filter(({ text }) => parts.every((part) => text.includes(part)));
        // An item once, however many of its messages were found.
        setFound([...new Map(hits.map((hit) => [hit.index, hit])).values()]);
      };
      while (rows.length < count && !left) {
        const path = `/v1/agents/${agent_id}/messages?after=${rows.length}&limit=${PAGE}`;
        const { messages } = await request<Messages>('GET', path);
        if (messages.length === 0) break;
        for (const message of messages) rows.push(knownOf(message, rows.length, calls));
        if (!left) show();
      }
      if (!left) show();
    };
    const timer = setTimeout(() => void look().catch(() => undefined), SETTLE_MS);
    return () => {
      left = true;
      clearTimeout(timer);
    };
  }, [agent_id, count, query]);
  return found;
}

function knownOf(message: Message, at: number, calls: Map<string, number>): Known {
  if (message.kind === 'assistant')
    for (const part of message.content.parts) if (part.type === 'call') calls.set(part.id, at);
  const index = message.kind === 'result' ? (calls.get(message.content.call_id) ?? at) : at;
  return { index, seq: message.seq, text: messageText(message as never).toLowerCase() };
}

/** Marks every place of the parts in an element, also in what appears there later; those in `now` more. Nothing of the page changes for it. */
export function useHighlights(
  within: { readonly current: HTMLElement | null },
  query: string,
  now: number | null,
): void {
  useEffect(() => {
    const parts = findParts(query);
    const element = within.current;
    if (element === null || parts.length === 0 || !('highlights' in CSS)) return;
    let frame = 0;
    let shown: Element | null = null;
    const mark = () => {
      const current = element.querySelector(`[data-index="${now}"]`);
      const ranges = rangesIn(element, parts);
      const [mine, others] = [ranges.filter((one) => current?.contains(one.startContainer)), ranges];
      CSS.highlights.set('found', new Highlight(...others));
      CSS.highlights.set('found-now', new Highlight(...mine));
      // Once for each place: afterwards the person scrolls.
      if (current === null || current === shown || mine.length === 0) return;
      shown = current;
      mine[0]?.startContainer.parentElement?.scrollIntoView({ block: 'center' });
    };
    const soon = () => {
      cancelAnimationFrame(frame);
      frame = requestAnimationFrame(mark);
    };
    const changes = new MutationObserver(soon);
    changes.observe(element, { childList: true, subtree: true, characterData: true });
    soon();
    return () => {
      changes.disconnect();
      cancelAnimationFrame(frame);
      CSS.highlights.clear();
    };
  }, [within, query, now]);
}

function rangesIn(element: Element, parts: readonly string[]): Range[] {
  const ranges: Range[] = [];
  const nodes = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  for (let node = nodes.nextNode(); node !== null; node = nodes.nextNode()) {
    const text = (node.nodeValue ?? '').toLowerCase();
    for (const part of parts)
      for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + part.length)) {
        const range = new Range();
        range.setStart(node, at);
        range.setEnd(node, Math.min(at + part.length, node.nodeValue?.length ?? 0));
        ranges.push(range);
      }
  }
  return ranges;
}
