/** Proves that no known program runs others behind a rule that names only the program: an allow rule lets pass what it says, a deny rule on what would run holds, and whoever makes such a rule is told. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decide } from '../../../src/permissions/decide.ts';
import { createPolicy, type RuleTexts } from '../../../src/permissions/policy.ts';
import { ruleNotice } from '../../../src/permissions/shell/program.ts';
import { permissionOf } from '../../../src/tools/built-in-permissions.ts';

const verdict = (cli: RuleTexts, command: string): string =>
  decide(createPolicy({ cli }), permissionOf('bash'), command).verdict;

/** Commands that run `rm x`, or another program that they are given. */
// biome-ignore format: one line holds many
const running: readonly string[] = [
  'cmake -E env rm x', 'cmake -E time rm x', 'cmake -P s.cmake', 'cmake -DCMAKE_C_COMPILER_LAUNCHER=rm .', 'ctest -S s', 'ctest --build-and-test a b --test-command rm x', 'go test -exec rm ./...', 'go build -toolexec=rm .', 'go vet -vettool=rm .', 'cargo --config \'target.x.runner="rm"\' test', 'cargo test --config a=b', 'rpm --eval "%(rm x)"', 'rpm -E "%(rm x)"', 'rpm --define "a b" -q c',
  'rpmbuild --define "a %(rm x)" a', 'prove -e rm t', 'prove -vre "rm x" t', 'prove --exec rm t', 'npm --script-shell rm test', 'npm --script-shell=rm test', 'npm test --script-shell=rm', 'npm config set script-shell rm', 'npm explore a -- rm x', 'pnpm --script-shell=rm test', 'git merge-index rm -a', 'git merge-index -o rm x', 'git citool', 'git filter-repo --blob-callback a', 'pandoc --filter rm a.md', 'pandoc -F rm a.md', 'pandoc -L a.lua b', 'pandoc --pdf-engine=rm a -o b.pdf', 'opam exec -- rm x',
  'pnpx rm x', 'op run -- rm x', 'op run --env-file a -- rm x', 'doppler run -- rm x', 'infisical run -- rm x', 'aws-vault exec p -- rm x', 'chamber exec s -- rm x', 'teller run -- rm x', 'sops exec-env f "rm x"', 'dotenv rm x', 'dotenvx run -- rm x', 'env-cmd rm x', 'envchain a rm x', 'mise exec -- rm x', 'mise x -- rm x', 'rtx exec -- rm x', 'asdf exec rm x', 'direnv exec . rm x', 'nodenv exec rm x', 'volta run rm x', 'stack exec rm', 'stack runghc a', 'cabal exec rm', 'dune exec rm', 'esy x rm', 'dotnet exec rm', 'dotnet run', 'mix cmd rm x', 'lein exec rm', 'composer exec rm',
  'lerna exec -- rm x', 'nx exec -- rm x', 'bazel run --run_under=rm //a', 'bazel test --run_under=rm //a', 'buck2 run //a', 'tox exec -- rm x', 'tox -e py exec', 'watchmedo shell-command -c "rm x" .', 'rails runner a', 'wp eval a', 'pueue add rm x', 'tsp rm x', 'nq rm x', 'nix shell a -c rm x', 'nix run a', 'guix shell a -- rm x', 'pixi run rm x', 'devbox run rm x', 'toolbox run rm x', 'distrobox enter a -- rm x', 'lxc exec a -- rm x', 'flatpak run a', 'vagrant ssh -c "rm x"', 'nerdctl exec a rm x', 'podman-compose exec a rm', 'oc exec a -- rm x', 'minikube ssh rm x', 'heroku local', 'consul exec rm x', 'consul watch -type=key rm x',
  'ccache rm x', 'sccache rm x', 'corepack pnpm exec rm x', 'schroot -- rm x', 'arch-chroot / rm x', 'systemd-nspawn rm x', 'runc exec a rm x', 'run0 rm x', 'dzdo rm x', 'sshpass -p a rm x', 'execlineb -c "rm x"', 'setlock l rm x', 'rr record rm x', 'heaptrack rm x', 'kcov o rm x', 'py-spy record -- rm x', 'wine rm x', 'xinit rm x', 'kitty rm x', 'alacritty -e rm x', 'nano x', 'kak -e "nop %sh{rm x}"', 'hx x', 'hg --config alias.a="!rm x" a', 'svn diff --diff-cmd rm x', 'jj --config a=b log', 'jj util exec -- rm x', 'gh alias set a "!rm x"', 'gh extension exec a', 'helm install --post-renderer rm a b', 'yt-dlp --exec "rm x" a',
  'aria2c --on-download-complete=rm a', 'rclone --password-command "rm x" ls a:', 'restic --password-command "rm x" snapshots', 'gpg --photo-viewer "rm x" -k', 'mpv --script=a b', 'bat --pager "rm x" a', 'delta --pager rm', 'ag --pager rm a', 'ack --pager=rm a', 'nmap --script a b', 'gs -dNOSAFER a', 'gs -sOutputFile=%pipe%rm a', 'blender --python a', 'duckdb -c ".shell rm x"', 'duckdb a ".shell rm x"', 'pgcli -c "\\! rm x"', 'psql -c "\\! rm x"', "mysql -e '\\! rm x'", "mariadb -e 'system rm x'", 'mariadb --pager="rm x" a', 'mongosh --eval a', 'pdflatex --shell-escape a', 'latexmk -e a', 'java -XX:OnError="rm x" a', 'java -agentlib:a b', 'mvn exec:exec -Dexec.executable=rm', 'gradle -I a.gradle b', 'gradle --init-script a b',
  'rake -e "sh %q(rm x)"', 'just --shell rm a', 'invoke -c a', 'g++ -wrapper rm a.c', 'gcc -B. a.c', 'clang++ -specs=a b.c', 'sftp -D rm a', 'bpftrace -c "rm x" a', 'stap -c "rm x" a', '/usr/lib/git-core/git-merge-index rm x', 'git-bisect run rm x', 'qemu-x86_64 /bin/rm x', 'bfs . -exec rm x {} +', 'bmake -f - a', 'zip -TT rm a b', 'diff3 --diff-program=rm a b c', 'RUSTC_WRAPPER="rm x" cargo build', 'CC="rm x" make', 'GOFLAGS=-exec=rm go test', 'CARGO_TARGET_A_RUNNER="rm x" cargo test', 'npm_config_script_shell="rm x" npm test', "VIMINIT='!rm x' less a",
  'ksh -c "rm x"', 'mksh -c "rm x"', 'osh -c "rm x"', 'nu -c "rm x"', 'xonsh -c "rm x"', 'erl -eval a', 'iex -e a', 'kotlin -e a', 'zx -e a', 'electron -e a',
];

/** Ordinary calls of the same programs. */
// biome-ignore format: one line holds many
const plain: readonly string[] = [
  'cmake -S . -B build', 'cmake --build build -j 4', 'ctest --output-on-failure', 'go test ./...', 'go build -o a .', 'go vet ./...', 'cargo test --release', 'cargo +nightly build', 'rpm -qa', 'rpm -qf a', 'prove -v t', 'prove -lr t', 'npm test', 'npm run build -- --watch', 'npm ci', 'npm config get registry', 'pnpm test', 'pnpm install', 'git status', 'git merge a', 'pandoc a.md -o b.html', 'opam install a', 'op item list', 'doppler secrets', 'mise ls', 'asdf list', 'stack build', 'cabal build', 'dune build', 'dotnet build', 'dotnet test', 'mix test', 'composer install', 'lerna bootstrap', 'bazel build //a', 'tox -e py', 'rails routes', 'nix build', 'podman ps', 'oc get pods', 'hg log', 'svn diff', 'jj log', 'gh pr list',
  'gh issue view 1', 'helm install a b', 'yt-dlp -f best a', 'restic snapshots', 'gpg -k', 'bat a', 'ag a', 'nmap -p 80 a', 'gs -dSAFER a', 'duckdb a "select 1"', 'psql -c "select 1"', 'mysql -e "select 1"', 'pdflatex a', 'latexmk -pdf a', 'java -jar a.jar', 'mvn -q test', 'gradle build', 'just build', 'rake test', 'gcc -O2 a.c', 'clang++ -o a a.cc', 'sftp a:b', 'zip -r a b', 'diff3 a b c', 'conda install a', 'pipx install a', 'flatpak list', 'make -j4', 'find . -name a', 'sed -n 1p a', 'tar czf a.tgz b', 'sort -u a', 'ninja -C build', 'meson setup build',
];

test('a deny rule holds for what they run', () => {
  const passed = running.filter(
    (command) => verdict({ allow: ['bash'], deny: ['bash:rm *'] }, command) !== 'deny',
  );
  assert.deepEqual(passed, []);
  const refused = plain.filter(
    (command) => verdict({ allow: ['bash'], deny: ['bash:rm *'] }, command) !== 'allow',
  );
  assert.deepEqual(refused, []);
});

test('an allow rule on the program allows its plain calls, and none that runs something else', () => {
  const interpreters = /^(?:ksh|mksh|osh|nu|xonsh|erl|iex|kotlin|zx|electron) /;
  const rule = (command: string): RuleTexts => ({ allow: [`bash:${command.split(' ', 1)[0]} *`] });
  const passed = running.filter((one) => !interpreters.test(one) && verdict(rule(one), one) !== 'ask');
  assert.deepEqual(passed, []);
  assert.deepEqual(
    plain.filter((command) => verdict(rule(command), command) !== 'allow'),
    [],
  );
});

test('a rule that spells out how a program runs others allows that, and no other way', () => {
  const allowed = (rule: string, command: string): boolean => verdict({ allow: [rule] }, command) === 'allow';
  assert.ok(allowed('bash:cmake -E env *', 'cmake -E env a b'));
  assert.ok(allowed('bash:docker run *', 'docker run -it a b'));
  assert.ok(allowed('bash:git -c core.pager=less *', 'git -c core.pager=less log'));
  assert.ok(allowed('bash:go test -exec ./wrap *', 'go test -exec ./wrap ./...'));
  for (const [rule, command] of [
    ['bash:cmake *', 'cmake -E env a'],
    ['bash:cmake --build *', 'cmake --build b -E env a'],
    ['bash:cmake -E env *', 'cmake -E time a'],
    ['bash:docker *', 'docker run a'],
    ['bash:docker run *', 'docker exec a b'],
    ['bash:docker run *', 'docker run $X'],
    ['bash:git -c core.pager=less *', 'git -c core.pager=less -c core.editor=a commit'],
    ['bash:go test *', 'go test -exec ./wrap ./...'],
    ['bash:go test -exec ./wrap *', 'go test -exec ./wrap -exec ./other ./...'],
    ['bash:tmux *', 'tmux new a'],
    ['bash:tmux new *', 'tmux new a'],
    ['bash:timeout 5 *', 'timeout 5 rm x'],
    ['bash:env -S *', "env -S 'rm x'"],
  ] as const)
    assert.ok(!allowed(rule, command), `${rule} does not allow ${command}`);
});

test('whoever allows all calls of such a program is told what that means', () => {
  for (const program of ['cmake', 'git', 'find', 'npm', 'docker', 'sudo', 'tmux', '/usr/bin/cmake'])
    assert.match(
      ruleNotice(`bash:${program} *`).join(),
      /can run other programs; calls in which it does still ask/,
    );
  for (const program of ['python3', 'ksh', 'bash', 'awk', 'node'])
    assert.match(ruleNotice(`bash:${program} *`).join(), /allows any code: \w+ runs what it is given/);
  for (const rule of [
    'bash',
    'bash:ls *',
    'bash:git status *',
    'bash:python3 a.py',
    'bash:cmake --build build',
    'write:make*',
    'bash:echo *',
    '*',
    '',
  ])
    assert.deepEqual(ruleNotice(rule), [], rule);
});
