/**
 * Proves that a model reads of a program's output what a terminal would show at the end, without codes: whatever the chunks, in results, in files beside them and
 * in the last words of long-running programs, while people get the stream as it is.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { NewestOutput } from '../../src/processes/output/newest-output.ts';
import { OutputCapture } from '../../src/processes/output/output-capture.ts';
import { readable } from '../../src/processes/sandbox/piped-program.ts';
import { createBashTool } from '../../src/tools/bash.ts';
import { call, makeWorkspace } from '../tools/tool-fixture.ts';

const SHOWN: Readonly<Record<string, readonly [written: string, shown: string]>> = {
  'text as it is, with trailing blanks': ['a  \n\n\tb\n', 'a  \n\n\tb\n'],
  'a progress bar': ['10%\r 20%\r100%\ndone', '100%\ndone'],
  'a shorter state over a longer one': ['[####] 10 s\r[####] 9\n', '[####] 90 s\n'],
  'a line that is erased first': ['Downloading everything\r\x1b[2KDone\n', 'Done\n'],
  'the rest of a line erased': ['Downloading\rDone\x1b[K\n', 'Done\n'],
  'the beginning of a line erased': ['abcdef\x1b[3G\x1b[1K\n', '   def\n'],
  'bars of characters of several bytes': ['⠋ ░░░ é\r⠙ █░░ è\r⠹ ███ ok\n', '⠹ ███ ok\n'],
  'an emoji over text': ['abc\r🚀\n', '🚀bc\n'],
  colours: ['\x1b[1;31merror\x1b[0m: \x1b[38;2;1;2;3mx\x1b[39m\x1b[4:3m\n', 'error: x\n'],
  'CR LF': ['a\r\nb\r\n', 'a\nb\n'],
  backspaces: ['passwodr\b\brd\n', 'password\n'],
  'overstrikes of man': ['N\bNA\bAM\bME\bE _\bx\n', 'NAME x\n'],
  'a title and a link': [
    '\x1b]0;title\x07a \x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\\n\x1b]2;t\x1b\\b',
    'a link\nb',
  ],
  'a string that never ends costs its line only': ['a\x1b]52;c;xyz\nb\n', 'a\nb\n'],
  'device strings': ['\x1bP1$r0m\x1b\\a\x1b_x\x1b\\b\x1b^y\x1b\\c\n', 'abc\n'],
  'several lines rewritten': [
    'a 1%\nb 1%\n\x1b[2A\ra 100%\x1b[K\n\rb 50%\x1b[K\n\x1b[1A\x1b[2Kb 100%\n',
    'a 100%\nb 100%\n',
  ],
  'lines erased below': ['one\ntwo\nthree\n\x1b[2A\x1b[Jend\n', 'one\nend\n'],
  'previous and next line': ['a\nb\nc\x1b[2FX\x1b[2EZ\n', 'X\nb\nZ\n'],
  'columns and steps': ['abc\x1b[1GX\x1b[1CZ\x1b[2DY\n', 'XYZ\n'],
  'a cleared screen': ['frame 1\nold\n\x1b[2J\x1b[Hframe 2\n', 'frame 2\n'],
  'a screen drawn again': ['\x1b[Hload 1\nx\n\x1b[H\x1b[Jload 2\ny\n', 'load 2\ny\n'],
  'a place on the screen': ['\x1b[2;3Hb\x1b[1;1Ha\n', 'a\n  b'],
  'a hidden cursor, modes, resets': ['\x1b[?25l\x1b[?1049ha\x1b(B\x1b=\x1b[!p\x1b[?25h\n', 'a\n'],
  bells: ['a\x07b\x0e\x0fc\n', 'abc\n'],
  'a broken sequence': ['a\x1b[\x01b\x1b', 'ab'],
  'a step above the screen': ['a\x1b[99A\rb\n', 'b\n'],
  nothing: ['', ''],
};

function captured(written: string, size = 1_000_000): string {
  const capture = new OutputCapture('/nonexistent', () => {});
  const bytes = Buffer.from(written);
  for (let at = 0; at < bytes.length; at += size) capture.push(bytes.subarray(at, at + size));
  return capture.finish();
}

describe('what a terminal would show', () => {
  for (const [what, [written, shown]] of Object.entries(SHOWN))
    it(`of ${what}`, () => {
      for (const size of [1_000_000, 1, 2, 3, 5, 7]) assert.equal(captured(written, size), shown, `${size}`);
      const newest = new NewestOutput(1000);
      newest.push(Buffer.from(written));
      assert.equal(newest.text(), shown);
    });

  it('of thousands of states is the last, however long the stream is', () => {
    const states = Array.from(
      { length: 20_000 },
      (_, at) => `\x1b[32m${'#'.repeat(at % 60)}\x1b[0m ${at}\x1b[K\r`,
    );
    assert.equal(
      captured(`start\n${states.join('')}\nend\n`, 64 * 1024),
      `start\n${'#'.repeat(19_999 % 60)} 19999\nend\n`,
    );
  });

  it('what has scrolled off is not rewritten', () => {
    const lines = Array.from({ length: 200 }, (_, at) => `${at}\n`).join('');
    const shown = captured(`${lines}\x1b[500AX\x1b[2J\x1b[HY`, 64);
    assert.ok(shown.startsWith('0\n1\n2\n') && shown.includes('\n149\n') && shown.endsWith('\nY'), shown);
  });

  it('bytes that are not UTF-8 are named, and a flood of one line needs no memory', () => {
    const capture = new OutputCapture('/nonexistent', () => {});
    for (let at = 0; at < 2_000; at += 1) capture.push(Buffer.alloc(16_384, at % 2 === 0 ? 'x' : '\r'));
    capture.push(Buffer.from([0xff, 0x0a]));
    assert.match(capture.finish(), /bytes left out.*not UTF-8/s);
  });
});

describe('in the tools', () => {
  it('the result and the file beside it are clean, and people see it live as it was written', async () => {
    const context = makeWorkspace();
    const command = `printf '1%%\\r2%%\\r\\033[31mred\\033[0m\\n'; for i in $(seq 9000); do printf '\\033[3%dmline %d\\033[0m\\n' $((i%8)) $i; done`;
    const { output } = await call(createBashTool(null), { command }, context);
    assert.ok(output.startsWith('red\nline 1\n') && output.endsWith('line 9000\n'), output.slice(0, 80));
    assert.ok(!output.includes('\x1b'));
    const file = /the whole output is in (\S+)/.exec(output)?.[1] ?? '';
    assert.equal(readFileSync(file, 'utf8').split('\n').length, 9002);
    assert.ok(!readFileSync(file, 'utf8').includes('\x1b'));
    assert.ok(context.live.join('').startsWith('1%\r2%\r\x1b[31mred'));
  });

  it('the last words of a program are its last state', () => {
    assert.equal(readable('\x1b]0;t\x07\x1b[1mstarting\x1b[0m\r\x1b[2Kfailed: x\nbye\n'), 'failed: x | bye');
  });
});
