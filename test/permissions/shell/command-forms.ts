// biome-ignore-all lint/suspicious/noTemplateCurlyInString: shell text, not templates

/** Ways to run `rm x` in a folder that holds `x`, `s.sh` (`rm x`), `names` (`x`), `m` (a makefile) and `repo` (a git repository). */
// biome-ignore format: one line holds many
export const deleting: readonly string[] = [
  // plain commands
  'rm x', 'rm -f x', ' rm x', '\trm x', '\n\nrm x', 'rm\tx', 'rm x # no', 'rm x;', 'rm x &', 'wait; rm x', '! rm x', 'rm "x"', 'rm x y', 'rm -- x', 'rm ./x', 'rm *', 'rm ?',
  'rm [x]', 'rm {x,y}', 'rm $(echo x)', 'rm `echo x`', 'rm "$PWD/x"', 'rm x 2>/dev/null', 'rm x >log 2>&1', 'rm<names x', '>o rm x', '2>&1 rm x', '<names rm x',
  'FOO=1 rm x', 'FOO=1 BAR=2 rm x', 'FOO=(a) ; rm x', 'a+=1 rm x', '{fd}>o rm x', '3>o rm x',
  // operators and compounds
  'true;rm x', 'true && rm x', 'false || rm x', 'true & rm x', 'true | rm x', 'true |& rm x', 'true\nrm x', '(rm x)', '( ( rm x ) )', '{ rm x; }', '{ rm x;} >o',
  'if rm x; then :; fi', 'if true; then rm x; fi', 'if false; then :; else rm x; fi', 'if false; then :; elif rm x; then :; fi', 'while rm x; do break; done',
  'until rm x; do break; done', 'for a in x; do rm $a; done', 'for ((i=0;i<1;i++)); do rm x; done', 'for a in x; { rm $a; }', 'case a in a) rm x;; esac',
  'case a in (a) rm x; esac', 'case a in a) ;& b) rm x;; esac', 'case $(rm x) in a) ;; esac', 'select i in x; do rm $i; break; done <<< 1', 'f() { rm x; }; f',
  'function f { rm x; }; f', 'f() (rm x); f', 'f() if true; then rm x; fi; f', 'time rm x', 'time -p rm x', 'coproc rm x; wait', 'coproc c { rm x; }; wait',
  '[[ -n $(rm x) ]]', '[[ a == $(rm x) ]]', '[[ a =~ $(rm x) ]]', '[ "$(rm x)" ]', '((a[$(rm x; echo 0)]))', '(( $(rm x; echo 1) ))', 'let "a=$(rm x; echo 1)"',
  'echo a \\\n; rm x', 'r\\\nm x', 'rm \\\nx',
  "sed -ne'1e rm x' names", "set -o posix\nalias l='rm x'\nl", 'timeout --kill-after 1 5 rm x', 'nice --adjustment 5 rm x', "awk -- 'BEGIN{system(\"rm x\")}'",
  // spellings of the program's name
  '/bin/rm x', '/usr/bin/rm x', '/usr/bin/../bin/rm x', '\\rm x', '"rm" x', "'rm' x", "r''m x", 'r""m x', '"r"m x', "$'rm' x", "$'\\x72m' x", "$'\\162m' x", "$'r\\u006d' x",
  '$"rm" x', '/bin/r? x', '/bin/r[m] x', '/bin/[r]m x', '{rm,x}', '{rm,-f,x}', '$(echo rm) x', '`echo rm` x', '"$(echo rm)" x', 'X=rm; $X x', 'X=rm; "$X" x', 'X="rm x"; $X',
  'X=rm; ${X} x', 'X=mr; ${X:1}${X:0:1} x', 'set -- rm x; "$@"', 'set -- rm x; $*', 'a=(rm x); "${a[@]}"', '${q:-rm} x', '${q-rm x}', 'X=m; r$X x', 'r${q}m x', 'r$(:)m x',
  'read a <<< rm; $a x', 'printf -v a rm; $a x', 'D=/bin; $D/rm x', '"$(type -P rm)" x', "eval 'ru'; IFS=-; a=rm-x; $a",
  // substitutions
  'echo $(rm x)', 'echo `rm x`', 'echo "$(rm x)"', 'echo "`rm x`"', 'echo "a $(echo "$(rm x)")"', 'echo `echo \\`rm x\\``', 'cat <(rm x)', 'echo hi > >(rm x)',
  'echo ${a:-$(rm x)}', 'echo "${a:-$(rm x)}"', 'echo "${q:-\'$(rm x)\'}"', 'echo "${q:-\'`rm x`\'}"', 'echo ${q:="$(rm x)"}', 'a=1; echo ${a:+$(rm x)}',
  'a=1; echo ${a/$(rm x)/}', 'a=1; echo ${a#$(rm x)}', 'a=12; echo ${a:$(rm x; echo 1)}', 'echo ${a[$(rm x; echo 0)]}', 'a=$(rm x)', 'a=`rm x`', 'a=($(rm x))',
  'a[$(rm x; echo 0)]=1', 'declare a=$(rm x)', 'export "a=$(rm x)"', 'echo $((1+$(rm x; echo 1)))', "echo $(( '$(rm x)' ))", 'echo $(( "$(rm x; echo 1)" ))',
  'echo $[ $(rm x; echo 1) ]', 'echo {a,$(rm x)}', 'echo {a,"$(rm x)"}', 'echo [$(rm x)]', 'echo *$(rm x)*', 'echo >o$(rm x)', 'echo 2>"$(rm x; echo o)"',
  'cat <<< "$(rm x)"', 'cat <<< $(rm x)', 'cat <<E\n$(rm x)\nE', 'cat <<E\n`rm x`\nE', 'cat <<E\n${a:-$(rm x)}\nE', 'cat <<-E\n\t$(rm x)\n\tE', "cat <<'E'\nE\nrm x",
  'cat <<"E F"\nE F\nrm x', "cat <<'E' <<F\n$(:)\nE\n$(rm x)\nF", 'cat <<E >o\na\nE\nrm x', 'cat <<\\E\nE\nrm x', "cat <<'E'\r\nE\r\nrm x",
  'cat <<E\n$((1+$(rm x; echo 1)))\nE',
  // comments and white space
  'echo a#;rm x', 'echo a\r#;rm x', 'echo a\u00a0#;rm x', '# a\nrm x', "# '\nrm x\n# '", 'echo "#";rm x', 'echo \\#;rm x', 'echo ${a#b};rm x', 'echo $#;rm x',
  '\v rm x; rm x', "echo 'a\n';rm x", 'echo "a\\"";rm x #"', "echo $'a\\'';rm x #'",
  // text that is evaluated
  'eval rm x', "eval 'rm x'", 'eval -- rm x', "eval 'r'm x", 'eval "eval rm x"', 'X="rm x"; eval "$X"', 'X="rm x"; eval $X', "trap 'rm x' EXIT", "trap -- 'rm x' EXIT",
  "trap 'rm x' 0", "trap 'rm x' DEBUG; :", "trap 'rm x' ERR; false", "trap 'rm x' USR1; kill -USR1 $$", '. ./s.sh', 'source ./s.sh', 'source <(echo rm x)',
  ". /dev/stdin <<<'rm x'", "PS4='$(rm x)'; set -x; :", "PS4='$(rm x)' bash -xc :", "shopt -s expand_aliases\nalias l='rm x'\nl", 'shopt -s expand_aliases\nalias l=rm\nl x',
  'hash -p /bin/rm l; l x', 'BASH_CMDS[l]=/bin/rm; l x', "a='b[$(rm x)]'; echo $((a))", "a='b[$(rm x)]'; ((a))", "a='b[$(rm x)]'; [[ a -eq 0 ]]", "let 'b[$(rm x)]'",
  "a='b[$(rm x)]'; echo ${!a}", "declare -i a; a='b[$(rm x)]'", "[ -v 'b[$(rm x)]' ]", "[[ -v 'b[$(rm x)]' ]]", "unset 'b[$(rm x)]'", "read 'b[$(rm x)]' <<< 1",
  "printf -v 'b[$(rm x)]' a", 'a=\'$(rm x)\'; echo "${a@P}"', "mapfile -c 1 -C 'rm x;:' a < names", "export 'b[$(rm x)]=1'", "declare 'b[$(rm x; echo 0)]=1'",
  ": & wait -n -p 'b[$(rm x)]'", ": & wait -np'b[$(rm x)]'", "a='p b[$(rm x)]'; read -p $a <<< 1", 'chronic rm x', 'sandbox-exec -f f rm x', 'flatpak-spawn --host rm x',
  "b=1; echo ${b:'a[$(rm x)]'}", "bash -c 'rm x'", 'jobs -x rm x', "compgen -C 'rm x' a", 'command rm x', 'command -p rm x', 'builtin eval rm x', 'builtin command rm x',
  'exec rm x', 'exec -a n rm x', '(exec -c rm x)', 'enable -n echo; rm x', "set -- 'rm x'; eval $1", 'fc -s 2>&1; rm x', 'ENV=s.sh bash --posix -ic :',
  'BASH_ENV=./s.sh bash -c :', 'a=V; env "BASH_EN$a=./s.sh" bash -c :', "declare -n r=PS4; r='$(rm x)'; set -x; :", 'export BASH_ENV=./s.sh; bash -c :', "env 'BASH_FUNC_l%%=() { rm x; }' bash -c l", 'l() { rm x; }; export -f l; bash -c l',
  'command_not_found_handle() { rm x; }; nosuch', 'ls() { command rm x; }; ls',
  // shells
  'bash -c "rm x"', "bash -Ec 'rm x'", "bash -c -- 'rm x'", "bash -c -e 'rm x'", "bash -e -c 'rm x'", "bash -ec 'rm x'", "bash -o errexit -c 'rm x'", "bash +x -c 'rm x'",
  "bash --norc -c 'rm x'", "bash -lc 'rm x'", "bash --login -c 'rm x'", "bash -ic 'rm x'", "sh -c 'rm x'", "sh -ec 'rm x'", "dash -c 'rm x'", "/bin/sh -c 'rm x'",
  'sh -c \'sh -c "rm x"\'', 'sh -c \'"$@"\' a rm x', "sh -c '$0 x' rm", 'sh -c "$(echo rm x)"', 'X="rm x"; bash -c "$X"', "bash -c $'rm\\x20x'", 'bash s.sh', 'bash ./s.sh',
  'sh < s.sh', 'bash -s < s.sh', 'echo rm x | bash', 'echo rm x | bash -s y', 'echo rm x | sh -', 'echo rm x | bash /dev/stdin', "bash <<< 'rm x'", 'bash <<E\nrm x\nE',
  "bash <<'E'\nrm x\nE", 'bash <(echo rm x)', 'cat s.sh | bash', 'echo cm0geAo= | base64 -d | sh', "sh -c 'echo &>o rm x; rm x'", "rbash -c 'rm x'",
  'bash --rcfile s.sh -i -c :', 'echo "rm x" > t; bash t', "dash -c 'echo $'\"'a\\\\'\"'; rm x;'", 'bash -c "bash -c \'bash -c \\"rm x\\"\'"',
  'echo x | while read a; do rm $a; done', 'find . -name x | while read -r a; do rm "$a"; done',
  // programs that run programs
  'env rm x', 'env -i rm x', 'env - rm x', 'env A=1 rm x', 'env -u A rm x', "env -S'rm x'", "env -S 'rm x'", "env --split-string='rm x'", 'env -- rm x', '/usr/bin/env rm x',
  'env env rm x', 'env bash -c "rm x"', 'nohup rm x', 'nice rm x', 'nice -n 5 rm x', 'nice -5 rm x', 'nice --adjustment=5 rm x', 'ionice rm x', 'ionice -c2 -n7 rm x',
  'setsid -w rm x', 'setsid rm x; sleep 0.2', 'timeout 5 rm x', 'timeout -s KILL 5 rm x', 'timeout --signal=KILL 5s rm x', 'timeout -k 1 5 rm x', 'stdbuf -oL rm x',
  'stdbuf -o L rm x', 'taskset 1 rm x', 'taskset -c 0 rm x', 'chrt -o 0 rm x', 'flock l rm x', "flock l -c 'rm x'", 'flock -w 1 l rm x', 'setarch x86_64 rm x',
  'setarch -R rm x', 'setarch x86_64 -R rm x', 'linux64 rm x', 'prlimit --nofile=100 rm x', 'prlimit -n100 rm x', "script -qc 'rm x' /dev/null",
  "script -q /dev/null -c 'rm x'", 'su -c "rm x"', "su root -c 'rm x'", 'runuser -u root rm x', 
  'unshare rm x', 'unshare -m rm x', 'unshare --mount rm x', '\\time rm x', '/usr/bin/time -p rm x', 'busybox rm x',
  "busybox sh -c 'rm x'", 'strace -f rm x', '/lib64/ld-linux-x86-64.so.2 /bin/rm x', 'timeout 5 nohup nice rm x',
  'exec env nice rm x', 'echo x | xargs rm', 'xargs rm < names', 'xargs -a names rm', 'xargs -n 1 rm < names', 'echo x | xargs -I{} rm {}',
  'echo x | xargs -I % sh -c "rm %"', "echo x | xargs sh -c 'rm $0'", 'echo rm x | xargs env', 'echo "rm x" | xargs -I{} sh -c {}', 'echo rm | xargs -I{} {} x',
  'echo x | xargs -P2 -r rm', 'xargs --arg-file=names rm', "echo 'rm x' | xargs -i sh -c '{}'", 'find . -name x -exec rm {} \\;', 'find . -name x -exec rm {} +',
  'find . -name x -execdir rm {} ";"', "find . -name x -exec sh -c 'rm $1' _ {} \\;", 'find . -name x -exec env rm {} \\;', 'find /bin/rm -exec {} x \\;',
  'echo y | find . -name x -ok rm {} \\;', 'find . -maxdepth 0 -exec true \\; -exec rm x \\;', "git -c alias.l='!rm ../x' l", "git -C repo -c alias.l='!rm ../x' l",
  "git -C repo config alias.l '!rm ../x' && git -C repo l", 'GIT_PAGER="rm x;cat" git -C repo -p log',
  'cd repo && git bisect start && git bisect bad && git bisect run rm ../x; git bisect run rm ../x', "git -C repo rebase -x 'rm ../x' --root",
  'git -C repo submodule foreach rm x; rm x', "git -C repo filter-branch -f --tree-filter 'rm -f ../../../../x; rm x' HEAD; rm x",
  'GIT_EXTERNAL_DIFF="rm x;:" git diff --no-index names s.sh', "git -c core.pager='rm x;cat' -p diff --no-index names s.sh",
  "GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=alias.l GIT_CONFIG_VALUE_0='!rm x' git l", "git ls-remote 'ext::sh -c rm% x'; rm x", "git grep -O'rm x;:' a; rm x",
  "git clone -q -u 'rm x;git-upload-pack' repo r", 'awk \'BEGIN{system("rm x")}\'', 'awk \'BEGIN{"rm x" | getline}\'', 'awk \'BEGIN{print "rm x" | "sh"}\'',
  'awk \'BEGIN{f="system"; @f("rm x")}\'; rm x', "sed '1e rm x' names", "sed -n '1{e rm x\n}' names", "sed 's/x/rm x/e' names", "sed -e 's/x/rm x/;e' names",
  "sed --expression='1e rm x' names", 'perl -e \'system "rm x"\'', "perl -we 'exec qw(rm x)'", 'echo \'system "rm x"\' | perl',
  'python3 -c \'import os; os.system("rm x")\'', 'python3 -Ic \'import os; os.system("rm x")\'', "python3 <<E\nimport os; os.system('rm x')\nE",
  'echo \'import os; os.system("rm x")\' | python3 -', 'node -e \'child_process.execSync("rm x")\'', 'node -p \'child_process.execSync("rm x")\'',
  'echo \'child_process.execSync("rm x")\' | node', 'node --import \'data:text/javascript,process.getBuiltinModule("child_process").execSync("rm x")\' -v; rm x',
  'ruby -e \'system "rm x"\'', 'php -r \'system("rm x");\'', 'lua -e \'os.execute("rm x")\'', 'tar cf o.tar names --checkpoint=1 --checkpoint-action=exec="rm x"',
  'tar cf o.tar --to-comm="rm x" names; rm x', 'tar cf o.tar names; tar xf o.tar --to-command="rm x"', 'tar cf o.tar -I "sh -c \\"rm x\\"" names', "make -f m V='rm x'",
  "make -f - <<< $'a:\\n\\trm x'", "make --eval=$'a:\\n\\trm x' a", "vim -es '+!rm x' +q", "ex -sc '!rm x' -cq", "echo '!rm x' | ed", "zip -q o.zip names -T -TT 'rm x;:'",
  "split --filter='rm x' names", 'sort --compress-program=rm names; rm x', "rsync -e 'rm x;:' names a:b; rm x", 
  'dc -e "!rm x"',
  "m4 <<< 'syscmd(rm x)'", "sqlite3 :memory: '.shell rm x'", "busybox ash -c 'rm x'",
  // options with and without the next word as their argument
  'prlimit --nofile rm x', 'unshare --kill-child rm x', 'echo x | xargs --max-lines rm', 'echo x | xargs --eof rm', "flock l --command 'rm x'", "script /dev/null --command 'rm x'",
  "script /dev/null -qc 'rm x'", 'a=-exec; find . -name x $a rm {} +', 'a=-exec; find . -name x "$a" rm {} +', "a='-exec rm x ;'; find . $a", 'a=-exec b=";"; find . "$a" rm x "$b"',
  'python3 -X importtime -c \'import os; os.system("rm x")\'', 'python3 -W ignore -c \'import os; os.system("rm x")\'', 'python3 -mtimeit -n1 -r1 \'import os; os.system("rm x")\'',
  'perl -I lib -e \'system "rm x"\'', 'node -C a -e \'child_process.execSync("rm x")\'', 'node --conditions a -e \'child_process.execSync("rm x")\'',
  // git configuration
  "git -C repo config --type=path alias.l '!rm ../x'; git -C repo l", "git -C repo config alias.l '!rm ../x' get; git -C repo l", "git -C repo config --file .git/config alias.l '!rm ../x' list; git -C repo l",
  "git ls-remote --u='rm x;git-upload-pack' repo", "git clone -q --u='rm x;git-upload-pack' repo r",
  'mkdir t t/hooks; cp s.sh t/hooks/post-commit; chmod +x t/hooks/*; git -c init.templateDir=$PWD/t init; git -c user.name=a -c user.email=a commit --allow-empty -m a',
  // variables that hold numbers
  "RANDOM='a[$(rm x)]'", "read OPTIND <<< 'a[$(rm x)]'", "export HISTCMD='a[$(rm x)]'", "for RANDOM in 'a[$(rm x)]'; do :; done", "mapfile -t RANDOM <<< 'a[$(rm x)]'", "q='a[$(rm x;echo 0)]'; z=([q]=1)",
  // other programs that run programs
  'choom -n 0 -- rm x', 'ssh-agent rm x', 'gpg-agent --daemon rm x', "sg root -c 'rm x'", "/proc/self/exe -c 'rm x'",
  // where bash and its grammar were found to differ
  'rm x\\\n', 'true;rm x\\\n', 'rm x \\\n', 'rm\\\n x\\\n\n', '(rm x\\\n)', 'rm x\\\n;', 'true;rm x\\\n ', "true; $'rm' x\\\n", ': 2>&-;rm x\\\n', '2>&-rm x', '<&-rm x', 'true 3>&-;>&-rm x', 'echo 0<(rm x)', 'echo {fd}<(rm x)', 'cat 12>(rm x)', "read OPTIND <<< 'a[$\\(rm x)]'", ": >&'$>(rm x)'", 'echo "`rm \\\n\\\\\\\n\nx`"', "q='a[$(rm x;echo 0)]'; z=([q]=1)\\\n ",
  'env =1 rm x', '$\\\nq eval rm x', "split --fil='rm x' names", ": >&'$(rm x)'", "printf -v a -v 'b[$(rm x)]' c", "cat <<E\n${q:-'$(rm x)'}\nE", 'jobs -s -x rm x',
];

/** More ways, tried only inside the sandbox: they reach outside the folder, or the program is rarely installed. */
// biome-ignore format: one line holds many
export const reaching: readonly string[] = [
  'fd -x rm x', 'fd a --exec rm x', 'fd a -X rm', 'fd -Hx rm x', 'fd $a', 'fd "$a" rm x', 'fd "$a"', "sh -c 'true |& rm x'", 'git merge --strategy=x b', 'git rebase --strategy=x main',
  "git ls-remote --upload-pack='rm x;' .", 'getopts ab: BASH_ENV', 'getopts ab:', 'timeout --kill-after', 'timeout --kill-after $a rm', 'git config --type=bool core.pager x',
  'npx rm x', 'npm exec -- rm x', 'uv run rm x', 'poetry run rm x', 'docker run -v .:/a b rm /a/x', "tmux new -d 'rm x'", 'script -q /dev/null rm x', 'ssh localhost rm x', 'sudo rm x', 'sudo -u root rm x',
  'sudo -s rm x', 'doas rm x', 'nsenter -t 1 rm x', 'chroot / rm x', 'watch -n 1 rm x', "watch 'rm x'", 'parallel rm ::: x', 'npm --prefix . exec -- rm x', 'pnpm --filter a exec rm x', 'poetry -C . run rm x', 'uv --directory . run rm x',
  'uv tool run rm x', 'pipx run rm x', 'pyenv exec rm x', 'docker-compose exec a rm x', 'ip netns exec a rm x', 'tini -- rm x', 'mpirun rm x', 'gtimeout 5 rm x', 'gxargs rm < names', 'php -d a=b -r 1', 'ruby -I lib -e 1', "ssh -o ProxyCommand='rm x' a",
];

/** Ways to delete `x` there that a rule about `rm` lets through by design (docs/permissions.md): rules know programs by name. */
// biome-ignore format: one line holds many
export const passing: readonly string[] = [
  // other programs that delete, replace or empty
  'unlink x', 'mv x y', 'mv -f names x', 'truncate -s 0 x', ': > x', '> x', 'echo a > x', 'echo a >| x', 'echo a >> x', 'cp names x', 'cp --remove-destination names x', 'cp -f /dev/null x', 'dd if=names of=x status=none',
  'install names x', 'ln -sf names x', 'ln -f names x', 'tee x < names', 'find . -name x -delete', 'find x -delete', 'shred -u x', 'sort -o x names', 'sed -i s/canary/a/ x', 'sed -i d x', 'split -b 1 names x; mv xaa x',
  'rsync --remove-source-files x y || unlink x', 'tar cf o.tar --remove-files x', 'gzip x', 'gzip -f x', 'bzip2 x || unlink x', 'xz x || unlink x', 'touch x; mv x ..', 'mkdir d && mv x d', 'rename x y x; mv x z',
  'patch -s x < names; mv x y', 'git init -q . && git add x && git -c user.name=a -c user.email=a@b commit -qm a && git mv x y', 'git init -q . && git add x && git clean -fdxq; unlink x',
  'git init -q . && git add --all && git -c user.name=a -c user.email=a@b commit -qm a && git clean -fdxq && git checkout -q --orphan o && git reset -q --hard && mv x y; unlink x', 'csplit -s -f x names 1 && mv x00 x', 'awk "{print > "x"}" names', 'printf a > x', 'cat names > x', 'cat < names 1<> x',
  'exec 3> x', 'exec > x; echo a', '{ echo a; } > x', 'echo a &> x', 'cd . && mv ./x ./y', '(mv x y)', 'for f in x; do mv $f y; done', 'f() { mv x y; }; f', 'echo x | xargs unlink', 'xargs unlink < names', 'env unlink x', 'timeout 5 unlink x', "bash -c 'unlink x'", "eval 'unlink x'",
  // the program under another name
  'cp /bin/rm l; ./l x', 'ln -s /bin/rm l; ./l x', 'ln -s /bin l; mv l/.. d 2>/dev/null; ln -s /bin/rm k; ./k x', 'cat /bin/rm > l; chmod +x l; ./l x', 'dd if=/bin/rm of=l status=none; chmod 700 l; ./l x', 'install -m 700 /bin/rm l; ./l x', 'mkdir b; cp /bin/rm b/ls; b/ls x', 'mkdir b; cp /bin/rm b/ls; PATH=b:$PATH; ls x',
  // scripts and programs that were written before
  "echo 'rm x' > l; chmod +x l; ./l", "printf '#!/bin/sh\\nrm x\\n' > l; chmod +x l; ./l", "printf '#!/bin/sh\\nrm x\\n' > l; chmod +x l; env ./l", "printf '#!/bin/rm\\n' > x; chmod +x x; ./x", 'chmod +x s.sh; ./s.sh', 'chmod 755 s.sh && env ./s.sh', 'chmod +x s.sh; timeout 5 ./s.sh', 
  "printf 'a:\\n\\trm x\\n' > Makefile; make", "printf 'a:\\n\\trm x\\n' > l; make -f l", "printf '.PHONY: a\\na: ; @rm x\\n' > makefile; make -s a", "echo 'import os; os.remove(\"x\")' > l.py; python3 l.py", "echo 'unlink \"x\"' > l.pl; perl l.pl",
  "echo 'int main(){return remove(\"x\");}' > l.c; gcc -o l l.c && ./l",
];

/** Everyday commands; a rule about `rm` must refuse none of them. */
// biome-ignore format: one line holds many
export const ordinary: readonly string[] = [
  'git diff --stat', 'git log --strategy=ours', 'fd -e ts', 'fd a -x ls', 'fd -x echo $a', 'ls | xargs', "awk -- '{print $1}' f", "sed -ne's/a/b/p' f", "sed -e's/a/b/' f", 'alias', 'getopts ab: o',
  'git config set user.name a', 'git config unset user.name', 'timeout --kill-after 1 5 ls', 'ls | xargs -I N echo N', '[[ a -nt b ]]', 'rsync --rsh ssh a b:c',
  'ls', 'ls -la src', "echo 'a'\\'';rm x #'", 'pwd', 'echo rm x', "echo 'rm x'", 'echo "rm $HOME"', 'git status', 'git log --oneline -n 5', 'git -C repo status', 'git diff HEAD~1 -- src',
  'git add -A && git commit -m "rm: remove the old; parser (see #1)"', 'git push origin main', 'git checkout -b rm-old', 'git rm --cached a', 'git stash pop',
  'git rebase main', 'git config user.name', 'git -c user.name=a commit -m b', 'git -c color.ui=never diff', 'git --no-pager log', 'git show HEAD:package.json',
  'git clone https://github.com/a/b', 'git worktree add ../w', 'git commit -am "$(cat <<\'E\'\nSubject\n\nBody with `code` and $(text)\nE\n)"', 'npm test && echo ok',
  'npm run build', 'npm run rm-all', 'npm ci', 'npx tsc --noEmit', 'npx -y prettier --write .', 'npm test -- test/tools 2>&1 | tail -20', 'yarn build',
  'pnpm exec vitest run', 'node --test', 'node --test test/*.test.ts', 'node src/main.ts --flag', 'node --version', 'NODE_OPTIONS=--max-old-space-size=4096 npm run build',
  'python3 -m pytest -q', 'python3 manage.py migrate', 'python -m venv .venv', 'pip install -r requirements.txt', 'uv run pytest -k "a and b"', 'cargo test --release',
  'go test ./...', 'make', 'make -j4 test', 'make CC=gcc CFLAGS="-O2 -g"', 'cmake -S . -B build && cmake --build build', 'mvn -q test', './gradlew build',
  './configure --prefix=/usr', 'docker compose up -d', 'docker ps', 'kubectl get pods', 'terraform plan', 'cat package.json | jq .version',
  'cat package.json | jq \'.scripts["test"]\'', 'grep -rn "rm -rf" .', 'grep -E "a|b" f | sort | uniq -c | sort -rn | head', 'rg -n "system\\(" src', 'find . -name "*.ts"',
  "find . -type f -name '*.js' -not -path './node_modules/*' | head -20", 'find . -name "*.ts" -exec grep -l foo {} +', "find . -name '*.ts' -print0 | xargs -0 grep -n foo",
  'ls | xargs -n1 basename', 'ls *.ts | wc -l', 'head -n 5 f', "sed -n '1,20p' f", "sed -i 's/foo/bar/g' f", "sed -e 's|a|b|' -e '/^#/d' f", "sed -E 's/(a)+/\\1/' f",
  "awk '{print $1}' f", 'awk -F: \'$3 > 10 || $1 == "a" {print $1}\' f', "tr -d '\\n' < f", 'cut -d, -f2 f', 'diff -u a b', 'tar czf o.tgz src', 'tar -xzf o.tgz',
  'curl -sS https://a.b/c | jq .', 'curl -X POST -d \'{"a": "$(b)"}\' https://a.b', 'wget -q https://a.b/c', 'rsync -avz -e ssh a b:c', 'ssh host uptime',
  'ssh -p 22 host "cd app && git pull"', 'psql -c "select 1" db', "sqlite3 db 'select count(*) from a'", 'for f in *.ts; do echo "$f"; done',
  'for i in 1 2 3; do echo $i; done', 'for ((i=0; i<3; i++)); do echo $i; done', 'while read -r line; do echo "$line"; done < f',
  'while IFS=, read -r a b; do echo "$a $b"; done < f', 'if [ -f a ]; then cat a; else echo none; fi', '[[ -d src && $x == a* ]] && echo yes',
  'case "$1" in a) echo a;; *) echo b;; esac', 'f() { echo "$1"; }; f a', 'x=1; echo $((x + 1))', 'n=$(ls | wc -l); echo "$((n * 2)) files"', 'echo $(date +%s)',
  'echo "${HOME:-/root}" ${#a} ${a%.ts} ${a/b/c}', 'a=(1 2 3); echo "${a[0]}" "${a[@]}"', 'set -euo pipefail; npm test', 'set -x; ls',
  'export PATH="$PWD/node_modules/.bin:$PATH"; tsc', 'PATH=$PWD/bin:$PATH npm test', 'export A=1 B="$C"', 'source_dir=src; ls "$source_dir"', 'cd src && ls', '(cd src; ls)',
  'mkdir -p a/b && touch a/b/c', 'cp -r a b; mv c d', 'chmod +x a.sh', 'ln -s a b', 'echo a > f', 'echo a >> f 2>&1', 'ls 2>/dev/null || true', 'sleep 1 & wait',
  'time npm test', 'timeout 60 npm test', 'nohup npm start > log 2>&1 &', 'env A=1 npm test', 'env | sort', 'sudo apt-get install -y perl python3 bash',
  'sudo -n systemctl restart a', 'nice -n 10 make', 'xargs -I{} echo {} < f', 'trap - EXIT', 'which rm', 'command -v rm', 'type rm', 'man rm', 'test -f a && echo b',
  "printf '%s\\n' a b", 'printf "\\033[1m%s\\n" a', 'kill %1', 'tee f < g', 'bash --version', "bash -c 'ls && echo hi'", "sh -c 'cd src; ls'",
  'xargs -n 1 sh -c \'echo "$0"\' < f', "cat > f.ts <<'E'\nconst a = `${b}`; // rm x\nE", 'cat > f <<E\nrm x; "quoted" and \'more\'\n$HOME\nE',
  'cat <<\'E\' | jq .\n{"a": "rm x"}\nE', 'cat <<< "a b"', 'diff <(sort a) <(sort b)', 'echo "a # b" # rm x', '# rm x\nls', 'echo a; # rm x',
  "git log --format='%h %s' | head", 'find "$dir" -name "$name" -type f', 'find . ! -name "$a" \\( -name b -o -name "$c" \\)', 'python3 -u train.py -c config.yaml', 'python3 -X utf8 train.py -c config.yaml', 'node --import ./a.ts b.ts',
  'perl -I lib a.pl -e b', 'RANDOM=42; echo $RANDOM', 'a=([1]=b); echo "${a[1]}"', 'git config --get user.name', 'git config --get-all alias.co ^x', 'git config --global init.defaultBranch main', 'git config --list --show-origin', 'git config --type=bool core.bare',
  'npm --prefix web run build', 'npm install x', 'uv --directory a sync', 'docker-compose up -d', 'pipx install a', 'echo {1..3} a{b,c}', 'ls -l ~/src', 'GIT_PAGER=cat git log', 'PAGER=cat git diff', 'EDITOR=true git commit --amend',
  'GIT_AUTHOR_NAME=a git commit -m b', 'a="$(git rev-parse HEAD)" && echo "$a"',
];
