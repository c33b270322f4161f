import { markdownOf, quoted } from '../../documents/message-markdown.ts';
import type { DocumentOf } from '../../documents/shapes/all-documents.ts';
import { clean } from '../../render/clean.ts';
import type { Calls } from '../../serve/client/client.ts';

const PAGE = 500;

type Task = DocumentOf<'coppice/tasks/v1'>['tasks'][number];

/** Streams a tree as one Markdown text: the task list, if there is one, then a chapter for each agent with its own messages, oldest first. */
export async function* treeMarkdown(asked: Calls, root_id: string): AsyncGenerator<string> {
  const { title, agents } = await asked.tree(root_id);
  yield `# ${clean(title)}\n`;
  const { tasks } = await asked.tasks(root_id);
  if (tasks.length > 0) yield `\n## Tasks\n\n${tasks.map(taskLine).join('\n')}\n`;
  for (const { id, name, status } of agents) {
    yield `\n## ${clean(name)} (${status})\n`;
    for (let after: number | null = 0; after !== null; ) {
      const page: DocumentOf<'coppice/messages/v1'> = await asked.messages(id, { after, limit: PAGE });
      // Inherited messages are in the chapter of the parent.
      for (const message of page.messages) if (message.agent_id === id) yield markdownOf(message);
      after = page.next;
    }
  }
}

/** Formats `2. done by kid, after 1: write the page`, and the result below it. The title comes last, because in front it could be a heading. */
function taskLine({ number, title, state, agent_name, depends_on, result }: Task): string {
  const by = agent_name === null ? '' : ` by ${clean(agent_name)}`;
  const after = depends_on.length === 0 ? '' : `, after ${depends_on.join(', ')}`;
  const came = result === null || result === '' ? '' : `\n${quoted(result).replaceAll(/^/gm, '   ')}`;
  return `${number}. ${state}${by}${after}: ${clean(title)}${came}`;
}
