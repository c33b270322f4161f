/** Proves what rules see of a command: every nested command that it runs, word for word, and whether anything is hidden. */
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: shell text, not templates
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { analyseCommand } from '../../../src/permissions/shell/analyse-command.ts';

/**
 * `TEXT => COMMAND | COMMAND`: the nested commands that the one command of TEXT runs; `?` at the end means that something is hidden. Among the words,
 * `…` stands for any number of words, `¿` for an unknown part of a word.
 */
// biome-ignore format: one line holds many
const rows = [
  // sudo, env and other wrappers
  'sudo rm x => rm x', 'sudo -n -u a rm x => rm x', 'sudo --user a --set-home rm x => rm x', 'sudo --user=a rm x => rm x', 'sudo --preserve-env rm x => rm x',
  'sudo --preserve-env=A rm x => rm x', 'sudo A=1 rm x => rm x', 'sudo PAGER=a rm x => a | rm x', 'sudo -i rm x => ?', 'sudo --login rm x => ?', 'sudo $a rm x => ?', 'sudo -u $a rm x => ?',
  'sudo -u "$a" rm x => rm x', 'sudo "$a" rm x => ?', 'sudo -- rm x => rm x', 'sudo -u => ?', 'sudo => ', 'sudo --user => ?', 'sudo --user $a rm x => ?', 'sudo $a=1 rm x => ?', 'sudo "ab$a"=1 rm x => rm x ?',
  'sudo A=1$a rm x => ?', 'sudo -A$a rm x => ?', 'doas -n -u a rm x => rm x', 'env -i -u A B=1 rm x => rm x', 'env - rm x => rm x', 'env -0 => ', 'env -C a --unset b --null c => c', 'env -S a => ?',
  'env LD_PRELOAD=a rm x => rm x ?', 'env -- A=1 rm x => rm x', 'env --debug -v rm x => rm x', 'env NODE_OPTIONS=--max-old-space-size=9 a => a', 'env NODE_OPTIONS=--import=b a => a ?',
  'env NODE_OPTIONS="$b" a => a ?', 'nohup rm x => rm x', 'setsid -cfw rm x => rm x', 'setsid --wait rm x => rm x', 'nice -5 rm x => rm x', 'nice -n 5 rm x => rm x', 'nice -n5 rm x => rm x',
  'nice --adjustment 5 rm x => rm x', 'ionice -t -c 2 -n 7 rm x => rm x', 'ionice --ignore --class 2 rm x => rm x', 'chrt -f 1 rm x => rm x', 'chrt --fifo -T 9 1 rm x => rm x',
  'taskset -a 1 rm x => rm x', 'taskset -c 0 rm x => rm x', 'taskset --all-tasks 1 rm x => rm x', 'stdbuf -o L -eL rm x => rm x', 'stdbuf --output L rm x => rm x',
  'timeout 5 rm x => rm x', 'timeout -f -k 1 -s KILL 5 rm x => rm x', 'timeout --foreground --kill-after 1 5 rm x => rm x', 'timeout -k => ?', 'timeout $a rm x => ?', 'timeout "$a" rm x => ?', 'timeout "50$a" rm x => rm x',
  '\\time -p -o f rm x => rm x', '\\time --append --format f rm x => rm x', 'flock -n l rm x => rm x', 'flock -w 1 l rm x => rm x', 'flock --nonblock --wait 1 l rm x => rm x', "flock l -c 'rm x' => rm x",
  "flock -c 'rm x' l => rm x", "flock -n l -c \"$a\" => ?", 'flock l -n rm x => ?', 'flock l -c => ?', 'linux64 -R rm x => rm x', 'linux64 --addr-no-randomize rm x => rm x', 'linux64 => ?', 'i386 rm x => rm x',
  'prlimit -n100 rm x => rm x', 'prlimit --verbose --nofile=9 --cpu rm x => rm x', 'unshare -r rm x => rm x', 'unshare -m --fork --root a rm x => rm x', 'unshare => ?', 'unshare -R a -S 0 rm x => rm x',
  'nsenter -t 1 -a rm x => rm x', 'nsenter --target 1 --no-fork --mount rm x => rm x', 'nsenter -mfile rm x => rm x', 'nsenter -t 1 => ?', 'chroot a rm x => rm x', 'chroot --skip-chdir --groups a b rm x => rm x', 'chroot a => ?',
  "script -c 'rm x' f => rm x", "script -aqc 'rm x' f => rm x", "script f -c 'rm x' => rm x", 'script -q --log-out a f => ?', 'script f => ?', "script --flush -T a -c 'rm x' => rm x",
  "watch -n 1 'rm x' => rm x", 'watch -b rm x => rm x', 'watch --interval 1 --differences rm x => rm x', 'watch --differences=a --color "rm x; ls" => rm x | ls', "watch \"$a\" => ?", 'strace -f -e a rm x => rm x',
  'ltrace -c -o f rm x => rm x', 'busybox rm x => rm x', 'command -p rm x => rm x', 'command -v rm => ', 'command -pV rm => ', 'exec -c -a n rm x => rm x', 'exec -l rm x => rm x', 'npx -y -p a b c => b c',
  'npx --yes --package a b => b', 'npx -c b => ?', 'bunx --bun a => a', 'uvx -q --from a b => b', 'uvx --quiet -p a b => b', 'uvx --with a b => b',
  'xargs => echo …', 'xargs -0 -n 1 rm => rm …', 'xargs -r --null --max-args 1 rm => rm …', 'xargs -I% mv % b => mv … b …', 'xargs -I % mv a% b => mv a… b …', 'xargs -i rm {} => rm … …', 'xargs -i% rm % {} => rm … {} …',
  'xargs -ri rm {} => rm … …', 'xargs -l rm => rm …', 'xargs -e rm {} => rm {} …', 'xargs --max-lines --eof rm => rm …', 'xargs --replace rm => ?', 'xargs -J % mv % b => mv … b …',
  'nice nice nice nice nice nice nice nice nice nice nice nice a => nice nice nice nice nice nice nice nice nice nice nice a | nice nice nice nice nice nice nice nice nice nice a | nice nice nice nice nice nice nice nice nice a | nice nice nice nice nice nice nice nice a | nice nice nice nice nice nice nice a | nice nice nice nice nice nice a | nice nice nice nice nice a | nice nice nice nice a | nice nice nice a | nice nice a | nice a | a',
  // shells
  "bash -c 'rm x' => rm x", "bash -ec 'rm x' a => rm x", "bash -c -e 'rm x' => rm x", "bash -o errexit -c 'rm x' => rm x", "bash -ceo errexit 'rm x' => rm x", "bash --norc --posix -c 'rm x' => rm x", "bash -c -- 'rm x' => rm x",
  "bash -c - 'rm x' => rm x", "bash +x -c 'rm x' => rm x", "bash +c 'rm x' => ?", 'bash --version => ', 'bash --help => ', 'bash -l => ?', 'bash s => ?', 'bash => ?', 'bash -c => ?', 'bash -c "$a" => ?', 'bash -e$a => ?', 'bash $a -c ls => ?',
  "bash -c '[[ a == b ]]' => ", "rbash -c '[[ a == b ]]' => ", "sh -c '[[ a == b ]]' => ?", "sh -c 'ls' => ls", "sh -c 'bash -c \"[[ a == b ]]\"' => bash -c [[ a == b ]] ?", 'zsh -c ls => ?', 'fish => ?',
  "sh -c 'ls $a' => ls …", "sh -c $'ls $\\'a\\'' => ls a ?", "sh -c 'ls $\"a\"' => ls ¿ ?", "sh -c '((a))' => ?", "sh -c 'for ((;;)); do ls; done' => ls ?", "sh -c 'ls <<<a' => ls ?", "sh -c 'ls <(id)' => ls ¿ | id ?",
  "sh -c 'coproc ls' => ls ?", "sh -c 'select a in b; do ls; done' => ls ?", "sh -c 'a=(b)' => ?", "sh -c 'ls {a,b}' => ls … ?", "sh -c 'ls &>f' => ls ?", "sh -c 'ls |& id' => ls | id ?", "sh -c 'ls $[a]' => ls … ?",
   "sh -c 'ls >f | id' => ls | id", "sh -c '{fd}>f ls' => ls ?",
  // interpreters
  'python3 a.py => ', 'python3 -c a => ?', 'python3 -Bc a => ?', 'python3 => ?', 'python3 - => ?', 'python3 -W error a.py -c b => ', 'python3 -m pytest -c a => ', 'python3 -m pdb a => ?', 'python3 -mpdb a => ?', 'python3 -m => ?',
  'python3 $a => ?', 'python3 "$a" => ?', 'python3 a.py "$a" => ', 'python3 /dev/stdin => ?', 'python3 a/dev/stdin => ', 'node a.js -e b => ', 'node -e b => ?', 'node --eval=b => ?', 'node -r a b.js => ', 'node --test => ', 'node -v => ', 'node -v -e b => ?', 'node --check a.js => ',
  'node /proc/self/fd/0 => ?', 'node --watch a.js => ', 'bun run a => ', 'bun test => ', 'deno eval a => ?', 'tsx => ?', 'perl a.pl => ', 'perl -I lib a.pl => ', 'perl -ne a => ?', 'ruby -C a b.rb => ', 'php -d a=b c.php => ', 'lua -l a b.lua => ',
  'Rscript a.R => ', 'expect -c a => ?', "awk '{print $1}' f => ", 'awk -F : -v a=b \'{print $1 || $2}\' f => ', "awk -F: '{print}' => ", "awk '{system(a)}' => ?", "awk '{print | a}' => ?", "awk '{@a()}' => ?", 'awk "$a" => ?', 'awk -f a => ?',
  "awk -- '{print}' => ", "awk -v $a '{print}' => ?", "awk -v \"$a\" '{print}' => ", 'awk => ?', 'awk -v a=b => ?', 'awk -v a=b => ?',
  // builtins
  'eval rm x => rm x', "eval -- 'rm x; ls' => rm x | ls", 'eval "$a" => ?', "trap 'rm x' EXIT => rm x", "trap -- 'rm x' EXIT => rm x", 'trap => ', 'trap - EXIT => ', 'trap -p => ', 'trap -l => ', 'trap "$a" EXIT => ?', 'trap -x a => ?',
  "trap -p 'rm x' => ", 'read a b => ', 'read PAGER => ?', 'read -p a b => ', 'read -a PAGER => ?', 'read -aPAGER => ?', 'read -p PAGER a => ', 'read -pPAGER a => ', 'read -ra PAGER => ?', 'read -r PAGER => ?', 'read $a => ?', 'read "$a" => ?', 'read -p => ', 'read -$a b => ?', 'read a=b => ', 'true; export a+=b => export a+=b', 'true; export a=b => export a=b', "test -v 'b[$(id)]' => ?", "[ -v 'b[$(id)]' ] => ?", "test -n 'b[$(id)]' => ",
  'read -p $a b => ?', 'read -p "$a" b => ', 'read a"$a" => ?', 'read -u 3 -a b PAGER => ?', 'unset a PAGER => ?', 'unset -f a => ', 'wait -p PAGER => ?', 'wait %1 123 => ', 'wait -p PAGER 123 => ?', 'wait $a => ?', 'getopts ab: c => ', 'getopts PAGER c => ', 'getopts ab PAGER => ?', 'getopts ab => ?',
  'declare a=b => ', 'declare "PAGER=rm" => rm', 'declare PAGER => ', 'declare -x PAGER="$a" => ?', 'declare -f a => ', 'declare -f => ', 'declare -p "$a" => ', 'declare -F "$a" => ?', 'declare -n a=PAGER => ?', 'export a=b "PAGER=rm" => rm', 'export "$a" => ?', 'export "$a=b" => ?',
  'export a="$b" => ', 'export a+=b => ', 'export "PAGER+=rm" => rm', 'declare "a[0]=b" => ?', 'readonly LD_PRELOAD=a => ?', 'local "EDITOR=rm" => rm', 'typeset -x a=b => ',
  "printf '%s' a => ", 'printf -v a b => ', 'printf -v PAGER b => ?', 'printf -vPAGER b => ?', 'printf -v a -v PAGER b => ?', 'printf -v => ?', 'printf -va -vPAGER b => ?', 'set -e => ', 'set -eH => ?', 'set -o histexpand => ?', 'set -o history => ?', 'set +o pipefail => ',
  'shopt -s nullglob => ', 'shopt -s expand_aliases => ?', 'shopt -s "$a" => ?', 'alias => ', 'alias a => ', 'alias a=b => ?', 'alias "$a" => ?', 'mapfile -t a => ', 'mapfile -C a -c 1 b => ?', 'mapfile PAGER => ?', 'mapfile -d PAGER a => ', 'readarray -t PAGER => ?',
  'jobs -l => ', 'jobs -x rm x => ?', 'jobs "$a" => ?', 'hash -r => ', 'hash -p a b => ?', 'source a => ?', 'enable a => ?',
  // git
  'git status => ', 'git => ', 'git -C a status => git status', 'git -C "$a" status => git status', 'git -C $a status => ?', 'git --git-dir a --work-tree b --namespace c log -n 1 => git log -n 1', 'git -c user.name=a commit => git commit', 'git -c core.pager=rm log => ?',
  'git -c => ?', 'git -c $a log => ?', 'git --config-env a log => ?', 'git -ca=b log => ?', 'git -p log => ?', 'git --paginate log => ?', 'git --exec-path=a log => ?', 'git --no-pager log => git log', 'git --no-pager => ', 'git "$a" => ?', 'git bisect run rm => ?', 'git -C a bisect run b => ?',
  'git grep -O a => ?', 'git grep a => ', 'git clone -c a=b c => ?', 'git clone a => ', 'git archive -x a => ?', 'git log -x a => ', 'git rebase -x a => ?', 'git rebase -i a => ', 'git commit --template a => ', 'git tag --exec a => ', 'git log --ext-diff => ?', 'git log --ex => ?', 'git log --x => ',
  'git pull --strategy=a => ?', 'git log --strategy=a => ', 'git ls-remote ext::a => ?', 'git ls-remote a => ', 'git fetch fd::1 => ?', 'git fetch a => ', 'git log ext::a => ', 'git push -o ProxyCommand=a => ?',
  'git config a.b => ', 'git config a.b c => ?', 'git config user.name c => ', 'git config "$a" c => ?', 'git config get a b => ', 'git config list a b => ', 'git config --get a b => ', 'git config set a.b c => ?', 'git config set user.name c => ', 'git config unset a.b => ', 'git config => ',
  // find, fd, tar, rsync, make, ssh
  'find . -name a => ', 'find . -exec rm {} + => rm …', "find . -exec rm a{} ';' -name b => rm a…", 'find . -exec a {} + -ok b {} + => a … | b …', 'find . -exec rm => rm', 'find -exec rm x => rm x', 'find . -exec echo -exec rm + => echo -exec rm', 'find $a => ?', 'find "$a" => ', 'find "$a" rm => ?', 'find "$a" -name b => ', 'gfind . -execdir rm x + => rm x', "find . -okdir rm x ';' => rm x",
  'find . ! "$a" => ', 'fd a => ', 'fd a -x rm => rm', 'fd -X rm {} => rm …', 'fd a --exec rm {/.} => rm …', 'fd --exec-batch rm => rm', 'fd -Hx rm => ?', 'fd "$a" => ?', 'fdfind -x rm => rm', 'fd rm -xa => ?', 'fd -x rm -x => rm -x',
  'tar cf a b => ', 'tar -xf a => ', 'tar xIf a b => ?', 'tar cf a -I b => ?', 'tar cf a xI => ', 'tar --to-command=a -x => ?', 'tar --to-c a => ?', 'tar --to x => ?', 'tar --t x => ?', 'tar --rsh-command a => ?', 'tar -x -- => ', 'tar --exclude=a -x => ', 'tar "$a" => ?', 'gtar -F a => ?', 'bsdtar -I a => ?', 'tar -cf a "b$c" => ',
  'rsync -a a b => ', 'rsync -e ssh a b => ', 'rsync -e rm a b => ?', 'rsync -ave ssh a b => ', 'rsync -ave rm a b => ?', 'rsync --rsh ssh a b => ', 'rsync --rsh=ssh a b => ', 'rsync --rsh=rm a b => ?', 'rsync --rsync-path=a b c => ?', 'rsync "$a" b => ?', 'rsync -essh a b => ?', 'rsync a -e ssh b => ', 'rsync a "b$c" => ',
  'make a => ', 'make => ', 'make -j4 => ', 'make a=b => b', 'make a="$b" => ?', 'make a= => ', 'make a:=b => b', 'make "$a" => ?', 'make -f a b => ', 'make -f - => ?', 'make -f- => ?', 'make -f /dev/stdin => ?', 'make --file /proc/a => ?', 'make --makefile=- => ?', 'make -f "$a" => ?', 'make --eval a => ?', 'make -E a => ?', 'gmake a=b => b', 'make -f => ?', "make a='[[ b ]]' => ?",
  'ssh a => ?', 'ssh a rm x => rm x', 'ssh -p 22 a rm x => rm x', 'ssh -p22 -4 a rm x => rm x', 'ssh -4p 22 a rm x => rm x', 'ssh -4v a rm x => rm x', 'ssh -o ProxyCommand=a b c => ?', 'ssh -oProxyCommand=a b c => ?', 'ssh -o LogLevel=a b c => c', 'ssh -l Command a b => b', 'ssh -F f a b => ?', 'ssh -F => ?', 'ssh -Z a b => ?', 'ssh -V => ', 'ssh $a b => ?', 'ssh "$a" b => b', 'ssh a "$b" => ?', 'ssh -p $a b c => ?', 'ssh -p => ', 'ssh a "[[ b ]]" => ?',
  // package managers and others
  'npm exec a => a', 'npm exec -- a => a', 'npm x a b => a b', 'npm exec -c a => ?', 'npm exec => ?', 'npm exec -- => ?', 'npm run exec => ', 'npm --prefix a exec b => ?', 'npm -s exec b => b', 'npm "$a" b => ?', 'npm test => ', 'npm run "$a" => ?', 'uv run a => a', 'uv tool run a => ?', 'uv sync => ', 'poetry env run a => ?', 'docker ps => ', 'docker run a => ?', 'docker "$a" => ?', 'docker-compose exec a => ?', 'docker compose run a => ?',
  'gtimeout 5 rm x => rm x', 'gsed -n 1p f => ', 'gsed e => ?', 'gsort --compress-program=a => ?', 'parallel a => ?', '/lib/ld-linux.so.2 a => ?', 'rg --pre a => ?', 'rg a => ', 'less +a => ?', 'ls $a => ', 'rm x => ',
  // sed
  'sed p f => ', 'sed -n 1,5p f => ', "sed 's/a/b/g; s/c/d/' f => ", 'sed s/a/b/e f => ?', 'sed s/a/b/w f => ?', 'sed 1e f => ?', 'sed "$a" f => ?', 'sed -e p -e "$a" f => ?', 'sed -e => ?', 'sed -e p e => ', 'sed --expression p e => ', 'sed --expression=e f => ?', 'sed --expression=p f => ', 'sed -nep f => ', 'sed -nee f => ?', 'sed -i.bak p f => ',
  'sed -i p f => ', 'sed -f a b => ?', 'sed --quiet p f => ', 'sed --file=a b => ?', "sed '/a/d' f => ", "sed '/a\\/e/d' f => ", "sed '/a/I,+2!{p;d}' f => ", "sed '$d' f => ", "sed y/ab/cd/ f => ", 'sed s/a/b f => ?', "sed 's/a\\/b/c/' f => ", "sed 's|a|b|' f => ", 'sed s f => ?', "sed 's\\a\\b\\' f => ?", 'sed - p => ?', 'sed p "$a" => ?', 'sed -n "$a" f => ?',
  'sed => ', 'sed -e p -f a => ?', 'sed -e p - => ', 'sed s => ?', "sed '1~2p;3q' f => ", "sed '2,$!d' f => ", "sed 'p;e' f => ?", "sed 'p\ne' f => ?", "sed 's/a/b/;e' f => ?", "sed 's/a/b/p 5' f => ?",
  // what the shell itself does
  "sh -c 'ls'; [[ a == b ]] => ls", 'a=b\\[\\$\\(id\\)]; ls $((a)) => ?', "read a <<'E'\nb[$(id)]\nE\nls $((a)) => ls … ?", "read a <<'E'\nb\nE\nls $((a)) => ls …", "read a <<E\nb[\\$(id)]$c\nE\nls $((a)) => ls … ?", 'cat <<E\n$(id)\nE => id', "[[ -R 'b[$(id)]' ]] => ?", "[[ -n 'b[$(id)]' ]] => ", "ls ${a} '$(id)' => ",
  "ls ${a[b]} '$(id)' => ?", 'ls ${!a:-b} => ?', 'ls ${!a@} => ', 'ls ${!a} => ', 'ls ${a ~b} => ?', 'ls ${a@P} => ?', 'ls ${a@Q} => ', 'ls ${PAGER:=rm x} => rm x', 'ls ${PAGER:-rm x} => ', "a=('$(id)' [c]=1) => ?", "a=([c]=1 '$(id)') => ?", "a=('$(id)' b) => ", "a[b]=1; c='$(id)' => ?",
  "a=1; c='$(id)' => ", 'ls {PAGER}>f => ?', 'ls {fd}>f => ', 'ls >&2 2>&1 <&- => ', 'ls >&$a => ?', 'ls >&"$a" => ?', 'ls >&f => ', '"" a => ?', '$a b => ?', '"$a" b => ?', 'a"$b" c => ?', '"$a"/b c => ', 'ls a\0b => ?', '"ls" "a$(id)" => id', "ls \"${a:-'$(id)'}\"; rm x => ?",
];

function seen(text: string): string {
  const { commands, hidden } = analyseCommand(text);
  const inner = commands.slice(1).map((words) =>
    words
      .join(' ')
      .replaceAll('\0', '¿')
      .replaceAll(/\x03.*\x05|[\x01\x02]/g, '…'),
  );
  return [inner.join(' | '), ...(hidden === null ? [] : ['?'])].filter((part) => part !== '').join(' ');
}

test('what a command runs in turn is seen word for word, or said to be hidden', () => {
  const wrong = rows.flatMap((row) => {
    const at = row.lastIndexOf(' => ');
    const found = seen(row.slice(0, at));
    return found === row.slice(at + 4).trim() ? [] : [`${row}, found: ${found}`];
  });
  assert.deepEqual(wrong, []);
});

test('it is told why something is hidden', () => {
  const reasons = {
    'zsh -c ls': 'what zsh runs',
    bash: 'what bash reads from its input',
    'bash s': 'the file that bash runs',
    'bash -c': 'what bash runs',
    'bash -c "$a"': 'what bash runs',
    'bash -i': 'an option of bash',
    'git bisect run a': 'what git bisect runs',
    'git "$a"': 'what git runs',
    '$a b': 'a program with a computed name',
    "a='b[$(id)]'; ls $((a))": 'arithmetic with text that contains a substitution',
    "sh -c '[[ a ]]'": 'its shell may read it differently from bash',
  };
  for (const [text, reason] of Object.entries(reasons))
    assert.equal(analyseCommand(text).hidden, reason, text);
});

test('a text that is not read to its end says so, and nothing behind the end is seen', () => {
  const unread = (text: string) => [analyseCommand(text).unread, analyseCommand(text).commands.length];
  assert.deepEqual(unread(`ls ${'a'.repeat(32_765)}`), [null, 1]);
  assert.deepEqual(unread(`ls ${'a'.repeat(32_766)}`), ['it is longer than 32768 characters', 0]);
  assert.deepEqual(unread(`ls ${'$(:)'.repeat(2_000)}`), ['it is too complex', 0]);
  const most = `ls ${'$(:)'.repeat(250)}`;
  assert.deepEqual(unread(most.padEnd(32_000, 'a')), [null, 251]);
  assert.deepEqual(unread(most.padEnd(32_001, 'a')), ['it is too complex', 0]);
  assert.deepEqual(unread('ls a\0b'), ['it contains NUL characters', 0]);
  assert.deepEqual(unread(`${'nice '.repeat(12)}a`), [null, 13]);
  assert.deepEqual(unread(`${'nice '.repeat(13)}a`), ['it is nested too deeply', 13]);
  assert.deepEqual(unread(`${'ls; '.repeat(2_000)}`), [null, 2_000]);
  assert.deepEqual(unread(`${'ls; '.repeat(2_001)}`), ['it has too many commands', 2_000]);
  assert.deepEqual(unread(`${'nice ls; '.repeat(30)}`), [null, 60]);
  assert.deepEqual(unread('cat <<E\na'), ['it is incomplete', 1]);
});

test('files that redirections open', () => {
  const opened = (text: string) => analyseCommand(text).opened.map((one) => `${one.path} ${one.writes}`);
  assert.deepEqual(opened('ls <a >b 2>>c <>d >|e &>f >&g'), [
    ...['a false', 'b true', 'c true', 'd false', 'd true', 'e true', 'f true', 'g true'],
  ]);
  assert.deepEqual(opened('ls >&2 2>&1 <&0 >&- <&h'), ['h false']);
});

test('plain is one command and nothing else', () => {
  for (const text of ['ls', 'ls a "b $c" \'d\' $e *.ts', '/bin/ls -a=b', 'ls "a" "b"'])
    assert.ok(analyseCommand(text).plain, text);
  const others = [
    'ls; ls',
    'ls &',
    'A=1 ls',
    'ls >f',
    'ls # a',
    'ls "$(id)"',
    'ls a "$b" {c,d}',
    "ls $'a'",
    'ls "${a}" b',
  ];
  for (const text of [
    ...others,
    'ls b"$(id)$c"',
    '[[ a ]]',
    '',
    '>f',
    'A=1',
    '$a b',
    'f() { ls; }',
    'export a=b',
    '! ls',
    'ls | id',
    'ls $(id) a',
  ])
    assert.ok(!analyseCommand(text).plain, text);
});
