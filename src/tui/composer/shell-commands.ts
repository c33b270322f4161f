import { randomUUID } from 'node:crypto';
import { TIMEOUT_MAX_SECONDS } from '../../processes/limits/command-budget.ts';
import { type ComposedText, withAttachments } from '../../records/conversation/attached-text.ts';
import { counted } from '../../records/text/text.ts';
import { delimiterOf } from '../../records/text/untrusted-text.ts';
import type { ToolResult } from '../../records/tool.ts';
import { cutLines } from '../../render/hidden-characters.ts';
import { createBashTool } from '../../tools/bash.ts';
import type { UiEvent } from '../state/ui-event.ts';

/** The part of the app that commands need. */
export interface CommandHost {
  /** The folder of the agent in view; null if it may be on another machine. */
  folder(): string | null;
  /** Folder for output that is too long for a message. */
  readonly output_folder: string;
  dispatch(event: UiEvent): void;
  say(text: string, tone?: 'plain' | 'bad'): void;
  /** The agent in view; null if there is none yet. */
  view(): string | null;
  send(to: string | null, message: ComposedText, typed: string): void;
}

/** Maximum lines of output shown once a command has ended. */
const LINES_SHOWN = 40;

/**
 * Shell commands of the person: `!COMMAND` runs one and shows its output, `!!COMMAND` also sends the output to the agent in view, `!!` sends that of the last
 * command. One runs at a time; no rule of an agent applies, and no process that a command started outlives it.
 */
export class ShellCommands {
  readonly #host: CommandHost;
  #running: AbortController | null = null;
  /** The command that ended last, and when. */
  last: { readonly command: string; readonly output: string; readonly at: number } | null = null;

  constructor(host: CommandHost) {
    this.#host = host;
  }

  /** Runs a command; `text` begins with `!`. */
  run(text: string): void {
    const sends = text.startsWith('!!');
    const command = text.slice(sends ? 2 : 1).trim();
    const to = this.#host.view();
    if (command === '' && sends && this.last !== null) return this.#send(to, text);
    if (command === '') return this.#host.say('type a shell command after the !', 'bad');
    if (this.#running !== null) return this.#host.say('another command is running: Esc stops it', 'bad');
    const folder = this.#host.folder();
    if (folder === null)
      return this.#host.say(
        'workers lead this conversation, perhaps on another machine: nothing runs in its folder from here',
        'bad',
      );
    void this.#perform(command, folder).then(() => {
      if (sends) this.#send(to, text);
    });
  }

  /** Stops the running command; false if none is running. */
  stop(): boolean {
    this.#running?.abort();
    return this.#running !== null;
  }

  async #perform(command: string, cwd: string): Promise<void> {
    const controller = new AbortController();
    this.#running = controller;
    this.#host.dispatch({ type: 'own_command', began: command });
    const result = await createBashTool(null).run(
      { command, timeout: TIMEOUT_MAX_SECONDS },
      {
        cwd,
        spill_dir: this.#host.output_folder,
        signal: controller.signal,
        agent: { id: '', name: '', root_id: '' },
        env_allow: Object.keys(process.env),
        onOutput: (output) => this.#host.dispatch({ type: 'own_command', output }),
      },
    );
    this.#running = null;
    this.last = { command, output: result.output, at: Date.now() };
    this.#host.dispatch({ type: 'own_command', began: null });
    this.#host.say(`! ${command}\n${shellOutputLines(result)}`);
  }

  #send(to: string | null, typed: string): void {
    const last = this.last;
    if (last === null) return;
    const lines = last.output.trimEnd().split('\n').length;
    const output = { label: `its output, ${counted(lines, 'line')}`, text: last.output };
    const told = `I ran this command: ${last.command}`;
    this.#host.send(to, withAttachments(told, [output], delimiterOf(randomUUID())), typed);
  }
}

function shellOutputLines({ output }: ToolResult): string {
  const lines = output.trimEnd().split('\n');
  return cutLines(lines, LINES_SHOWN, (left_out) => `… +${left_out} lines; !! sends all to the agent`).join(
    '\n',
  );
}
