import { join } from 'node:path';
import { after } from 'node:test';
import { openPty, type Pty, type PtyOptions } from './pty.ts';
import type { ScreenCommand } from './screen-command.ts';

export const SCREEN_PROGRAM = join(import.meta.dirname, 'screen-program.ts');

export interface ScreenStage {
  readonly pty: Pty;
  /** Executes a command; returns the output that it caused. */
  perform(...command: ScreenCommand): Promise<string>;
  /** Keys and pastes that the app has received, one entry each. */
  inputs(): Promise<string[]>;
  resize(columns: number, rows: number): Promise<void>;
}

/** Opens terminals for one test file and ends them after its tests. */
export function screenStages() {
  const ptys: Pty[] = [];
  after(() => Promise.all(ptys.map((pty) => pty.end())));
  const stageOf = (pty: Pty): ScreenStage => {
    ptys.push(pty);
    return stageOn(pty);
  };
  return {
    stageOf,
    async open(options: PtyOptions = {}): Promise<ScreenStage> {
      const pty = openPty(process.execPath, [SCREEN_PROGRAM], options);
      await ready(pty, 0);
      return stageOf(pty);
    },
  };
}

/** Waits until the program owns the terminal and the terminal has replied. */
export function ready(pty: Pty, since: number): Promise<void> {
  const complete = () => {
    const written = pty.written(since);
    return written.includes('\x1b]2;ready\x07') && written.includes('\x1b[>4;2m');
  };
  return pty.until(complete, 'the program is ready');
}

function stageOn(pty: Pty): ScreenStage {
  let number = 0;
  const stage: ScreenStage = {
    pty,
    async perform(...command) {
      number += 1;
      const sign = `\x1b]2;done ${number}\x07`;
      const mark = pty.mark();
      pty.send(`\x1b[200~${JSON.stringify({ number, command })}\x1b[201~`);
      await pty.until(() => pty.written(mark).includes(sign), `done: ${JSON.stringify(command)}`);
      // The report that the terminal has replied may come at any time.
      return (pty.written(mark).split(sign)[0] ?? '').replace('\x1b]2;answered\x07', '');
    },
    async inputs() {
      const written = await stage.perform('inputs', null);
      const encoded = /\]2;inputs ([\w+/=]*)/.exec(written)?.[1] ?? '';
      return JSON.parse(Buffer.from(encoded, 'base64').toString());
    },
    async resize(columns, rows) {
      const mark = pty.mark();
      pty.resize(columns, rows);
      const sign = `]2;size ${columns}x${rows}`;
      await pty.until(() => pty.written(mark).includes(sign), sign);
    },
  };
  return stage;
}
