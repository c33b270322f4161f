import { execFileSync, spawnSync } from 'node:child_process';
import { COMPILED } from '../../house/compiled.ts';
import { until } from '../../until.ts';
import type { ScreenCommand } from './screen-command.ts';
import { SCREEN_PROGRAM } from './screen-stage.ts';

export function hasTmux(): boolean {
  return spawnSync('tmux', ['-V']).status === 0;
}

/** The program that owns a terminal, in a window of tmux: a terminal that behaves differently from the in-memory one. */
export interface Tmux {
  perform(...command: ScreenCommand): Promise<void>;
  resize(columns: number, rows: number): Promise<void>;
  /** All rows with content, scrollback included. */
  history(): string[];
  end(): void;
}

export async function openTmux(name: string, columns: number, rows: number): Promise<Tmux> {
  const run = (...args: string[]) =>
    execFileSync('tmux', ['-L', `coppice-${process.pid}-${name}`, '-f', '/dev/null', ...args], {
      encoding: 'utf8',
      env: {
        PATH: process.env.PATH,
        ...COMPILED,
        HOME: process.env.HOME,
        LANG: 'C.UTF-8',
        TERM: 'xterm-256color',
      },
    });
  const title = () => run('display', '-p', '#{pane_title}').trim();
  run('new-session', '-d', '-x', `${columns}`, '-y', `${rows}`, process.execPath, SCREEN_PROGRAM);
  // The last title that the program sets at its start.
  await until(() => title() === 'answered', 'the program is ready');
  let number = 0;
  return {
    async perform(...command) {
      number += 1;
      run('send-keys', '-l', `\x1b[200~${JSON.stringify({ number, command })}\x1b[201~`);
      await until(() => title() === `done ${number}`, `done: ${JSON.stringify(command)}`);
    },
    async resize(next_columns, next_rows) {
      run('resize-window', '-x', `${next_columns}`, '-y', `${next_rows}`);
      await until(() => title() === `size ${next_columns}x${next_rows}`, 'another size');
    },
    history: () =>
      run('capture-pane', '-p', '-S', '-')
        .split('\n')
        .map((line) => line.trimEnd())
        .filter((line) => line !== ''),
    end: () => void run('kill-server'),
  };
}
