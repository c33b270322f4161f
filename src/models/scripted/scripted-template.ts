import { orElse } from '../../records/coppice-error.ts';
import { jsonIn } from '../../records/text/json-text.ts';
import type { ScriptedConversation } from './scripted-conversation.ts';

/** A parsed template: literal text, placeholders and loops. */
type Segment =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'path'; readonly path: string }
  | { readonly type: 'each'; readonly path: string; readonly inside: Segment[] };

/** Matches `\{{` (an escape for the two characters), a placeholder, or two braces that open nothing. */
const TAG = /\\\{\{|\{\{([^{}]*)\}\}|\{\{/g;
const HEADS: ReadonlySet<string> = new Set('index call agent parent_id user result results'.split(' '));

/** The call of a rule that a text belongs to. */
export interface CallPlace {
  /** Index among the calls that `repeat` makes. */
  readonly index: number;
  /** Empty outside of calls. */
  readonly id: string;
}

/**
 * Templates of the scripted model. `{{path}}` is replaced by the value at the path; a text that consists of one
 * placeholder keeps its value's type, so a list stays a list. `{{#each path}}…{{/each}}` repeats its content for each
 * element, in which `{{.field}}` is a field of the element. A path that does not exist becomes an empty text. Inserted text is never
 * parsed as a template.
 */
export function fill(template: unknown, conversation: ScriptedConversation, call: CallPlace): unknown {
  if (typeof template === 'string') return fillText(template, (path) => lookUp(path, conversation, call));
  if (Array.isArray(template)) return template.map((one) => fill(one, conversation, call));
  if (typeof template !== 'object' || template === null) return template;
  return Object.fromEntries(
    Object.entries(template).map(([key, value]) => [key, fill(value, conversation, call)]),
  );
}

/** Why a template is invalid, as a sentence; null if it is valid. */
export function templateFault(template: string): string | null {
  return read(template).fault;
}

function fillText(template: string, look: (path: string) => unknown): unknown {
  const { segments } = read(template);
  const [only] = segments;
  if (segments.length === 1 && only?.type === 'path') return look(only.path) ?? '';
  return render(segments, look);
}

function render(segments: readonly Segment[], look: (path: string) => unknown): string {
  return segments
    .map((segment) => {
      if (segment.type === 'text') return segment.text;
      if (segment.type === 'path') return show(look(segment.path));
      const list = look(segment.path);
      if (!Array.isArray(list)) return '';
      const within = (item: unknown) => (path: string) =>
        path.startsWith('.') ? follow(item, path.split('.').filter(Boolean)) : look(path);
      return list.map((item) => render(segment.inside, within(item))).join('');
    })
    .join('');
}

function read(template: string): { readonly segments: readonly Segment[]; readonly fault: string | null } {
  const segments: Segment[] = [];
  let open: Extract<Segment, { type: 'each' }> | null = null;
  let fault: string | null = null;
  let from = 0;
  const add = (segment: Segment) => (open?.inside ?? segments).push(segment);
  for (const match of template.matchAll(TAG)) {
    if (match.index > from) add({ type: 'text', text: template.slice(from, match.index) });
    from = match.index + match[0].length;
    const tag = match[1]?.trim();
    if (tag === undefined) {
      if (match[0] === '{{')
        fault ??= '{{ without its }} is not a placeholder; write \\{{ for the characters';
      add({ type: 'text', text: '{{' });
    } else if (tag.startsWith('#each ')) {
      if (open !== null) fault ??= '{{#each}} cannot be nested in another {{#each}}';
      const path = tag.slice('#each '.length).trim();
      fault ??= pathFault(path, false);
      const each: Segment & { type: 'each' } = { type: 'each', path, inside: [] };
      segments.push(each);
      open = each;
    } else if (tag === '/each') {
      if (open === null) fault ??= '{{/each}} closes nothing';
      open = null;
    } else {
      fault ??= pathFault(tag, open !== null);
      add({ type: 'path', path: tag });
    }
  }
  if (open !== null) fault ??= '{{#each}} is not closed';
  if (from < template.length) add({ type: 'text', text: template.slice(from) });
  return { segments, fault };
}

function pathFault(path: string, in_each: boolean): string | null {
  if (path.startsWith('.'))
    return in_each ? null : `{{${path}}} is outside of {{#each}}; write \\{{ for the characters`;
  const [head = ''] = path.split('.');
  if (!HEADS.has(head))
    return `{{${path}}} is not a placeholder (known: ${[...HEADS].join(', ')}); write \\{{ for the characters`;
  if (head !== 'user' || isRegex(path.slice('user.'.length))) return null;
  return `{{${path}}} contains an invalid regular expression`;
}

export function isRegex(text: string): boolean {
  return orElse(() => new RegExp(text, 's'), null) !== null;
}

function show(value: unknown): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function lookUp(
  path: string,
  { agent, user, last, results }: ScriptedConversation,
  call: CallPlace,
): unknown {
  const [head, ...rest] = path.split('.');
  switch (head) {
    case 'index':
      return call.index;
    case 'call':
      return follow(call, rest);
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

/** Follows a path into lists (an index, negative from the end, `*` for all) and objects; a text on the way is parsed as JSON. */
function follow(value: unknown, path: readonly string[]): unknown {
  const [step, ...rest] = path;
  if (step === undefined) return value;
  const opened = typeof value === 'string' ? jsonIn(value) : value;
  if (Array.isArray(opened)) {
    if (step === '*') return opened.map((one) => follow(one, rest));
    const index = Number(step);
    return Number.isInteger(index) ? follow(opened.at(index), rest) : undefined;
  }
  if (typeof opened !== 'object' || opened === null || !Object.hasOwn(opened, step)) return undefined;
  return follow((opened as Record<string, unknown>)[step], rest);
}
