import type { McpServer } from '@agentclientprotocol/sdk';
import type { AgentConfig, PermissionMode } from '../records/agent/agent.ts';
import type { RuntimeFace } from '../runtime/runtime-face.ts';
import type { Store } from '../store/store.ts';
import type { Root } from '../trees/open-tree.ts';

/** Settings that an editor may still change before the conversation begins. */
export interface SessionDraft extends Pick<AgentConfig, 'model' | 'thinking'> {
  readonly mode: PermissionMode;
}

/** A folder in which an editor works: its runtime and its configuration. */
export interface EditorFolder {
  readonly runtime: RuntimeFace;
  /** Returns the settings of a new conversation. Throws a `CoppiceError`, such as `E_NO_KEY`. */
  draft(): SessionDraft;
  /** Returns what a conversation starts with. Throws a `CoppiceError` if the configuration does not allow it. */
  begin(draft: SessionDraft): Root;
  /** The models that a person may choose from. */
  models(): readonly { readonly name: string; readonly note: string }[];
  /** Adds the MCP servers that the editor names to those of the folder. Returns a sentence for each server that is left out. */
  bring(named: readonly McpServer[]): readonly string[];
}

export interface AcpOptions {
  readonly version: string;
  readonly store: Store;
  /** Resolves to the place of a folder (absolute path), the same object for every call with that folder. Rejects with `E_NO_FOLDER`. */
  readonly placeOf: (cwd: string) => Promise<EditorFolder>;
  /** Names this machine, to which trees may be bound. */
  readonly env: NodeJS.ProcessEnv;
  /** Logs a line for the operator, never to standard output, which carries the protocol. */
  readonly log: (line: string) => void;
}
