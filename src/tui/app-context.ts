import type { Agent } from '../records/agent/agent.ts';
import type { UiStyle } from '../render/style.ts';
import type { RuntimeFace } from '../runtime/runtime-face.ts';
import type { Store } from '../store/store.ts';
import type { LineEditor } from './composer/line-editor.ts';
import type { KeyBindings } from './keys/key-bindings.ts';
import type { UiEvent } from './state/ui-event.ts';
import type { UiState } from './state/ui-state.ts';
import type { Screen } from './terminal/screen.ts';

/** How the UI was left. `detach`: running agents go on elsewhere. */
export type LeaveMode = 'quit' | 'detach' | 'kill' | 'hangup';

/** What keys and commands work with. */
export interface AppContext {
  readonly runtime: RuntimeFace;
  readonly store: Store;
  readonly style: UiStyle;
  readonly bindings: KeyBindings;
  readonly screen: Screen;
  /** Workers lead the tree: what happens is read from the ledger, and leaving stops nothing. */
  readonly followed: boolean;
  readonly state: UiState;
  /** The editor of the agent in view. */
  readonly editor: LineEditor;
  /** The agent in view may be written to; one that has ended may not. */
  readonly acceptsInput: boolean;
  /** The whole scrollback is shown on the full screen, for any agent but the root always. */
  browsing: boolean;
  /** Lines that the full screen is scrolled up. */
  scrolled: number;
  /** Typed letters go into the filter of the agents list. */
  filtering: boolean;
  dispatch(event: UiEvent): void;
  /** Says something in the scrollback of the agent in view. */
  say(text: string, tone?: 'plain' | 'good' | 'bad'): void;
  /** Does something that may fail; a failure is said. */
  attempt(deed: () => Promise<void>): void;
  /** The same, after what was done so before: the ledger gets it in the order in which it was typed. */
  inOrder(deed: () => Promise<void>): void;
  begin(prompt: string): Promise<void>;
  /** The ledger knows more than what was told: asks, ended agents. */
  refresh(): void;
  know(agent: Agent): void;
  leave(how: LeaveMode): void;
}
