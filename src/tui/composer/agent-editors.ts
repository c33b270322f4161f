import { join } from 'node:path';
import type { Agent } from '../../records/agent/agent.ts';
import { keptIn } from '../../records/kept-in.ts';
import { paint, type UiStyle } from '../../render/style.ts';
import { FolderFiles } from './attachments/folder-files.ts';
import { PromptHistory } from './history/prompt-history.ts';
import { LineCompletion, type LineCompletionSource } from './line-completion.ts';
import { LineEditor } from './line-editor.ts';

interface AgentEditorOptions {
  readonly style: UiStyle;
  readonly commands: LineCompletionSource['commands'];
  readonly resources: LineCompletionSource['resources'];
  readonly agents: () => Iterable<Agent>;
  readonly vim: () => boolean;
  readonly cwd: string;
  readonly data_folder: string;
  /** The folder whose files are completed. */
  readonly folder: () => string;
  readonly onRedraw: () => void;
  readonly onSubmit: (text: string) => void;
}

/** Maximum history entries that the arrow keys go through; the search covers all. */
const RECALLED = 100;

/** One editor per agent, created when the agent is first in view. */
export class AgentEditors {
  readonly #options: AgentEditorOptions;
  readonly #history: PromptHistory;
  readonly #files = new FolderFiles();
  readonly #editors = new Map<string | null, LineEditor>();

  constructor(options: AgentEditorOptions) {
    this.#options = options;
    this.#history = new PromptHistory(join(options.data_folder, 'history'), options.cwd);
  }

  /** Returns the editor of an agent, created on first use; null: the editor of the first prompt. */
  of(agent_id: string | null): LineEditor {
    return keptIn(this.#editors, agent_id, () => this.#create());
  }

  #create(): LineEditor {
    const history = this.#history;
    const editor = createEditor(this.#options, history, this.#files);
    for (const text of history.entries.slice(-RECALLED)) editor.addHistory(text);
    editor.onSubmit = (text) => {
      history.add(text);
      if (text.trim() !== '') for (const one of this.#editors.values()) one.addHistory(text);
      this.#options.onSubmit(text);
    };
    return editor;
  }

  /** Hands the editor of the first prompt over to the first agent. */
  adopt(agent_id: string): void {
    const editor = this.#editors.get(null);
    if (editor !== undefined) this.#editors.set(agent_id, editor);
    this.#editors.delete(null);
  }
}

/** Creates the editor of one agent, with its own draft and undo; it completes commands, agents and files. */
function createEditor(
  { style, commands, resources, agents, folder, vim, onRedraw }: AgentEditorOptions,
  history: PromptHistory,
  files: FolderFiles,
): LineEditor {
  return new LineEditor({
    sent: () => history.entries,
    vim,
    completion: new LineCompletion({
      commands,
      resources,
      agents: () => [...agents()].map(({ id, name }) => ({ name, description: id.slice(0, 8) })),
      folder,
      files,
      sent: () => history.entries,
    }),
    style: {
      unicode: style.unicode,
      selected: (text) => paint(style, 'bold', text),
      dim: (text) => paint(style, 'dim', text),
    },
    onRedraw,
  });
}
