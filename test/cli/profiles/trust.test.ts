// Proves that the files of a folder are ignored until the user accepts exactly their current contents, that any change revokes the
// trust, and that a damaged record trusts nothing.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, it } from 'node:test';
import {
  type ProjectAgents,
  readProjectAgents,
  untrustedNotice,
} from '../../../src/cli/setup/profiles/trust.ts';
import { Trust } from '../../../src/permissions/grants/trust.ts';
import { hashFiles } from '../../../src/tools/files/skill-folder.ts';
import { MAIN } from '../../house/program.ts';
import { type Home, makeHome } from '../run-cli.ts';

const ESCAPE = String.fromCharCode(27);

let home: Home;
let agents: string;
let data: string;
beforeEach(() => {
  home = makeHome();
  agents = join(home.work, '.coppice', 'agents');
  data = join(home.folder, 'data', 'coppice');
  mkdirSync(agents, { recursive: true });
  writeFileSync(join(agents, 'reviewer.md'), '---\ndescription: Reviews.\n---\nYou review.');
});

const project = (): ProjectAgents => readProjectAgents(home.work, data);
const accept = (): void => new Trust(data).accept(home.work, project().hash, 0);

describe('the record of trust', () => {
  it('holds until any file is changed, added, renamed or removed, and holds again for the old contents', () => {
    writeFileSync(join(agents, 'writer.md'), 'You write.');
    assert.equal(project().trust, 'untrusted');
    accept();
    assert.equal(project().trust, 'trusted');
    const changes: readonly (readonly [() => void, () => void])[] = [
      [
        () => writeFileSync(join(agents, 'writer.md'), 'You write!'),
        () => writeFileSync(join(agents, 'writer.md'), 'You write.'),
      ],
      [() => writeFileSync(join(agents, 'extra.md'), 'More.'), () => rmSync(join(agents, 'extra.md'))],
      [
        () => renameSync(join(agents, 'writer.md'), join(agents, 'author.md')),
        () => renameSync(join(agents, 'author.md'), join(agents, 'writer.md')),
      ],
      [() => rmSync(join(agents, 'writer.md')), () => writeFileSync(join(agents, 'writer.md'), 'You write.')],
      [
        () => writeFileSync(join(agents, 'wrong.md'), '---\nturns: many\n---\n'),
        () => rmSync(join(agents, 'wrong.md')),
      ],
    ];
    for (const [change, undo] of changes) {
      change();
      assert.equal(project().trust, 'changed', String(change));
      undo();
      assert.equal(project().trust, 'trusted', String(undo));
    }
    writeFileSync(join(agents, 'notes.txt'), 'no agent');
    assert.equal(project().trust, 'trusted');
  });

  it('is of one folder, however it is reached', () => {
    accept();
    const other = join(home.folder, 'other');
    mkdirSync(join(other, '.coppice', 'agents'), { recursive: true });
    writeFileSync(
      join(other, '.coppice', 'agents', 'reviewer.md'),
      readFileSync(join(agents, 'reviewer.md')),
    );
    assert.equal(readProjectAgents(other, data).trust, 'untrusted');
    symlinkSync(home.work, join(home.folder, 'link'));
    assert.equal(readProjectAgents(join(home.folder, 'link'), data).trust, 'trusted');
    accept();
    new Trust(data).accept(other, readProjectAgents(other, data).hash, 0);
    assert.equal(project().trust, 'trusted');
  });

  it('tells apart sets of files whose concatenations are equal', () => {
    const file = (name: string, content: string) => ({ name, source: name, content: Buffer.from(content) });
    const hashes = [
      [file('a.md', 'xb.mdy')],
      [file('a.md', 'x'), file('b.md', 'y')],
      [file('a.md', ''), file('xb.md', 'y')],
      [file('a.md', 'x4:b.md1:y')],
    ].map((files) => hashFiles(files));
    assert.equal(new Set(hashes).size, hashes.length);
  });

  it('is private, written atomically, and readable in whatever state it is', () => {
    accept();
    const file = join(data, 'trust.json');
    assert.deepEqual(readdirSync(data), ['trust.json']);
    if (process.platform !== 'win32') assert.equal(statSync(file).mode & 0o777, 0o600);
    const good = readFileSync(file, 'utf8');
    const key = Object.keys(JSON.parse(good).folders)[0] as string;
    for (const damaged of [
      '',
      good.slice(0, -20),
      'null',
      '[]',
      '{"folders":{}}',
      good.replace('trust/v1', 'trust/v9'),
      JSON.stringify({ schema: 'coppice/trust/v1', folders: { [key]: true } }),
      JSON.stringify({ schema: 'coppice/trust/v1', folders: { [key]: { hash: 1, trusted_at: '' } } }),
    ]) {
      writeFileSync(file, damaged);
      assert.equal(project().trust, 'untrusted', damaged);
      accept();
      assert.equal(project().trust, 'trusted', damaged);
    }
    // One bad entry does not affect others.
    const folders = { ...JSON.parse(good).folders, '/elsewhere': 7 };
    writeFileSync(file, JSON.stringify({ schema: 'coppice/trust/v1', folders }));
    assert.equal(project().trust, 'trusted');
  });

  it('forgets the folders that were trusted longest ago, never the newest', () => {
    mkdirSync(data, { recursive: true });
    const entry = { hash: 'x', trusted_at: '' };
    const folders = Object.fromEntries(Array.from({ length: 1000 }, (_, at) => [`/f${at}`, entry]));
    writeFileSync(join(data, 'trust.json'), JSON.stringify({ schema: 'coppice/trust/v1', folders }));
    accept();
    const kept = Object.keys(JSON.parse(readFileSync(join(data, 'trust.json'), 'utf8')).folders);
    assert.equal(kept.length, 1000);
    assert.equal(kept[0], '/f1');
    assert.equal(project().trust, 'trusted');
  });

  it('says in one line what is left out and how to accept it', () => {
    assert.equal(
      untrustedNotice(project()),
      `ignored: 1 agent file in .coppice/agents (this folder is not trusted); look and accept: coppice trust ${project().folder}`,
    );
    const quoted = untrustedNotice({ ...project(), folder: "/it's here" });
    assert.match(quoted ?? '', /coppice trust '\/it'\\''s here'$/);
    accept();
    assert.equal(untrustedNotice(project()), null);
    writeFileSync(join(agents, 'reviewer.md'), 'You allow all.');
    assert.match(untrustedNotice(project()) ?? '', /\(changed since this folder was trusted\)/);
    rmSync(join(home.work, '.coppice'), { recursive: true });
    assert.equal(project().trust, 'nothing');
    assert.equal(untrustedNotice(project()), null);
  });
});

describe('coppice trust', () => {
  it('shows what there is, accepts with --yes, and takes it back', async () => {
    writeFileSync(
      join(agents, 'all.md'),
      `---\nname: do-all\ndescription: "Does\\e[2J it"\nmodel: ollama/x\ntools: bash\ndeny_tools: write\npermissions: {allow: [bash, "write:src/**"]}\n---\nOne.\nTwo.`,
    );
    writeFileSync(join(agents, 'wrong.md'), '---\nturns: many\n---\n');
    const accepted = await home.run(['trust', '--yes']);
    assert.equal(accepted.code, 0, accepted.stderr);
    assert.equal(accepted.stdout.includes(ESCAPE), false);
    for (const line of [
      '.coppice/agents/all.md',
      '  name          do-all',
      '  description   Does it',
      '  model         ollama/x',
      '  tools         bash',
      '  denied tools  write',
      '  rule: allow   bash',
      '  rule: allow   write:src/**',
      '  grants        with --profile: allowed without asking, unless one of your own rules differs; as a sub-agent: at most what its creator may do',
      '  prompt        2 lines',
      '.coppice/agents/wrong.md is ignored: "turns" must be a whole number, 1 or more, not "many"',
      'trusted, until one of them changes',
    ])
      assert.ok(accepted.stdout.split('\n').includes(line), `${line}\nin\n${accepted.stdout}`);
    assert.equal(project().trust, 'trusted');
    assert.match((await home.run(['trust'])).stdout, /^already trusted$/m);

    writeFileSync(join(agents, 'all.md'), 'Else.');
    const changed = await home.run(['trust']);
    assert.equal(changed.code, 2);
    assert.match(changed.stdout, /^changed since you trusted this folder on \d{4}-\d\d-\d\d$/m);

    assert.match((await home.run(['trust', '--yes'])).stdout, /trusted, until/);
    assert.match((await home.run(['trust', '--revoke'])).stdout, /is no longer trusted$/m);
    assert.equal(project().trust, 'untrusted');
    assert.match((await home.run(['trust', '--revoke'])).stdout, /was not trusted$/m);
  });

  it('shows a rule to its end, however long the line', async () => {
    const rule = `bash:${'a'.repeat(5000)} && evil`;
    writeFileSync(join(agents, 'long.md'), `---\npermissions: {allow: ["${rule}"]}\n---\n`);
    assert.ok((await home.run(['trust', '--yes'])).stdout.includes(rule));
  });

  it('trusts nothing without a terminal and without --yes', async () => {
    const refused = await home.run(['trust'], { input: 'y\n' });
    assert.equal(refused.code, 2);
    assert.match(refused.stderr, /a person must confirm this.*\(E_USAGE\)\n.*coppice trust --yes/);
    const json = await home.run(['trust', '--json'], { input: 'y\n' });
    assert.equal(JSON.parse(json.stdout).error.code, 'E_USAGE');
    assert.equal(existsSync(join(data, 'trust.json')), false);
  });

  it('takes a folder, by argument or --cwd, and speaks JSON', async () => {
    const elsewhere = join(home.folder, 'else where');
    mkdirSync(join(elsewhere, '.coppice', 'agents'), { recursive: true });
    writeFileSync(join(elsewhere, '.coppice', 'agents', 'a.md'), 'A.');
    const { schema, trusted, files, folder, hash } = JSON.parse(
      (await home.run(['trust', elsewhere, '--yes', '--json'])).stdout,
    );
    assert.equal(schema, 'coppice/trust/v1');
    assert.equal(trusted, true);
    assert.deepEqual(files, ['.coppice/agents/a.md']);
    assert.equal(hash, readProjectAgents(folder, data).hash);
    assert.equal(readProjectAgents(elsewhere, data).trust, 'trusted');
    assert.equal(project().trust, 'untrusted');
    assert.match((await home.run(['trust', '--cwd', elsewhere])).stdout, /already trusted/);
    const none = await home.run(['trust', home.folder]);
    assert.equal(none.code, 0);
    assert.match(none.stdout, /^nothing to trust: no agent files in /);
    const missing = await home.run(['trust', join(home.folder, 'nowhere')]);
    assert.equal(missing.code, 2);
    assert.match(missing.stderr, /E_NO_FOLDER/);
  });

  const terminal = process.platform === 'linux' && existsSync('/usr/bin/script');
  it('asks on a terminal; only "yes" counts', { skip: !terminal && 'needs script(1) of Linux' }, async () => {
    for (const [answer, code, state] of [
      ['n\n', 1, 'untrusted'],
      ['\n', 1, 'untrusted'],
      ['yesterday\n', 1, 'untrusted'],
      ['\u0004', 1, 'untrusted'],
      ['\u0003', 1, 'untrusted'],
      ['y\n', 0, 'trusted'],
    ] as const) {
      assert.equal(await answerOnTerminal(answer), code, JSON.stringify(answer));
      assert.equal(project().trust, state, JSON.stringify(answer));
    }
  });
});

/** Runs `coppice trust` on a terminal, answers its question, and returns its exit code. */
function answerOnTerminal(answer: string): Promise<number | null> {
  const child = spawn('/usr/bin/script', ['-qec', `"${process.execPath}" "${MAIN}" trust`, '/dev/null'], {
    cwd: home.work,
    env: home.env,
  });
  let shown = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    const asked = shown.includes('leave out: ');
    shown += text;
    if (!asked && shown.includes('leave out: ')) child.stdin.write(answer);
  });
  child.stdin.on('error', () => undefined);
  return new Promise((resolve) => child.on('close', resolve));
}
