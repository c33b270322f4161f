import type { McpServer } from '@agentclientprotocol/sdk';
import type { AgentConfig, PermissionMode } from '../records/agent/agent.ts';
import type { Limits } from '../records/agent/limits.ts';
import type { RuntimeFace } from '../runtime/runtime-face.ts';
import type { Store } from '../store/store.ts';

/** What an editor may still change of a conversation that has not begun. */
export interface SessionDraft {
  readonly model: string;
  readonly thinking: AgentConfig['thinking'];
  readonly mode: PermissionMode;
}

/** A folder in which an editor works: its runtime, and what its configuration says. */
export interface EditorPlace {
  readonly runtime: RuntimeFace;
  /** Of a new conversation. Throws a `CoppiceError`, such as `E_NO_KEY`. */
  draft(): SessionDraft;
  /** Throws a `CoppiceError` for what the configuration does not allow. */
  begin(draft: SessionDraft): { readonly config: AgentConfig; readonly limits: Partial<Limits> };
  /** What a person may choose a model from. */
  models(): readonly { readonly name: string; readonly note: string }[];
  /** Adds MCP servers that the editor names to those of the folder. Returns a sentence for each that is left out. */
  bring(named: readonly McpServer[]): readonly string[];
}

export interface AcpOptions {
  readonly version: string;
  readonly store: Store;
  /** The place of a folder, absolute; the same one each time. Rejects with `E_NO_FOLDER`. */
  readonly placeOf: (cwd: string) => Promise<EditorPlace>;
  /** Whether this process leads the tree, once it is opened; if not, workers do. Rejects for a tree that only another machine may lead. */
  readonly leads: (root_id: string) => Promise<boolean>;
  /** For whoever looks after the program: standard output belongs to the protocol. */
  readonly log: (line: string) => void;
}
