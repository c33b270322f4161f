// Proves which call and which runtime a mark names, which marks' owners are gone, and that the process table is read correctly whatever a process's name.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { findShell } from '../../src/processes/find-shell.ts';
import {
  isMarkedBy,
  isOwnerGone,
  isOwnMark,
  nextMark,
  processStatus,
} from '../../src/processes/process-mark.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { eventually } from '../tools/tool-fixture.ts';

const options = { skip: process.platform === 'linux' ? false : 'reads /proc' };

it('a mark belongs to its call and to what was started by a runtime in it, not to a later call', () => {
  const marks = ['1-2-3.1', '1-2-3.1/1-4-5.1', '1-2-3.10', '1-2-3.', '9-2-3.1'];
  assert.deepEqual(
    marks.map((mark) => isMarkedBy(mark, '1-2-3.1')),
    [true, true, false, false, false],
  );
});

it('each call has a mark of its own, which tells the runtime', options, () => {
  const [first, second] = [nextMark(), nextMark()];
  assert.notEqual(first, second);
  assert.deepEqual([first, second, `${first}/1-4-5.1`, '1-4-5.1'].map(isOwnMark), [true, true, true, false]);
});

it(
  'an owner is gone when its process id is free or was reused; those in other namespaces cannot be looked up',
  options,
  () => {
    const mark = nextMark();
    const [, namespace, pid, started] = /(\d+)-(\d+)-(\d+)\.\d+$/.exec(mark) ?? [];
    const gone = {
      [mark]: false,
      [`${namespace}-${pid}-1.1`]: true,
      [`${namespace}-4194399-${started}.1`]: true,
      [`${mark}/${namespace}-${pid}-1.1`]: true,
      [`${namespace}-${pid}-1.1/${mark}`]: false,
      [`1${namespace}-${pid}-1.1`]: false,
      'something else': false,
    };
    assert.deepEqual(
      Object.keys(gone).map((one) => isOwnerGone(one)),
      Object.values(gone),
    );
  },
);

it('the state of a process is read whatever its name holds', options, async () => {
  const file = join(temporaryFolder(), ') S 1 (');
  copyFileSync(findShell(), file);
  const child = spawn(file, ['-c', 'echo begun; read line'], { detached: true });
  await new Promise((resolve) => child.stdout.once('data', resolve));
  assert.ok(await eventually(() => processStatus(child.pid!)?.state === 'S'));
  const { group, started } = processStatus(child.pid!) ?? {};
  assert.equal(group, child.pid);
  assert.ok(Number(started) >= Number(processStatus('self')?.started));
  child.stdin.end();
  await new Promise((resolve) => child.once('close', resolve));
  assert.equal(processStatus(child.pid!), undefined);
});
