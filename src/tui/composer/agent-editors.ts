import type { Agent } from '../../records/agent/agent.ts';
import { paint, type UiStyle } from '../../render/style.ts';
import { HUMAN_COMMANDS } from '../commands/human-commands.ts';
import { LineCompletion } from './line-completion.ts';
import { LineEditor } from './line-editor.ts';

interface AgentEditorOptions {
  readonly style: UiStyle;
  readonly agents: () => Iterable<Agent>;
  readonly cwd: string;
  readonly onRedraw: () => void;
  readonly onSubmit: (text: string) => void;
}

/** One editor per agent, created when the agent is first in view. */
export class AgentEditors {
  readonly #options: AgentEditorOptions;
  readonly #editors = new Map<string | null, LineEditor>();

  constructor(options: AgentEditorOptions) {
    this.#options = options;
  }

  /** Null: the editor for the first prompt. */
  of(agent_id: string | null): LineEditor {
    const editor = this.#editors.get(agent_id) ?? createEditor(this.#options);
    this.#editors.set(agent_id, editor);
    return editor;
  }

  /** The first agent takes over the editor of the first prompt. */
  adopt(agent_id: string): void {
    const editor = this.#editors.get(null);
    if (editor !== undefined) this.#editors.set(agent_id, editor);
  }
}

/** The input of one agent, with its own draft, undo and history; completes commands, agents and files. */
function createEditor({ style, agents, cwd, onRedraw, onSubmit }: AgentEditorOptions): LineEditor {
  const editor = new LineEditor({
    completion: new LineCompletion({
      commands: HUMAN_COMMANDS.map(({ name, description, takes }) => ({ name, description, takes })),
      agents: () => [...agents()].map(({ id, name }) => ({ name, description: id.slice(0, 8) })),
      folder: () => cwd,
    }),
    style: {
      unicode: style.unicode,
      selected: (text) => paint(style, 'bold', text),
      dim: (text) => paint(style, 'dim', text),
    },
    onRedraw,
  });
  editor.onSubmit = (text) => {
    if (text.trim() !== '') editor.addHistory(text);
    onSubmit(text);
  };
  return editor;
}
