import type { DocumentOf } from '../../documents/shapes/all-documents.ts';
import { outputText } from '../../records/text/foreign-text.ts';
import { clean, cleanLines } from '../../render/clean.ts';
import type { Calls } from '../../serve/client/client.ts';

const PAGE = 500;

type Task = DocumentOf<'coppice/tasks/v1'>['tasks'][number];
type Message = DocumentOf<'coppice/messages/v1'>['messages'][number];

/** A tree as one Markdown text, in pieces: the task list, if there is one, then a chapter for each agent with its own messages, oldest first. */
export async function* treeMarkdown(asked: Calls, root_id: string): AsyncGenerator<string> {
  const { title, agents } = await asked.tree(root_id);
  yield `# ${clean(title)}\n`;
  const { tasks } = await asked.tasks(root_id);
  if (tasks.length > 0) yield `\n## Tasks\n\n${tasks.map(taskLine).join('\n')}\n`;
  for (const { id, name, status } of agents) {
    yield `\n## ${clean(name)} (${status})\n`;
    for (let after: number | null = 0; after !== null; ) {
      const page: DocumentOf<'coppice/messages/v1'> = await asked.messages(id, { after, limit: PAGE });
      // What it inherited stands in the chapter of its parent.
      for (const message of page.messages) if (message.agent_id === id) yield markdownOf(message);
      after = page.next;
    }
  }
}

/** `2. done by kid, after 1: write the page`, and below it what came of it. A title in front could be a heading. */
function taskLine({ number, title, state, agent_name, depends_on, result }: Task): string {
  const by = agent_name === null ? '' : ` by ${clean(agent_name)}`;
  const after = depends_on.length === 0 ? '' : `, after ${depends_on.join(', ')}`;
  const came = result === null || result === '' ? '' : `\n${quoted(result).replaceAll(/^/gm, '   ')}`;
  return `${number}. ${state}${by}${after}: ${clean(title)}${came}`;
}

function markdownOf(message: Message): string {
  switch (message.kind) {
    case 'user': {
      const { origin, text } = message.content;
      return `\n**${origin === 'human' ? 'you' : origin}:**\n\n${quoted(text)}\n`;
    }
    case 'assistant':
      return message.content.parts
        .map((part) =>
          part.type === 'call'
            ? `\n\`${clean(part.name)}\`\n\n${fenced(part.input)}\n`
            : part.type === 'text'
              ? `\n${cleanLines(part.text)}\n`
              : `\n_Thought:_\n\n${quoted(part.text)}\n`,
        )
        .join('');
    case 'result':
      return `\n\`${clean(message.content.name)}\` ${message.content.status}\n\n${fenced(outputText(message.content))}\n`;
    case 'event':
      return `\n_${cleanLines(message.content.text).replaceAll(/\s*\n\s*/g, ' ')}_\n`;
    case 'capture':
      return message.content.mark === undefined ? `\n${quoted(message.content.text)}\n` : '';
  }
}

function quoted(text: string): string {
  return cleanLines(text)
    .split('\n')
    .map((row) => `> ${row}`.trimEnd())
    .join('\n');
}

/** Behind a fence longer than any in the text. */
function fenced(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([ticks]) => ticks.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}\n${cleanLines(text).replace(/\n$/, '')}\n${fence}`;
}
