import { useRef, useState } from 'preact/hooks';
import type { AgentDocument } from '../../../src/documents/shapes/agent-parts.ts';
import { useSending } from '../../data/api.ts';
import { useKeys } from '../../data/keys.ts';
import { say } from '../../parts/notice.tsx';
import { Trouble } from '../../parts/trouble.tsx';

/** Form for writing to the agent. Text that could not be sent stays in the field. */
export function Composer({
  agent,
  onSent,
}: {
  readonly agent: Pick<AgentDocument, 'id' | 'name'>;
  readonly onSent: () => void;
}) {
  const [text, setText] = useState('');
  const field = useRef<HTMLTextAreaElement>(null);
  const { send, busy, error } = useSending();
  useKeys([{ key: 'm', what: 'writes to the agent', act: () => field.current?.focus() }]);
  const submit = async () => {
    if (busy || text.trim() === '') return;
    if ((await send('POST', `/v1/agents/${agent.id}/send`, { text })) === null) return;
    say(`Sent to ${agent.name}`);
    setText('');
    onSent();
  };
  return (
    <form
      class="composer"
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
    >
      <Trouble error={error} />
      <textarea
        ref={field}
        rows={2}
        value={text}
        aria-label={`Write to ${agent.name}`}
        placeholder={`Write to ${agent.name} · Ctrl+Enter sends`}
        onInput={({ currentTarget }) => setText(currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) void submit();
          if (event.key === 'Escape') event.currentTarget.blur();
        }}
      />
      <button type="submit" class="primary" disabled={busy || text.trim() === ''}>
        Send
      </button>
    </form>
  );
}
