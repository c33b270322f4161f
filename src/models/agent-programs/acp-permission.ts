import type {
  PermissionOption,
  RequestPermissionOutcome,
  ToolCallUpdate,
  ToolKind,
} from '@agentclientprotocol/sdk';
import { fieldsOf } from '../../records/text/json-fields.ts';
import { commandLine } from '../command-line.ts';

/** A tool use in terms of permission rules; the subject is empty if the program does not name it. */
export interface PermissionUse {
  readonly tool: string;
  readonly subject: string;
}

export type ToolCallFacts = Pick<ToolCallUpdate, 'kind' | 'title' | 'rawInput' | 'locations' | 'content'>;

/** The tool whose rules apply to each of these kinds of the protocol. All others are `acp:KIND`. */
const TOOLS: Readonly<Partial<Record<ToolKind, string>>> = {
  read: 'read',
  search: 'search',
  edit: 'write',
  delete: 'write',
  move: 'write',
  execute: 'bash',
  think: 'think',
};

const PATH_FIELDS = 'file_path filePath path abs_path filename notebook_path source destination'.split(' ');
const COMMAND_FIELDS = ['command', 'cmd'];
const SHELL = /(?:^|\/)(?:ba|z|da|k)?sh$/;

/** Returns every use that a tool call consists of; all of them must be allowed. */
export function permissionUses(call: ToolCallFacts): PermissionUse[] {
  const input = fieldsOf(call.rawInput);
  const command = commandOf(input);
  const named = call.kind === null || call.kind === undefined ? undefined : TOOLS[call.kind];
  // A call of unknown kind that has a command runs that command.
  const tool = named ?? (command === undefined ? undefined : 'bash');
  if (tool === undefined) return [{ tool: 'acp', subject: call.kind ?? 'other' }];
  if (tool === 'bash') return [{ tool, subject: command ?? '' }];
  if (tool === 'think') return [{ tool, subject: '' }];
  const paths = pathsOf(call, input);
  return paths.length === 0 ? [{ tool, subject: '' }] : paths.map((subject) => ({ tool, subject }));
}

/** Allows only once: the rules decide every time. */
export function chosenOption(
  options: readonly PermissionOption[],
  allowed: boolean,
): RequestPermissionOutcome {
  const wanted = allowed ? 'allow_once' : 'reject_once';
  const option = options.find((one) => one.kind === wanted);
  return option === undefined ? { outcome: 'cancelled' } : { outcome: 'selected', optionId: option.optionId };
}

function commandOf(input: Readonly<Record<string, unknown>>): string | undefined {
  for (const field of COMMAND_FIELDS) {
    const value = input[field];
    if (typeof value === 'string' && value !== '') return withArguments(value, input.args);
    if (!Array.isArray(value) || value.length === 0 || !value.every((one) => typeof one === 'string'))
      continue;
    const [program, flag, script, ...rest] = value as string[];
    // A script passed to a shell is judged like a command of the bash tool.
    const wrapped = SHELL.test(program ?? '') && (flag === '-c' || flag === '-lc') && rest.length === 0;
    return wrapped && script !== undefined ? script : commandLine(value as string[]);
  }
  return undefined;
}

function withArguments(command: string, args: unknown): string {
  const words = Array.isArray(args) ? args.filter((one) => typeof one === 'string') : [];
  return words.length === 0 ? command : `${command} ${commandLine(words)}`;
}

function pathsOf(call: ToolCallFacts, input: Readonly<Record<string, unknown>>): string[] {
  const paths = [
    ...(call.locations ?? []).map((location) => location.path),
    ...(call.content ?? []).flatMap((part) => (part.type === 'diff' ? [part.path] : [])),
    ...PATH_FIELDS.map((field) => input[field]),
    // Codex names the files of a patch as the keys of its changes.
    ...Object.keys(fieldsOf(input.changes)),
  ];
  return [...new Set(paths.filter((path) => typeof path === 'string' && path !== '') as string[])];
}
