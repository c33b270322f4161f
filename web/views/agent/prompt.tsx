import type { DocumentOf } from '../../../src/documents/shapes/all-documents.ts';
import { counted } from '../../../src/records/text/text.ts';
import { bytes, count } from '../../data/amounts.ts';
import { usePages } from '../../data/paged-list.ts';
import { Output } from '../../parts/output.tsx';
import { Trouble } from '../../parts/trouble.tsx';
import { VirtualList } from '../../parts/virtual-list.tsx';
import type { FullAgent, ModelRequest } from './agent.tsx';

type PromptPage = DocumentOf<'coppice/prompt/v1'>;

export interface PromptProps {
  readonly agent: FullAgent;
  /** The agent's newest request. */
  readonly request: ModelRequest | null;
}

/** The conversation as its model sees it: sizes, what is shared with the parent, and how much the provider read from its cache. */
export function PromptView({ agent, request }: PromptProps) {
  // The first page has the total. Every new message may change earlier ones, so the number of messages is the version.
  const { at, need, newest, error } = usePages<PromptPage['messages'][number], PromptPage>(
    `/v1/agents/${agent.id}/prompt`,
    agent.messages,
    String(agent.messages),
  );
  const total = newest?.total ?? 1;
  const { input = 0, cached = 0 } = request?.usage ?? {};
  const cached_bytes = input > 0 && newest !== null ? (newest.bytes * cached) / input : 0;
  return (
    <>
      <Trouble error={error} />
      {newest !== null && (
        <p class="facts dim">
          <span>{counted(newest.total, 'message')}</span>
          <span>{bytes(newest.bytes)}</span>
          <span>system prompt {bytes(new Blob([newest.system]).size)}</span>
          {newest.shared > 0 && (
            <span class="shared">
              {newest.shared} shared with its parent ({bytes(newest.shared_bytes)})
            </span>
          )}
          {request !== null && (
            <span>
              newest request: {count(cached)} of {count(input)} tokens from the cache
            </span>
          )}
        </p>
      )}
      <VirtualList
        label="As the model sees it"
        count={total}
        start={0}
        onView={need}
        item={(index) => {
          const message = at(index);
          if (message === undefined) return <p class="coming">…</p>;
          const is_cached = message.from + message.bytes / 2 < cached_bytes;
          return (
            <article
              class={`message ${message.role}${message.shared ? ' shared' : ''}`}
              data-row
              tabIndex={-1}
              aria-label={`Message ${message.number}, ${message.role}`}
            >
              <p class="who">
                <strong>{message.role}</strong>
                <span class="dim">
                  {bytes(message.bytes)}, from {bytes(message.from)}
                </span>
                {message.shared && <span class="badge">shared with its parent</span>}
                {is_cached && (
                  <span class="badge" title="estimated from the tokens of the newest request">
                    cached
                  </span>
                )}
              </p>
              {message.blocks.map((block, place) => (
                <div key={place} class="block">
                  {block.type !== 'text' && (
                    <p class="dim">
                      {block.type} {block.name !== null && <code>{block.name}</code>}
                      {block.images > 0 && ` · ${block.images} pictures`}
                    </p>
                  )}
                  <Output text={block.text} />
                </div>
              ))}
            </article>
          );
        }}
      />
    </>
  );
}
