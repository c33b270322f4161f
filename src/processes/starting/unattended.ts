import { childEnvironment } from '../child-environment.ts';

/**
 * Editor for commands of agents, at whose terminal is no person: accepts a message or a list of steps that git proposes, and fails with advice where one would
 * have to write. An editor that the command itself names is used instead.
 */
const EDITOR = 'sh -c "$COPPICE_EDITOR" sh';
const EDITOR_SCRIPT = `n=\${1##*/} s=
given() { git config --show-scope --get "$1" 2>/dev/null | sed -n "s/^command[[:space:]]//p"; }
[ "$n" != git-rebase-todo ] || s=$(given sequence.editor)
for e in "$s" "$GIT_EDITOR" "$(given core.editor)" "$VISUAL" "$EDITOR"; do
case $e in ""|*COPPICE_EDITOR*);; *) exec sh -c "$e \\"\\$@\\"" "$e" "$@";; esac; done
c=$(git config --get core.commentChar 2>/dev/null); case $c in ?);; *) c="#";; esac
t=; case $n in
git-rebase-todo) t=$(grep -v "^\\(pick\\|p\\|noop\\|$c\\|$\\)" "$1"); h="change the list with GIT_SEQUENCE_EDITOR='sed -i …', or use --autosquash, --exec or git reset --soft";;
*_EDITMSG|*_MSG|EDIT_DESCRIPTION) t=$(sed "/^$c -* >8/,\\$d" "$1" | grep -v "^\\($c\\|[[:space:]]*$\\)"); h="give the text with -m TEXT or -F FILE";;
*) h="write the file without an editor (crontab FILE), or set EDITOR to a program that changes it";; esac
if [ "$t" ]; then echo "[$n is used as proposed: there is no person to edit it]" >&2; exit 0; fi
echo "[there is no person to edit $n: $h]" >&2; exit 1`;

/** Variables by which programs know that nobody answers. Network requests that only look for news are left out, too: without a network, they hang. */
const VARIABLES = {
  COPPICE_EDITOR: EDITOR_SCRIPT,
  ...{ EDITOR, VISUAL: EDITOR, GIT_EDITOR: EDITOR, GIT_SEQUENCE_EDITOR: EDITOR },
  ...{ PAGER: 'cat', GIT_PAGER: 'cat', GIT_TERMINAL_PROMPT: '0', GCM_INTERACTIVE: 'never' },
  ...{ SSH_ASKPASS_REQUIRE: 'never', DEBIAN_FRONTEND: 'noninteractive', COMPOSER_NO_INTERACTION: '1' },
  ...{ PIP_NO_INPUT: '1', PIP_DISABLE_PIP_VERSION_CHECK: '1', npm_config_update_notifier: 'false' },
};

/** The environment of a command of an agent; what `also` names wins. */
export function commandEnvironment(also: readonly string[]): Record<string, string> {
  return { ...VARIABLES, ...childEnvironment(also) };
}

/** What programs print that wait for a person, and how to do without. The first that matches counts. */
const ADVICE: readonly (readonly [RegExp, string])[] = [
  [/creating a package\.json file/, 'npm init -y takes the defaults'],
  [/sudo: (?:a terminal|a password|no tty)/, 'do it without sudo, or leave it to the user'],
  [/Host key verification failed/, 'the user must add the host to known_hosts (ssh-keyscan)'],
  [/prompts disabled|not read (?:User|Pass)|Permission denied \(/, 'use credentials that ask no question'],
  [/pinentry|gpg.*(?:ioctl|tty)/s, 'gpg --batch --pinentry-mode loopback, or git commit --no-gpg-sign'],
  [/^passwd: |token manipulation/m, 'chpasswd reads NAME:PASSWORD from its input'],
  [
    /error reading input|not (?:to |from )?a (?:terminal|tty)|opening terminal|dev\/tty/i,
    'use what needs no terminal',
  ],
  [
    /EOFError|\bread (?:-\w+ )*-\w*p|[[(]y(?:es)?\/n|(?:proceed|continue) ?[?(]|[?:>] \n?$/i,
    'use --yes, or pipe answers',
  ],
];

/** For a failed command: advice if it seems to have waited for a person; undefined if not. `output`: if it said nothing, the command itself. */
export function unattendedAdvice(output: string): string | undefined {
  const advice = ADVICE.find(([said]) => said.test(output.slice(-4000)))?.[1];
  return advice && `no person is there to answer or to type: ${advice}`;
}
