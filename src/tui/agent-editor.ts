import type { Agent } from '../core/agent.ts';
import { paint } from '../render/style.ts';
import { HUMAN_COMMANDS } from './human-commands.ts';
import { LineCompletion } from './line-completion.ts';
import { LineEditor } from './line-editor.ts';
import type { Look } from './look.ts';

export interface AgentEditorOptions {
  readonly look: Look;
  readonly agents: () => Iterable<Agent>;
  readonly cwd: string;
  readonly onRedraw: () => void;
  readonly onSubmit: (text: string) => void;
}

/** The input of one agent: its own draft, undo and history; commands, agents and files are completed. */
export function createEditor({ look, agents, cwd, onRedraw, onSubmit }: AgentEditorOptions): LineEditor {
  const editor = new LineEditor({
    completion: new LineCompletion({
      commands: HUMAN_COMMANDS.map(({ name, description, takes }) => ({ name, description, takes })),
      agents: () => [...agents()].map(({ id, name }) => ({ name, description: id.slice(0, 8) })),
      folder: () => cwd,
    }),
    look: {
      unicode: look.unicode,
      selected: (text) => paint(look, 'bold', text),
      dim: (text) => paint(look, 'dim', text),
    },
    onRedraw,
  });
  editor.onSubmit = (text) => {
    if (text.trim() !== '') editor.addHistory(text);
    onSubmit(text);
  };
  return editor;
}
