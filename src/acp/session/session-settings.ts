import type {
  SessionConfigOption,
  SessionConfigSelectOption,
  SessionModeState,
} from '@agentclientprotocol/sdk';
import { type AgentConfig, type PermissionMode, THINKING } from '../../records/agent/agent.ts';
import type { EditorFolder } from '../acp-options.ts';
import { invalidParams } from '../protocol-error.ts';

const MODES: readonly { readonly id: PermissionMode; readonly name: string; readonly description: string }[] =
  [
    { id: 'ask', name: 'Ask', description: 'Asks before it runs commands and changes files' },
    { id: 'accept', name: 'Accept edits', description: 'Changes files without asking; asks before commands' },
    { id: 'plan', name: 'Plan', description: 'Looks around and says what it would do; changes nothing' },
  ];

export interface Settings {
  readonly model: string;
  readonly mode: PermissionMode;
  /** Null once the conversation has begun, because it can no longer be changed. */
  readonly thinking: AgentConfig['thinking'] | null;
}

export type Change =
  | { readonly mode: PermissionMode }
  | { readonly model: string }
  | { readonly thinking: AgentConfig['thinking'] };

export function modeState({ mode }: Settings): SessionModeState {
  return { currentModeId: mode, availableModes: [...MODES] };
}

export function configOptions(
  settings: Settings,
  models: ReturnType<EditorFolder['models']>,
): SessionConfigOption[] {
  const { model, mode, thinking } = settings;
  const listed = models.some(({ name }) => name === model)
    ? models
    : [{ name: model, note: 'in use' }, ...models];
  const option = (id: string, name: string, currentValue: string, options: SessionConfigSelectOption[]) =>
    ({ type: 'select', id, name, category: id, currentValue, options }) as const;
  const modes = MODES.map(({ id: value, ...shown }) => ({ value, ...shown }));
  const names = listed.map(({ name, note }) => ({ value: name, name, description: note }));
  const all = [option('mode', 'Mode', mode, modes), option('model', 'Model', model, names)];
  if (thinking === null) return all;
  const efforts = THINKING.map((value) => ({ value, name: value }));
  const description = 'How much the model reasons before it answers; fixed once the conversation has begun';
  const effort = option('thinking', 'Thinking', thinking, efforts);
  return [...all, { ...effort, category: 'thought_level', description }];
}

/** Throws an error of the protocol for an unknown option or value. */
export function readChange(id: string, value: unknown, { thinking }: Settings): Change {
  if (typeof value !== 'string') throw invalidParams(`value: ${id} takes one of its options`);
  switch (id) {
    case 'mode':
      return { mode: readMode(value) };
    case 'model':
      if (value === '') throw invalidParams('value: the name of a model is missing');
      return { model: value };
    case 'thinking':
      if (thinking === null)
        throw invalidParams('configId: thinking is fixed once the conversation has begun');
      return { thinking: oneOf(id, value, THINKING) };
    default:
      throw invalidParams(
        `configId: unknown option "${id}"; expected mode, model or, before the first prompt, thinking`,
      );
  }
}

export function readMode(id: string): PermissionMode {
  return oneOf(
    'mode',
    id,
    MODES.map((one) => one.id),
  );
}

function oneOf<Value extends string>(what: string, given: string, known: readonly Value[]): Value {
  const found = known.find((one) => one === given);
  if (found === undefined)
    throw invalidParams(`${what}: unknown value "${given}"; expected one of ${known.join(', ')}`);
  return found;
}
