// Proves how required evidence is written, and which calls count as evidence.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { BUILT_IN_PERMISSIONS } from '../../src/tools/built-in-permissions.ts';
import { deedOf, evidenceText } from '../../src/tools/evidence.ts';

const TOOLS = Object.values(BUILT_IN_PERMISSIONS);
const { bash, read, write } = BUILT_IN_PERMISSIONS;

describe('required evidence', () => {
  it('is a rule and an end; without one the call must succeed', () => {
    const written = ['bash:npm test exit 0', ' bash:npm  test  ok', 'read:docs/**', 'bash:exit 3 exit 3'];
    const kept = ['bash:npm test exit 0', 'bash:npm  test ok', 'read:docs/** ok', 'bash:exit 3 exit 3'];
    assert.deepEqual(
      written.map((text) => evidenceText(text, TOOLS)),
      kept,
    );
    for (const [text, error] of [
      ['bsh:npm test exit 0', /there is no tool "bsh"/],
      ['bash:npm test exit 256', /an exit code is a number from 0 to 255, not "256"/],
      ['bash:npm test exit zero', /not "zero"/],
      ['read:docs exit 0', /read has no exit code; write "read:docs ok"/],
      ['exit 0', /exit/],
    ] as const)
      assert.throws(() => evidenceText(text, TOOLS), { name: 'InvalidRuleError', message: error });
  });

  it('comes from the data of the result, not from its text', () => {
    const require = ['bash:npm test exit 0', 'bash:npm * exit 3', 'read:docs/** ok'];
    const about = (...[tool, subject, result]: [typeof bash, string, Parameters<typeof deedOf>[3]]) =>
      deedOf(tool, subject, '/', result, require).evidence?.map(({ place, met }) => [place, met]) ?? [];
    const ended = (exit_code: number) =>
      ({ status: exit_code === 0 ? 'ok' : 'error', output: '[exit code 0]', exit_code }) as const;
    assert.deepEqual(about(bash, 'npm test', ended(0)), [
      [0, true],
      [1, false],
    ]);
    assert.deepEqual(about(bash, 'npm test', ended(3)), [
      [0, false],
      [1, true],
    ]);
    assert.deepEqual(about(bash, 'npm test', { status: 'error', output: '[exit code 0]' }), [
      [0, false],
      [1, false],
    ]);
    for (const command of [
      'npm test; true',
      'npm test || true',
      'npm test | cat',
      'echo npm test',
      '(npm test)',
    ])
      assert.deepEqual(about(bash, command, ended(0)), [], command);
    assert.deepEqual(about(read, 'docs/a.md', { status: 'ok', output: '' }), [[2, true]]);
    assert.deepEqual(deedOf(write, 'a', '/', { status: 'ok', output: '' }, require), {
      wrote: 'a',
      spoils: true,
    });
  });
});
