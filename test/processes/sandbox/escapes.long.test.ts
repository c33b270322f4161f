/**
 * Proves that the sandbox withstands attacks, each by a real shell in a real sandbox: to write outside the workspace, to read secrets, to reach servers and
 * sockets of this machine, to change what people run later, and to outlive the call. Each is shown to do harm without the sandbox, or to have a target.
 */
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import {
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type Server } from 'node:net';
import { dirname, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { Tool } from '../../../src/records/tool.ts';
import { createBashTool } from '../../../src/tools/bash.ts';
import { call, makeWorkspace } from '../../tools/tool-fixture.ts';
import { NO_SANDBOX, testSandbox } from './test-sandbox.ts';

const SECRET = 'canary-4f0c';
/** A unique sleep duration for each run, by which survivors are found. */
const SECONDS = `${100_000 + process.pid}.25`;

const WRITES = {
  'by a relative path': 'echo x > ../outside/file',
  'by an absolute path': 'echo x > "$OUTSIDE/file"',
  'in the home folder': 'echo x >> ~/.bashrc',
  'through a link to a file': 'ln -s ../outside/file l; echo x > l',
  'through a link to a folder': 'ln -s ../outside d; echo x > d/file; echo x > d/new',
  'through a hard link': 'ln ../outside/file h; echo x > h',
  'by moving it in': 'mv ../outside/file .',
  'by moving something over it': 'echo x > y; mv y ../outside/file',
  'by removing it': 'rm -rf ../outside',
  'by its mode': 'chmod 777 ../outside/file',
  'by its times': 'touch -d 2001-01-01 ../outside/file',
  'by cutting it': 'truncate -s 0 ../outside/file',
  'by dd': 'dd if=/dev/zero of=../outside/file bs=1 count=1 conv=notrunc',
  'by tar': 'mkdir -p t/outside; echo x > t/outside/file; tar -C t -cf - outside | tar -C .. -xf -',
  'by the root of a process': 'echo x > "/proc/self/root$OUTSIDE/file"',
  'by the root of the first process': 'echo x > "/proc/1/root$OUTSIDE/file"',
  'by the folder of a process':
    'echo x > /proc/1/cwd/../outside/file; echo x > /proc/self/cwd/../outside/file',
  'by mounting again': 'mount -o remount,rw /; mount -o remount,rw,bind /; echo x > ../outside/file',
  'by taking mounts away':
    'umount -l .; umount -l "$PWD/.git/hooks"; umount -l "$PWD/.git"; echo x > ../outside/file; echo x > .git/hooks/x',
  'with namespaces of its own':
    'unshare -rm sh -c "mount --bind ../outside /mnt; mount -o remount,rw /; echo x > ../outside/file"',
  'in the namespaces of the first process': 'nsenter -t 1 -a sh -c "echo x > \\"$OUTSIDE/file\\""',
  'in another root': 'mkdir -p r; chroot / sh -c "echo x > \\"$OUTSIDE/file\\""; pivot_root r r',
  'in a sandbox of its own': 'bwrap --bind / / sh -c "echo x > \\"$OUTSIDE/file\\""',
  'as another user': 'sudo -n sh -c "echo x > \\"$OUTSIDE/file\\""; su -c "echo x > \\"$OUTSIDE/file\\""',
  'by renaming the workspace': 'mv "$PWD" "$PWD-old"; mkdir "$PWD"; echo x > ../outside/file',
  'in the shared temporary folder':
    'echo x > "/tmp/$MARK"; echo x > "/var/tmp/$MARK"; echo x > "/dev/shm/$MARK"',
  'of the kernel':
    'for f in kernel/core_pattern vm/swappiness; do v=$(cat /proc/sys/$f); echo "$v" > /proc/sys/$f && echo x > inside; done; : >> /proc/sysrq-trigger && echo x > inside',
  'of devices':
    'for d in /dev/vda /dev/sda /dev/mem /dev/kmsg; do [ -b $d ] || [ -c $d ] && : >> $d && echo x > inside; done; mknod disk b 254 0 && : >> disk && echo x > inside',
  'of the system':
    'for d in / /etc /usr/bin /var/lib /root /srv /sys /boot; do touch "$d/$MARK" && rm "$d/$MARK" && echo x > inside; done',
} as const;

const READS = {
  'a private key': 'cat ~/.ssh/id_rsa',
  'by copying its folder': 'cp -r ~/.ssh copy; cat copy/*',
  'through a link': 'ln -s ~/.ssh/id_rsa key; cat key',
  'by searching': 'grep -rs canary ~ /etc/shadow; find ~ -name id_rsa -exec cat {} +',
  'keys of a cloud': 'cat ~/.aws/credentials ~/.config/gcloud/*',
  'keys of this program': 'cat ~/.config/coppice/keys.json',
  'the ledger': 'cat ~/.local/share/coppice/coppice.db',
  'what the configuration hides': 'cat ../hidden/*',
  'by the root of a process': 'cat /proc/self/root$HOME/.ssh/id_rsa /proc/1/root$HOME/.ssh/id_rsa',
  'environments of other processes':
    'cat /proc/[0-9]*/environ "/proc/$OTHER/environ" | tr "\\0" "\\n"; cat /proc/$PPID/environ',
  'the environment of another program': 'cat "/proc/$OTHER/environ"; strings "/proc/$OTHER/mem"',
  'keys that the kernel keeps for the session':
    'perl -e "exit(syscall($KEYCTL, 0, -3, 0) == -1 && \\$! == 1 ? 1 : 0)" && echo canary-4f0c',
  'with a debugger': 'strace -p "$OTHER"; gdb -p "$OTHER"',
} as const;

const CONNECTIONS = {
  bash: 'echo x > "/dev/tcp/127.0.0.1/$PORT"',
  'a program': 'curl -s -m 2 "http://127.0.0.1:$PORT"; curl -s -m 2 "http://localhost:$PORT"',
  'every address of the machine': 'for a in $ADDRESSES; do curl -s -m 1 "http://$a:$PORT"; done',
  'a socket of the file system':
    'curl -s -m 2 --unix-socket ../outside/socket http://x/; perl -MSocket -e "$UNIX"',
  'a socket in the workspace': 'curl -s -m 2 --unix-socket ./socket http://x/',
  'a socket without a file': 'perl -MSocket -e "$ABSTRACT"',
  'a socket of virtual machines': 'perl -e "exit(socket(my \\$s, 40, 1, 0) ? 0 : 1)" && echo canary-4f0c',
  'the interface without system calls':
    'perl -e "exit(syscall(425, 1, 0) == -1 && \\$! == 1 ? 1 : 0)" && echo canary-4f0c',
} as const;

const GOVERNED = {
  'a hook': 'echo x > .git/hooks/pre-commit',
  'the settings of git': 'git config core.fsmonitor x; echo x >> .git/config',
  'by a rename of the repository': 'mv .git g && mkdir -p .git/hooks && echo x > .git/hooks/pre-commit',
  'by a rename of the hooks': 'mv .git/hooks .git/h; mkdir .git/hooks; echo x > .git/hooks/pre-commit',
  'by removing the repository': 'rm -rf .git; git init; echo x > .git/hooks/pre-commit',
  'by a link to the settings': 'ln .git/config c; echo x >> c; ln -s .git/config s; echo x >> s',
  'settings of this program that are there': 'echo x > .coppice/config.json; rm -rf .coppice; mv .coppice c',
} as const;

const SURVIVORS = {
  'in the background': 'sleep $S & disown',
  'in a session of its own': 'setsid sleep $S & sleep 0.1',
  'without an environment': 'setsid env -i /bin/sleep $S & sleep 0.1',
  'as an orphan of an orphan':
    '(setsid env -i sh -c "env -i /bin/sleep $S & env -i /bin/sleep $S & exit" &) ; sleep 0.1',
  'deaf to signals':
    '(trap "" TERM HUP INT QUIT; env -i setsid sh -c "trap \\"\\" TERM HUP INT; /bin/sleep $S" &); sleep 0.1',
  'after killing what it can':
    'kill -9 $PPID; kill -9 "$OTHER" && echo x > inside; setsid env -i /bin/sleep $S &',
} as const;

describe('the sandbox', { skip: NO_SANDBOX }, () => {
  // Not below /tmp, which a sandbox replaces by a folder of its own.
  const place = realpathSync(mkdtempSync('/var/tmp/coppice-test-'));
  const base = makeWorkspace();
  const [home, cwd, outside, hidden] = ['home', 'work', 'outside', 'hidden'].map((name) =>
    join(place, name),
  ) as [string, string, string, string];
  const context = {
    ...base,
    cwd,
    env_allow: ['OUTSIDE', 'MARK', 'OTHER', 'PORT', 'ADDRESSES', 'S', 'UNIX', 'ABSTRACT', 'KEYCTL'],
  };
  const other = spawn('/bin/sleep', ['600'], { env: { COPPICE_TEST_CANARY: SECRET }, stdio: 'ignore' });
  const servers: Server[] = [];
  const before_env = { ...process.env };
  let connections = 0;
  const tool = createBashTool(
    testSandbox({ hidden: [hidden, join(home, '.config/coppice'), join(home, '.local/share/coppice')] }),
  ) as Tool;
  const run = async (command: string, with_tool = tool) =>
    (await call(with_tool, { command, timeout: 20 }, context)).output;

  const put = (path: string, text: string): void => {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  };
  const listen = async (where: { port: number } | { path: string }): Promise<Server> => {
    const server = createServer((socket) => {
      connections += 1;
      socket.on('error', () => {});
      socket.end(`HTTP/1.0 200 OK\r\n\r\n${SECRET}\n`);
    });
    await new Promise<void>((resolve) => server.listen(where, resolve));
    servers.push(server);
    return server;
  };
  const lay = (): void => {
    for (const folder of [cwd, outside]) rmSync(folder, { recursive: true, force: true });
    put(join(cwd, 'inside'), 'mine');
    put(join(outside, 'file'), 'theirs');
    execFileSync('git', ['init', '--quiet', cwd]);
    put(join(cwd, '.coppice/config.json'), '{}');
  };
  /** The state that no attack may change. */
  const surroundings = () => ({
    outside: readdirSync(outside).filter((name) => name !== 'socket'),
    file: [
      readFileSync(join(outside, 'file'), 'utf8'),
      statSync(join(outside, 'file')).mode,
      statSync(join(outside, 'file')).mtimeMs,
    ],
    home: readdirSync(home),
    bashrc: readFileSync(join(home, '.bashrc'), 'utf8'),
    hooks: readdirSync(join(cwd, '.git/hooks')),
    config: readFileSync(join(cwd, '.git/config'), 'utf8'),
    settings: readFileSync(join(cwd, '.coppice/config.json'), 'utf8'),
    temporary: ['/tmp', '/var/tmp', '/dev/shm'].filter((folder) =>
      existsSync(join(folder, process.env.MARK ?? '')),
    ),
    inside: readFileSync(join(cwd, 'inside'), 'utf8'),
  });

  before(async () => {
    for (const path of [
      '.ssh/id_rsa',
      '.aws/credentials',
      '.config/gcloud/token',
      '.config/coppice/keys.json',
      '.local/share/coppice/coppice.db',
    ])
      put(join(home, path), SECRET);
    put(join(home, '.bashrc'), '');
    put(join(hidden, 'file'), SECRET);
    lay();
    const server = await listen({ port: 0 });
    await listen({ path: '\0coppice-canary' });
    const { networkInterfaces } = await import('node:os');
    const connect = (address: string) =>
      `socket(S, 1, 1, 0) or die; connect(S, pack("S a*", 1, ${address})) or die; print <S>`;
    Object.assign(process.env, {
      HOME: home,
      OUTSIDE: outside,
      MARK: `coppice-mark-${process.pid}`,
      OTHER: String(other.pid),
      PORT: String((server.address() as { port: number }).port),
      ADDRESSES: Object.values(networkInterfaces())
        .flatMap((all = []) =>
          all.map(({ address, family }) => (family === 'IPv6' ? `[${address}]` : address)),
        )
        .join(' '),
      S: SECONDS,
      KEYCTL: process.arch === 'arm64' ? '219' : '250',
      UNIX: connect(`"${join(outside, 'socket')}\\0"`),
      ABSTRACT: connect('"\\0coppice-canary"'),
    });
  });
  after(() => {
    for (const server of servers) server.close();
    other.kill('SIGKILL');
    rmSync(place, { recursive: true, force: true });
    for (const name of Object.keys(process.env)) if (!(name in before_env)) delete process.env[name];
    Object.assign(process.env, before_env);
  });

  it('lets a command do its work: write in its folder and in a /tmp of the tree, commit, run programs', async () => {
    lay();
    const output = await run(
      'echo new > file && echo kept > /tmp/note && git add --all && git -c user.name=A -c user.email=a@b commit -qm one && git log --format=%s && node -e "console.log(6 * 7)" && id -un >/dev/null && echo done',
    );
    assert.match(output, /^one\n42\ndone\n$/);
    assert.equal(await run('cat /tmp/note; echo $TMPDIR'), 'kept\n/tmp\n');
    assert.equal(readFileSync(join(cwd, 'file'), 'utf8'), 'new\n');
    assert.equal(existsSync('/tmp/note'), false);
  });

  for (const [how, command] of Object.entries({ ...WRITES, ...GOVERNED }))
    it(`changes nothing outside, nor what governs later programs: ${how}`, async () => {
      lay();
      const was = surroundings();
      await run(command);
      assert.deepEqual(surroundings(), was);
    });

  for (const [how, command] of Object.entries(READS))
    it(`shows no secret: ${how}`, async () => {
      lay();
      assert.doesNotMatch(await run(command), new RegExp(SECRET));
    });

  for (const [how, command] of Object.entries(CONNECTIONS))
    it(`gives no connection: ${how}`, async () => {
      lay();
      const sockets = [join(outside, 'socket'), join(cwd, 'socket')];
      const own = await Promise.all(sockets.map((path) => listen({ path })));
      connections = 0;
      assert.doesNotMatch(await run(command), new RegExp(SECRET));
      assert.equal(connections, 0);
      for (const server of own) server.close();
    });

  for (const [how, command] of Object.entries(SURVIVORS))
    it(`ends with its call: ${how}`, async () => {
      lay();
      await run(command);
      assert.deepEqual(sleepers(), []);
    });

  it('creates nothing that governs where there is none, and leaves nothing behind', async () => {
    for (const command of [
      'mkdir -p .coppice; echo x > .coppice/config.json',
      'git init; echo x > .git/config',
      'rm -rf .coppice .git; mkdir .git .coppice && touch .git/config .coppice/config.json',
      'mv .coppice c; mv .git g; mkdir .git && touch .git/config',
      'echo "gitdir: ../outside" > .git',
    ]) {
      rmSync(cwd, { recursive: true });
      mkdirSync(cwd);
      await run(command);
      assert.deepEqual(
        readdirSync(cwd).filter((name) => name.startsWith('.')),
        [],
        command,
      );
    }
  });

  it('commits in a linked worktree, whose repository it reaches only if that repository names it', async () => {
    lay();
    const git = (...args: string[]) =>
      execFileSync('git', ['-C', outside, '-c', 'user.name=A', '-c', 'user.email=a@b', ...args], {
        encoding: 'utf8',
      });
    git('init', '--quiet');
    git('add', '--all');
    git('commit', '--quiet', '--message', 'first');
    rmSync(cwd, { recursive: true });
    git('worktree', 'add', '--quiet', cwd);
    const config = readFileSync(join(outside, '.git/config'), 'utf8');
    assert.match(
      await run(
        'echo x > new; git add new && git -c user.name=A -c user.email=a@b commit -qm second && git log --format=%s; git config core.fsmonitor x; echo x > "$OUTSIDE/.git/hooks/post-commit"; echo x > "$OUTSIDE/new"',
      ),
      /^second\nfirst\n/,
    );
    assert.equal(readFileSync(join(outside, '.git/config'), 'utf8'), config);
    assert.deepEqual(
      readdirSync(join(outside, '.git/hooks')).filter((name) => !name.endsWith('.sample')),
      [],
    );
    assert.equal(existsSync(join(outside, 'new')), false);
    // A different folder that claims to be the worktree.
    rmSync(cwd, { recursive: true });
    mkdirSync(cwd);
    git('worktree', 'prune');
    git('worktree', 'add', '--quiet', join(outside, 'tree'));
    writeFileSync(join(cwd, '.git'), `gitdir: ${join(outside, '.git/worktrees/tree')}\n`);
    await run('echo x > "$OUTSIDE/.git/refs/heads/evil"; echo x > "$OUTSIDE/.git/HEAD"');
    assert.equal(existsSync(join(outside, '.git/refs/heads/evil')), false);
    assert.match(readFileSync(join(outside, '.git/HEAD'), 'utf8'), /^ref: /);
  });

  it('works in a folder within a hidden one, as a worktree within the data folder', async () => {
    lay();
    const inner = join(hidden, 'coppice/worktrees/one');
    mkdirSync(inner, { recursive: true });
    const place_of_output = join(hidden, 'coppice/output/tree');
    const within = { ...context, cwd: inner, spill_dir: place_of_output };
    const command = `echo x > new; cat ${hidden}/file; ls -A ${hidden} ${hidden}/coppice; echo y > /tmp/y; cat ${place_of_output}/tmp/y; echo x > ${hidden}/z`;
    for (const sandbox of [
      testSandbox({ hidden: [hidden] }),
      testSandbox({ mode: 'strict', hidden: [hidden] }),
    ]) {
      const { output } = await call(createBashTool(sandbox) as Tool, { command, timeout: 20 }, within);
      assert.doesNotMatch(output, new RegExp(SECRET));
      assert.match(output, /coppice\n.*output\nworktrees\ny\n/s);
      assert.equal(readFileSync(join(inner, 'new'), 'utf8'), 'x\n');
      assert.deepEqual(readdirSync(hidden).toSorted(), ['coppice', 'file']);
    }
  });

  it('hides secrets that lie within the folder of the agent, as where that is the home folder', async () => {
    lay();
    const data = join(home, '.local/share/coppice');
    const output_folder = join(data, 'output/tree');
    const within = { ...context, cwd: home, spill_dir: output_folder };
    const command =
      'cat .ssh/id_rsa .local/share/coppice/coppice.db .config/coppice/keys.json; echo x > new; echo x > .ssh/x; cat .local/share/coppice/output/tree/seen';
    mkdirSync(output_folder, { recursive: true });
    writeFileSync(join(output_folder, 'seen'), 'output of before');
    for (const mode of ['workspace', 'strict'] as const) {
      const sandbox = testSandbox({
        mode,
        hidden: [data, join(data, 'coppice.db'), join(home, '.config/coppice')],
      });
      const { output } = await call(createBashTool(sandbox) as Tool, { command, timeout: 20 }, within);
      assert.doesNotMatch(output, new RegExp(SECRET));
      assert.match(output, /output of before/);
      assert.equal(readFileSync(join(home, 'new'), 'utf8'), 'x\n');
      assert.equal(existsSync(join(home, '.ssh/x')), false);
      rmSync(join(home, 'new'));
    }
    const open = createBashTool(testSandbox({ write: [join(home, '.aws')], hidden: [home] })) as Tool;
    const { output } = await call(
      open,
      { command: 'cat ~/.aws/credentials ~/.ssh/id_rsa; echo x > ~/.aws/x', timeout: 20 },
      context,
    );
    assert.match(output, new RegExp(`^${SECRET}cat: `));
    assert.equal(existsSync(join(home, '.aws/x')), true);
    rmSync(join(home, '.aws/x'));
  });

  it('passes on no descriptor that this program was started with', async () => {
    lay();
    const leaked = openSync(join(outside, 'leaked'), 'w');
    const script = `
import { createBashTool } from ${JSON.stringify(import.meta.resolve('../../../src/tools/bash.ts'))};
import { Sandbox } from ${JSON.stringify(import.meta.resolve('../../../src/processes/sandbox/sandbox.ts'))};
const none = { write: [], read: [], hidden: [], hosts: [] };
const tool = createBashTool(process.argv[1] === 'sandbox' ? new Sandbox({ mode: 'workspace', sockets: false, ...none }) : null);
const context = { cwd: ${JSON.stringify(cwd)}, spill_dir: ${JSON.stringify(context.spill_dir)}, agent: { root_id: '' }, env_allow: [], signal: new AbortController().signal, onOutput() {} };
const { output } = await tool.run({ command: 'for n in 3 4 5 12 37; do echo x >&$n && echo "to $n"; done' }, context);
console.log(output);`;
    const told = (how: string) =>
      execFileSync(process.execPath, ['--input-type=module-typescript', '-e', script, how], {
        encoding: 'utf8',
        stdio: [
          'ignore',
          'pipe',
          'ignore',
          ...Array.from({ length: 35 }, (_, at) => (at % 2 === 0 ? leaked : 'ignore') as number),
        ],
      });
    assert.match(told('bare'), /to 37/);
    assert.doesNotMatch(told('sandbox'), /to \d/);
    closeSync(leaked);
  });

  for (const sockets of [false, true])
    it(`keeps programs from the first process, which ends all others with the call${sockets ? ', with sockets' : ''}`, async () => {
      lay();
      const tool = createBashTool(testSandbox({ sockets })) as Tool;
      const [ptrace, process_vm_writev] = process.arch === 'arm64' ? [117, 271] : [101, 311];
      const attempt = (number: number | undefined, ...given: number[]) =>
        `perl -e 'print syscall(${[number, ...given].join(', ')}), " ", $! + 0, "\\n"';`;
      const output = await run(
        `${attempt(ptrace, 16, 1, 0, 0)} ${attempt(ptrace, 0x4206, 1, 0, 0)} ${attempt(process_vm_writev, 1, 0, 0, 0, 0, 0)} ${attempt(ptrace, 16, 999, 0, 0)} ${attempt(process_vm_writev, 999, 0, 0, 0, 0, 0)} ls -A /proc/1; (: >> /proc/1/mem) 2>/dev/null || echo kept; (: >> /proc/self/mem) && echo own; umount /proc/1 2>/dev/null; ls -A /proc/1`,
        tool,
      );
      const [refused, none, only] = ['-1 1', '-1 3', 'landlock'];
      assert.deepEqual(output.trimEnd().split('\n'), [
        ...[refused, refused, refused, none, '0 0', only, 'kept', 'own', only],
      ]);
    });

  it('strict: of the file system only programs and the workspace are there', async () => {
    lay();
    const strict = createBashTool(testSandbox({ mode: 'strict' })) as Tool;
    const output = await run(
      'cat "$OUTSIDE/file" ~/.bashrc ~/.ssh/id_rsa; cat inside; echo x > new; git --version; ls /home /srv /var',
      strict,
    );
    assert.doesNotMatch(output, /theirs|canary/);
    assert.match(output, /minegit version/);
    assert.equal(readFileSync(join(cwd, 'new'), 'utf8'), 'x\n');
    assert.match(
      await run(
        'cat "$OUTSIDE/file"',
        createBashTool(testSandbox({ mode: 'strict', read: [outside] })) as Tool,
      ),
      /theirs/,
    );
  });

  it('opens what the configuration opens: further folders, and sockets', async () => {
    lay();
    const open = createBashTool(testSandbox({ write: [outside], sockets: true })) as Tool;
    const server = await listen({ path: join(outside, 'socket') });
    assert.doesNotMatch(await run(`perl -e 'print syscall(${process.env.KEYCTL}, 0, -3, 0)'`, open), /^\d/);
    assert.match(
      await run('echo x > "$OUTSIDE/new"; curl -s -m 5 --unix-socket "$OUTSIDE/socket" http://x/', open),
      new RegExp(SECRET),
    );
    server.close();
    assert.equal(readFileSync(join(outside, 'new'), 'utf8'), 'x\n');
  });

  it('gives a way to the hosts that are allowed, by a proxy, and to no other', async () => {
    lay();
    const port = process.env.PORT;
    const some = createBashTool(testSandbox({ hosts: [`127.0.0.1:${port}`] })) as Tool;
    assert.match(some.spec.description, /HTTP and HTTPS to 127\.0\.0\.1:\d+ only/);
    const ask = (more: string, to = '127.0.0.1:$PORT') =>
      run(`curl -s -m 5 --noproxy "" ${more} http://${to}/`, some);
    assert.match(await ask(''), new RegExp(SECRET));
    assert.match(await ask('--proxytunnel'), new RegExp(SECRET));
    assert.match(await ask('', 'localhost:$PORT'), /the sandbox does not allow localhost:/);
    assert.match(await ask('', '127.0.0.1:1'), /the sandbox does not allow 127.0.0.1:1/);
    assert.doesNotMatch(await ask('--proxytunnel', '127.0.0.2:$PORT'), new RegExp(SECRET));
    assert.match(
      await run('curl -s -m 5 --proxytunnel http://example.invalid/ && echo reached; echo done', some),
      /^done\n$/,
    );
    // An allowed server of this machine is also reached without the proxy, as programs usually do for local addresses.
    assert.match(
      await run(
        'curl -s -m 5 --noproxy "*" http://127.0.0.1:$PORT/; curl -s -m 5 http://localhost:$PORT/',
        some,
      ),
      new RegExp(`${SECRET}\n${SECRET}`),
    );
    connections = 0;
    const another = createBashTool(testSandbox({ hosts: ['127.0.0.1:1', 'localhost'] })) as Tool;
    for (const command of Object.values(CONNECTIONS)) await run(command, another);
    assert.equal(connections, 0);
  });

  it('the attacks would do harm without it', async () => {
    const bare = createBashTool(null) as Tool;
    for (const how of [
      'by a relative path',
      'through a link to a file',
      'by moving it in',
      'by cutting it',
      'by tar',
    ] as const) {
      lay();
      const was = surroundings();
      await run(WRITES[how], bare);
      assert.notDeepEqual(surroundingsOrGone(), was, how);
    }
    lay();
    for (const how of [
      'a private key',
      'by searching',
      'what the configuration hides',
      'environments of other processes',
    ] as const)
      assert.match(await run(READS[how], bare), new RegExp(SECRET), how);
    const own = await listen({ path: join(outside, 'socket') });
    for (const how of ['a program', 'a socket of the file system', 'a socket without a file'] as const)
      assert.match(await run(CONNECTIONS[how], bare), new RegExp(SECRET), how);
    own.close();
    // Without its environment alone, it is found by its limits.
    await run(`ulimit -m unlimited; ${SURVIVORS['without an environment']}`, bare);
    assert.notDeepEqual(sleepers(), []);
    for (const pid of sleepers()) process.kill(pid, 'SIGKILL');
  });

  function surroundingsOrGone(): unknown {
    try {
      return surroundings();
    } catch {
      return null;
    }
  }
});

function sleepers(): number[] {
  return readdirSync('/proc').flatMap((pid) => {
    if (!/^\d+$/.test(pid)) return [];
    try {
      const [program, seconds] = readFileSync(`/proc/${pid}/cmdline`, 'latin1').split('\0');
      return program?.endsWith('sleep') && seconds === SECONDS ? [Number(pid)] : [];
    } catch {
      return [];
    }
  });
}
