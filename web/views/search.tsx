import { useEffect, useRef, useState } from 'preact/hooks';
import type { DocumentOf } from '../../src/documents/shapes/all-documents.ts';
import { phrasePattern, searchPhrases } from '../../src/records/text/search-words.ts';
import { type ApiError, request } from '../data/api.ts';
import { useKeys } from '../data/keys.ts';
import { go } from '../data/route.ts';
import { plainWords } from '../data/texts.ts';
import { Button } from '../parts/button.tsx';
import type { PageContext } from '../parts/page.ts';
import { Trouble } from '../parts/trouble.tsx';
import { When } from '../parts/when.tsx';

type Search = DocumentOf<'coppice/search/v1'>;
type Hit = Search['hits'][number];

/** Pause while older conversations are still indexed. */
const AGAIN_MS = 200;

/** Messages of all trees that contain what is searched for; each leads to its place in the conversation. */
export function SearchView({ route }: PageContext) {
  const query = route.query.get('q') ?? '';
  const { hits, complete, next, error, more } = useSearch(query);
  const field = useRef<HTMLInputElement>(null);
  useKeys([{ key: '/', what: 'searches', act: () => field.current?.focus() }]);
  useEffect(() => {
    if (query === '') field.current?.focus();
  }, []);
  const pattern = phrasePattern(searchPhrases(query));
  return (
    <section aria-labelledby="search">
      <h1 id="search">Search</h1>
      <form
        class="search-all"
        onSubmit={(event) => {
          event.preventDefault();
          go(`/search?q=${encodeURIComponent(field.current?.value.trim() ?? '')}`);
        }}
      >
        <input
          key={query}
          ref={field}
          type="search"
          defaultValue={query}
          aria-label="Search all conversations"
          placeholder='Words, or "a phrase"'
        />
        <button type="submit" class="primary">
          Search
        </button>
      </form>
      <Trouble error={error} />
      <p class="dim" role="status">
        {query === '' || error !== null
          ? ''
          : hits === null || (!complete && hits.length === 0)
            ? 'Searching…'
            : `${hits.length === 0 ? 'Nothing was found.' : `${hits.length}${next === null ? '' : '+'} message${hits.length === 1 ? '' : 's'}, newest first`}${complete ? '' : '; older conversations are still indexed…'}`}
      </p>
      <ul class="hits">
        {(hits ?? []).map((hit) => (
          <li key={`${hit.agent_id} ${hit.seq}`}>
            <div>
              <a data-row href={`/agents/${hit.agent_id}?seq=${hit.seq}&find=${encodeURIComponent(query)}`}>
                <strong>{hit.agent}</strong> · {hit.title}
              </a>
              <span class="dim">
                {KINDS[hit.kind]} <When at={hit.at} since />
              </span>
            </div>
            <p>{marked(plainWords(hit.text), pattern)}</p>
          </li>
        ))}
      </ul>
      {next !== null && (
        <p class="empty">
          <Button does="Show older messages" onClick={more} />
        </p>
      )}
    </section>
  );
}

const KINDS: Readonly<Record<Hit['kind'], string>> = {
  user: 'was told',
  assistant: 'wrote',
  result: 'got',
  event: 'event',
  capture: 'captured',
};

interface State {
  readonly hits: readonly Hit[] | null;
  readonly complete: boolean;
  readonly next: string | null;
  readonly error: ApiError | null;
}

const NOTHING: State = { hits: null, complete: true, next: null, error: null };

/** The pages that were asked for; the first one again until all is indexed. */
function useSearch(query: string): State & { readonly more: () => void } {
  const [state, setState] = useState(NOTHING);
  const path = `/v1/search?q=${encodeURIComponent(query)}`;
  useEffect(() => {
    setState(NOTHING);
    if (query === '') return;
    let timer = 0;
    let left = false;
    const load = async () => {
      try {
        const { hits, complete, next } = await request<Search>('GET', path);
        if (left) return;
        setState({ hits, complete, next, error: null });
        if (!complete) timer = window.setTimeout(load, AGAIN_MS);
      } catch (error) {
        if (!left) setState({ ...NOTHING, error: error as ApiError });
      }
    };
    void load();
    return () => {
      left = true;
      clearTimeout(timer);
    };
  }, [path]);
  const more = async () => {
    const before = encodeURIComponent(state.next ?? '');
    try {
      const { hits, next } = await request<Search>('GET', `${path}&before=${before}`);
      setState({ ...state, hits: [...(state.hits ?? []), ...hits], next });
    } catch (error) {
      setState({ ...state, error: error as ApiError });
    }
  };
  return { ...state, more: () => void more() };
}

/** The text with what was found marked. */
function marked(text: string, pattern: RegExp | null) {
  if (pattern === null) return text;
  const places = [...text.matchAll(pattern)];
  return [
    ...places.flatMap((place, at) => {
      const before = places[at - 1];
      const from = before === undefined ? 0 : before.index + before[0].length;
      return [text.slice(from, place.index), <mark key={at}>{place[0]}</mark>];
    }),
    text.slice((places.at(-1)?.index ?? 0) + (places.at(-1)?.[0].length ?? 0)),
  ];
}
