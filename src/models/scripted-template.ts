import type { ScriptedConversation } from './scripted-conversation.ts';

/**
 * Templates of the scripted model. `{{path}}` is replaced by what the path leads to; a text that is nothing but one
 * placeholder keeps its value's type, so a list stays a list. `{{#each path}}…{{/each}}` repeats its inside for each
 * element, in which `{{.field}}` is a field of it. What leads nowhere becomes an empty text.
 */
export function fill(template: unknown, conversation: ScriptedConversation, index: number): unknown {
  if (typeof template === 'string') return fillText(template, (path) => lookUp(path, conversation, index));
  if (Array.isArray(template)) return template.map((one) => fill(one, conversation, index));
  if (typeof template !== 'object' || template === null) return template;
  return Object.fromEntries(
    Object.entries(template).map(([key, value]) => [key, fill(value, conversation, index)]),
  );
}

const ONLY = /^\{\{([^{}#/]+)\}\}$/;
const EACH = /\{\{#each ([^{}]+)\}\}(.*?)\{\{\/each\}\}/gs;
const ONE = /\{\{([^{}#/]+)\}\}/g;

function fillText(template: string, look: (path: string) => unknown): unknown {
  const only = ONLY.exec(template)?.[1];
  if (only !== undefined) return look(only.trim()) ?? '';
  return template
    .replaceAll(EACH, (_all, path: string, inside: string) => {
      const list = look(path.trim());
      if (!Array.isArray(list)) return '';
      return list
        .map((item) =>
          inside.replaceAll(ONE, (_one, name: string) => show(follow(item, name.trim().split('.').slice(1)))),
        )
        .join('');
    })
    .replaceAll(ONE, (_all, path: string) => show(look(path.trim())));
}

function show(value: unknown): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function lookUp(path: string, { agent, user, last, results }: ScriptedConversation, index: number): unknown {
  const [head, ...rest] = path.split('.');
  switch (head) {
    case 'index':
      return index;
    case 'agent':
      return follow(agent, rest);
    case 'parent_id':
      return agent.parent_id ?? '';
    case 'user': {
      const pattern = rest.join('.');
      // `{{user.PATTERN}}`: the first group of a regular expression on the user's text.
      return pattern === '' ? user : (new RegExp(pattern, 's').exec(user)?.[1] ?? '');
    }
    case 'result':
      return last === null ? '' : rest.length === 0 ? last.output : follow(last.output, rest);
    case 'results':
      return follow(results.get(rest[0] ?? '') ?? [], rest.slice(1));
    default:
      return '';
  }
}

/** Walks into lists (an index, negative from the end, `*` for all) and objects; a text that holds JSON is opened on the way. */
function follow(value: unknown, path: readonly string[]): unknown {
  const [step, ...rest] = path;
  if (step === undefined) return value;
  const opened = typeof value === 'string' ? parsed(value) : value;
  if (Array.isArray(opened)) {
    if (step === '*') return opened.map((one) => follow(one, rest));
    const index = Number(step);
    return Number.isInteger(index) ? follow(opened.at(index), rest) : undefined;
  }
  if (typeof opened !== 'object' || opened === null) return undefined;
  return follow((opened as Record<string, unknown>)[step], rest);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
