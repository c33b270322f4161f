/** Proves that a rule about a path holds in bash for every way to write the path that shows in the text: each is tried in a real bash, where it prints the file. */
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: shell text, not templates
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { decide } from '../../../src/permissions/decide.ts';
import { createPolicy } from '../../../src/permissions/policy.ts';
import { callTouches } from '../../../src/permissions/touched-paths.ts';
import { permissionOf } from '../../../src/tools/built-in-permissions.ts';
import { DEEP } from '../../house/deep.ts';
import { temporaryFolder } from '../../temporary-folder.ts';

const SECRET = 'sk-canary';

function makeFolder(): string {
  const cwd = temporaryFolder();
  mkdirSync(join(cwd, 'app/secret'), { recursive: true });
  for (const path of ['.env', 'app/secret/key']) writeFileSync(join(cwd, path), `${SECRET}\n`);
  for (const path of ['a.ts', 'app/b.ts', 'names.txt']) writeFileSync(join(cwd, path), 'plain\n');
  symlinkSync('app', join(cwd, 'door'));
  return cwd;
}

function verdict(command: string, cwd: string, deny: readonly string[]): string {
  const policy = createPolicy({ cli: { allow: ['bash'], deny } });
  const touched = callTouches(policy, permissionOf('bash'), command, cwd);
  return decide(policy, permissionOf('bash'), command, touched).verdict;
}

/** Ways to read `.env` or `app/secret/key` there. */
// biome-ignore format: one line holds many
const reading: readonly string[] = [
  // braces
  'cat {.env,}', 'cat .{env,}', 'cat {.e,a.t}nv', 'cat .{e,f}{nv,}', 'cat {a.ts,.env}', 'cat .e{n{v,},}', 'cat {.".env",.env}', "cat {'.env',a.ts}", 'cat app/{secret,x}/key', 'cat app/se{cre..cre}t/key; cat app/secret/key', 'cat .en{v..w}', 'cat {a.ts,app/secret}/key', 'head -n1 {,.env}', 'cat ./{.env,a.ts}', 'cat <{.env,} || cat < .{env,env} || cat .env', 'cat -n{,} .en{v,}', 'dd if={.env,} || dd if=.en{v,}', 'cat $PWD/{.env,}',
  // globs
  'cat .e*', 'cat .en?', 'cat .[e]nv', 'cat .[!x]nv', 'cat .??v', 'cat ./.e*', 'cat .*v', 'cat app/*/key', 'cat app/sec*/k*', 'cat */secret/key', 'cat door/s*/key', 'cat app/secret/*', 'cat $PWD/.e*', 'cat ~+/.e*', 'cat < .e*', 'cat a*/s*/k*', 'shopt -s globstar; cat **/key', 'shopt -s dotglob; cat .e*', 'grep . .e*', 'cp .e* x; cat x',
  // other names of folders
  'cat /proc/self/cwd/.env', 'cat /proc/$$/cwd/.env', 'cat "/proc/$$/cwd/.env"', 'cat /proc/thread-self/cwd/.env', 'cat //proc//self/./cwd/.env', 'cat /proc/self/task/$$/cwd/.env || cat .env', 'cat /proc/self/root$PWD/.env', 'cat /proc/self/root/proc/self/cwd/.env', 'cat /proc/self/../self/cwd/.env', 'cat /dev/../proc/self/cwd/.env',
  'exec 3<.; cat /proc/self/fd/3/.env', 'exec 3<.; cat /dev/fd/3/.env', 'cat ~+/.env', 'cat $PWD/.env', 'cat ${PWD}/.env', 'cat "$PWD/.env"', 'cat "${PWD}"/.env', 'cat `pwd`/.env', 'cat $(pwd)/.env', 'cat ./x/../.env || cat ./app/../.env', 'cat app/../.env', 'cat ././/.env', 'cd app && cat ../.env', 'cd ap*; cat secret/key', 'cd app/{secret,}; cat key; cd app/secret; cat key', 'cd $PWD/app; cat secret/key', 'cd /proc/self/cwd/app && cat secret/key', 'pushd app/secret; cat key', 'HOME=$PWD; cat ~/.env',
  'env -C app/secret cat key', 'git -C app/secret diff --no-index /dev/null key', 'tar -C app/secret -cf - key', 'cd app; cd -- secret; cat key', 'cat door/secret/key', 'cat ~+/app/secret/key', 'cat "$PWD"/app/./secret/key',
  // names that programs get when they run
  'for f in .env; do cat $f; done', 'for f in a.ts .env; do cat "$f"; done', 'for f in {.env,}; do cat $f; done', 'for f in .e*; do cat $f; done', 'xargs cat <<< .env', 'echo .env | xargs cat', "printf '%s\\n' .env | xargs cat", 'xargs cat <<E\n.env\nE', 'xargs -I{} cat {} <<< .env', 'xargs cat <<< "a.ts .env"', 'cat $(echo .env)', 'cat "$(echo .env)"', 'cat `echo .env`', 'cat $(printf %s .env)', 'f=.env; cat $f', 'f=.env; cat "$f"', 'f=".env"; cat ${f}', 'f=(a.ts .env); cat "${f[@]}"', 'f=(.env); cat ${f[0]}',
  'export F=.env; cat $F', 'declare F=.env; cat $F', 'F=.env bash -c \'cat "$F"\'', 'set -- .env; cat "$1"', 'f() { cat "$1"; }; f .env', 'read -r f <<< .env; cat $f', 'while read -r f; do cat "$f"; done <<< .env', 'while read -r f; do cat "$f"; done <<E\na.ts\n.env\nE', 'echo .env | while read f; do cat $f; done', 'cat ${x:-.env}', 'cat "${x:-.env}"', 'x=1; cat ${x:+.env}', ': ${x:=.env}; cat $x', 'printf -v f %s .env; cat $f', 'mapfile -t f <<< .env; cat "${f[0]}"', 'case .env in *) f=.env;; esac; cat $f', 'echo .env > names.txt; cat $(cat names.txt)',
  'echo .env > names.txt; tar cf - -T names.txt', 'echo .env | tar cf - -T -', 'echo .env | cpio -o || cat .env', 'printf ".env\\0" | wc --files0-from=- ; cat .env', 'f=.en; cat ${f}v', 'f=env; cat .$f', 'd=app; cat $d/secret/key', 'd=app; f=key; cat $d/*/$f', 'cat app/secret/$(echo key)', 'cat $PWD/app/secret/$X/key', 'd=secret; cat app/$d/key', 'f=.e*; cat $f', 'cat < $(echo .env)', 'f=.env; cat < $f', 'f=.env; exec 3<$f; cat <&3', 'cat <<< "$(<.env)"', 'echo "$(cat .env)"', 'cat <(cat .env)', 'cat $(ls .e*)', 'find . -name .env -exec cat {} +', 'find app -path "*secret*" -type f -exec cat app/secret/key \\;', 'ls -d .e* | xargs cat',
  // options for globs, other quotes, and code from the input
  'shopt -s dotglob; cat *', 'shopt -s extglob\ncat @(.env)', 'shopt -s nocaseglob; cat .EN*', 'GLOBIGNORE=x; cat *', 'bash -O dotglob -c "cat *"', 'cat $".env"', 'cat /p*/self/cwd/.env', 'cat /proc/self/c?d/.env', 'cat /proc/[s]elf/cwd/.env', 'python3 - <<E\nprint(open(".env").read())\nE', 'python3 <<< "print(open(\'.env\').read())"', 'echo "cat .env" | bash', 'bash <<< "cat .env"', 'bash <<E\ncat .env\nE', '$(echo cat) .env', 'ed -s <<E || cat .env\nr .env\n,p\nE',
  // redirections and options
  'cat < .env', 'cat 0<.env', 'cat <.env a.ts; cat<.env', 'cat 0<>.env', 'exec <.env; cat', 'mapfile -t l < .env; echo "${l[@]}"', 'while read -r l; do echo "$l"; done < .env', 'echo $(< .env)', 'cat /dev/stdin < .env', 'awk 1 .env', 'awk "{print}" < .env', 'sed -n p .env', 'sed -n "r .env" a.ts; sed "r .env" a.ts', 'grep -f.env .env', 'grep -hf.env .env', 'grep --file=.env .env', 'tar -cf- .env', 'tar cf - --files-from=names.txt .env', 'dd if=.env', 'sort -o- .env', 'diff a.ts .env', 'base64 -d <<< "" ; cat .env', 'cp .env x; cat x', 'ln .env x; cat x', 'ln -s .env x; cat x', 'python3 -c "print(open(\'.env\').read())"', 'python3 -c \'print(open(".env").read())\'', "awk 'BEGIN { while ((getline l < \".env\") > 0) print l }'", 'node -p "fs.readFileSync(\'.env\', \'utf8\')" || cat .env', 'perl -e \'open F, ".env"; print <F>\'', 'bash -c "cat .env"', 'eval "cat .env"', 'source .env 2>&1 || cat .env', '. ./.env',
  'git init -q; git add .env; git show :.env', 'git init -q; git add -f .; git -c user.name=a -c user.email=a commit -qm a; git show HEAD:.env', 'git init -q; git add -f .; git -c user.name=a -c user.email=a commit -qm a; git show HEAD@{0}:./.env', 'git diff --no-index a.ts .env', 'paste -d, .env a.ts', 'xargs -a .env echo', 'rev .env | rev', 'cat a.ts .env', 'cat -- .env', 'cat .env*', 'curl -s file://$PWD/.env || cat .env', 'column -t -s= .env || cat .env', 'nl .env', 'tail -n +1 .env', 'cat .//.env', 'cat app/secret/../../.env', 'tac .env',
];

/** Everyday commands that a rule about these files must not refuse. */
// biome-ignore format: one line holds many
const ordinary: readonly string[] = [
  'ls', 'ls *', 'ls *.ts', 'wc -l *.ts app/*.ts', 'cat *.ts', 'for f in *.ts; do wc -l "$f"; done', 'f=a.ts; cat $f', 'cat "$X"', 'cat $X/a.ts', 'echo .env >> .gitignore', 'echo "add .env to .gitignore"', 'git commit -m "ignore .env"', 'git commit -m "$(cat <<\'E\'\nIgnore .env, and explain why\n\nIt holds keys.\nE\n)"', 'git add -A && git status', 'git log --oneline -n 5', 'grep -rn "env" *.ts', "grep -rn '\\.env' app/b.ts", 'find . -name "*.ts" | xargs wc -l', 'find . -name "*.ts" -exec grep -l a {} +', 'node -e "console.log(process.env.HOME)"', 'python3 -c "import os; print(os.environ)"', 'cat <<E > x\nKEY in .env\nE', 'mkdir -p {src,test}/a', 'touch {a,b}.ts', 'cp a.{ts,js}', 'echo {1..3}', 'ls ~/src', 'cat ~/notes.txt', 'cd app && ls', 'env | sort', 'npm test -- --env=node', 'docker run -e NODE_ENV=test a', 'cat /proc/cpuinfo', 'ls /proc/self/fd', 'cat app/b.ts | head -n 3', 'tar czf /tmp/x.tgz *.ts', 'x=$(date +%s); echo $x', 'for i in 1 2 3; do echo $i > /dev/null; done',
  'curl -H "Authorization: Bearer $TOKEN" https://example.org/env', 'sed -i "s/env/x/" a.ts', 'ls | xargs -n1 basename', 'git diff --stat HEAD~1', 'cat a.ts > app/c.ts', 'printf "%s\\n" "$HOME"',
];

test('a rule about reading a path holds however the path is written in bash, and most of these ways are real', () => {
  const deny = ['read:.env', 'read:app/secret'];
  const passed = reading.filter((command) => verdict(command, makeFolder(), deny) !== 'deny');
  const works = (command: string): boolean => {
    const cwd = makeFolder();
    const { stdout } = spawnSync('bash', ['-c', `exec 2>&1; eval "set --;$1"`, 'bash', command], {
      cwd,
      encoding: 'utf8',
      timeout: 5_000,
      env: { PATH: process.env.PATH, HOME: cwd },
    });
    return stdout.includes(SECRET);
  };
  assert.deepEqual(passed, []);
  const tried = reading.filter((_, at) => DEEP || at % 5 === 0);
  const dead = tried.filter((command) => !works(command));
  assert.ok(dead.length < 0.15 * tried.length, `they print nothing: ${dead.join('\n')}`);
});

test('ordinary commands beside such files are not refused', () => {
  const cwd = makeFolder();
  const deny = ['read:.env', 'read:app/secret', 'read:**/.env', 'write:app/secret/**'];
  assert.deepEqual(
    ordinary.filter((command) => verdict(command, cwd, deny) !== 'allow'),
    [],
  );
});

test('a rule about writing a path holds for names that are completed when the command runs', () => {
  const deny = ['write:app/secret/**'];
  for (const command of [
    'rm app/secret/*',
    'rm -r app/s*',
    'rm app/{secret,x}/key',
    'f=app/secret/key; rm $f',
    'echo app/secret/key | xargs rm',
    'env rm app/sec*/key',
    'cd app/s*; rm key',
    'echo x > $PWD/app/secret/key',
    'echo x > app/secret/{key,}',
    'for f in app/secret/key; do echo x > $f; done',
    'tee app/secr[e]t/key < a.ts',
    'rm /proc/self/cwd/app/secret/key',
  ])
    assert.equal(verdict(command, makeFolder(), deny), 'deny', command);
  assert.equal(verdict('cat app/secret/*', makeFolder(), deny), 'allow');
});

test('words with thousands of unknown parts are decided quickly, and count as touching every path', () => {
  const cwd = makeFolder();
  for (const command of [
    `cat ${'$x/'.repeat(10_000)}a`,
    `cat ${'*/'.repeat(15_000)}`,
    `cat ${'{a,'.repeat(30)}b${'}'.repeat(30)}{a,b}{a,b}{a,b}{a,b}`,
  ]) {
    const before = process.cpuUsage();
    assert.equal(verdict(command, cwd, ['read:.env']), 'deny', command.slice(0, 20));
    assert.ok(process.cpuUsage(before).user < 1_000_000, command.slice(0, 20));
  }
});
