import { useChat } from '@ai-sdk/react';
import { useState } from 'react';
import { createRoot } from 'react-dom/client';

const id = new URLSearchParams(location.search).get('chat') ?? 'first';

function Part({ part }) {
  if (part.type === 'text') return <p>{part.text}</p>;
  if (part.type === 'dynamic-tool')
    return (
      <p>
        <code>{part.toolName}</code> {part.state}
      </p>
    );
  // The root is the message itself.
  if (part.type !== 'data-agent' || part.data.parent_id === null) return null;
  const { name, state, last_words } = part.data;
  return (
    <blockquote>
      <strong>{name}</strong> {state} {last_words}
    </blockquote>
  );
}

function Chat({ before }) {
  // `resume`: an answer that is under way goes on here, also after a reload.
  const { messages, sendMessage, status, error } = useChat({ id, messages: before, resume: true });
  const [text, setText] = useState('');
  const send = (event) => {
    event.preventDefault();
    sendMessage({ text });
    setText('');
  };
  return (
    <>
      {messages.map((message) => (
        <section key={message.id} aria-label={message.role}>
          {message.parts.map((part, place) => (
            <Part key={part.id ?? place} part={part} />
          ))}
        </section>
      ))}
      {error && <p role="alert">{error.message}</p>}
      <form onSubmit={send}>
        <input aria-label="Message" value={text} onChange={(event) => setText(event.target.value)} />
        <button type="submit">Send</button>
        {(status === 'submitted' || status === 'streaming') && (
          <button type="button" onClick={() => fetch(`/api/chat/${id}/stop`, { method: 'POST' })}>
            Stop
          </button>
        )}
      </form>
    </>
  );
}

const before = await (await fetch(`/api/chat/${encodeURIComponent(id)}/messages`)).json();
createRoot(document.querySelector('main')).render(<Chat before={before} />);
