/** A program that owns a terminal and executes the screen commands that a test pastes into it. */
import { execFileSync } from 'node:child_process';
import { TerminalScreen } from '../../../src/tui/terminal/terminal-screen.ts';
import type { ScreenCommand } from './screen-command.ts';

const PASTE = '\x1b[200~';
const inputs: string[] = [];
let resizes = 0;
let hangups = 0;
let bottom: readonly string[] | null = null;
let growing: readonly string[] = [];

const screen = new TerminalScreen(
  { input: process.stdin, output: process.stdout },
  {
    onInput(data) {
      if (!data.startsWith(PASTE)) inputs.push(data);
      else {
        const { number, command } = JSON.parse(data.slice(PASTE.length, -PASTE.length));
        perform(command);
        done(number);
        return;
      }
      if (data === '\x1a') screen.suspend();
      else if (data === 'q') screen.close();
    },
    onResize(left) {
      resizes += 1;
      if (left !== undefined) growing = growing.filter((line) => !left.includes(line));
      drawBottom();
      // After the output for the new size.
      setImmediate(() => process.stdout.write(`\x1b]2;size ${screen.columns}x${screen.rows}\x07`));
    },
    onHangup() {
      hangups += 1;
      screen.close();
      // The shell sends the signal too, while the program is ending.
      process.kill(process.pid, 'SIGHUP');
      process.stdout.write(`hung up ${hangups}\r\n`);
      process.exit(7);
    },
  },
  process.env,
  { notifies: true, titles: true },
);
process.stdout.write('\x1b]2;ready\x07');
void screen.answered.then(() => process.stdout.write('\x1b]2;answered\x07'));

function perform(command: ScreenCommand): void {
  const [name, value] = command;
  if (name === 'print') screen.print(value);
  else if (name === 'printMany')
    screen.print(Array.from({ length: value }, (_, index) => `printed ${index + 1}.`));
  else if (name === 'printLate') {
    const size = windowSize();
    process.stdout.write('\x1b]2;busy\x07');
    while (windowSize() === size);
    screen.print(value);
  } else if (name === 'draw') screen.draw(value);
  else if (name === 'bottom') {
    bottom = value;
    drawBottom();
  } else if (name === 'growing') {
    growing = value;
    drawBottom();
  } else if (name === 'full') value ? screen.enterFull() : screen.leaveFull();
  else if (name === 'attention') screen.attention('shop', value);
  else if (name === 'title') screen.title(value);
  else if (name === 'inputs')
    process.stdout.write(`\x1b]2;inputs ${Buffer.from(JSON.stringify(inputs)).toString('base64')}\x07`);
  else if (name === 'resizes') process.stdout.write(`\x1b]2;resizes ${resizes}\x07`);
  else if (name === 'throw')
    setImmediate(() => {
      throw new Error('a bug of ours');
    });
}

/** As the terminal has it, whatever this program knows. */
function windowSize(): string {
  return execFileSync('stty', ['size'], { stdio: ['inherit', 'pipe', 'inherit'], encoding: 'utf8' });
}

/** Draws a block of full width, as the real program does; redrawn on every resize. */
function drawBottom(): void {
  if (bottom === null) return;
  const rule = '-'.repeat(screen.columns);
  const lines = [...growing, rule, ...bottom.map((line) => line.slice(0, screen.columns)), rule, 'hint'];
  const grown = growing.length === 0 ? null : { rows: growing.length, text: growing.join(' ') };
  screen.draw({ lines, cursor: { row: lines.length - 3, column: 2 }, growing: grown });
}

/** Tells the test, invisibly, that a command has been executed. */
function done(number: number): void {
  process.stdout.write(`\x1b]2;done ${number}\x07`);
}
