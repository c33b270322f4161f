import type { CommandShape } from './command-shape.ts';
import { posixTable } from './posix-table.ts';

/** Completion for bash 3.2 and newer, without the bash-completion package. */
export function bashScript(shapes: readonly CommandShape[]): string {
  return `# bash completion for coppice. Load it in ~/.bashrc: source <(coppice completion bash)

${posixTable(shapes)}
# bash splits words at = and : too; what has no blank between is one word.
_coppice_words() {
  local i word rest="\${COMP_LINE-}" before=0
  words=()
  for ((i = 0; i <= COMP_CWORD; i++)); do
    word="\${COMP_WORDS[i]-}"
    case "$rest" in
      ''|[[:blank:]]*) words+=("$word") ;;
      *) if ((i == 0)); then words+=("$word"); else before=$((\${#words[@]} - 1)); words[before]+="$word"; fi ;;
    esac
    rest="\${rest#"\${rest%%[![:blank:]]*}"}"
    rest="\${rest#"$word"}"
  done
}

# Takes lines of word, tab, description; keeps those that begin with what is typed.
_coppice_offer() {
  local line word
  while IFS= read -r line; do
    word="\${line%%$'\\t'*}"
    if [[ -n $word && $word == "$typed"* ]]; then found+=("$line"); fi
  done
}

_coppice() {
  local subs flags places place wants lead typed stub i line word width=0
  local -a words found
  COMPREPLY=()
  found=()
  _coppice_words
  typed="\${words[\${#words[@]} - 1]}"
  stub="\${COMP_WORDS[COMP_CWORD]-}"
  case "$stub" in *[!=:]*) ;; *) stub='' ;; esac
  # Of the word that is typed, bash puts in the last part only.
  local kept="\${typed%"$stub"}"
  _coppice_walk "$typed" "\${words[@]:1:\${#words[@]} - 2}"
  typed="\${typed#"$lead"}"
  case "$wants$place" in
    flags) _coppice_offer <<< "$flags" ;;
    subs) _coppice_offer <<< "$subs" ;;
    @ask) _coppice_offer < <(coppice __complete "\${words[@]:1}" 2> /dev/null < /dev/null) ;;
    @file|@folder)
      compopt -o filenames 2> /dev/null
      case "$place$typed" in @filesqlite:*) lead="$lead"sqlite:; typed="\${typed#sqlite:}" ;; esac
      while IFS= read -r line; do found+=("$line"); done < <(
        if [[ $place == @file ]]; then compgen -f -- "$typed"; else compgen -d -- "$typed"; fi
      ) ;;
    ''|@any) ;;
    *) _coppice_offer <<< "\${place// /$'\\n'}" ;;
  esac
  # Only a list that is shown has descriptions; what is put in is the word alone.
  local listed=''
  case "\${COMP_TYPE-}" in 33|63) if ((\${#found[@]} > 1)); then listed=1; fi ;; esac
  for line in \${found[@]+"\${found[@]}"}; do
    word="\${line%%$'\\t'*}"
    if ((\${#word} > width)); then width=\${#word}; fi
  done
  for line in \${found[@]+"\${found[@]}"}; do
    word="\${line%%$'\\t'*}"
    if [[ -n $listed && $line == *$'\\t'?* ]]; then
      printf -v line '%-*s  (%s)' "$width" "$word" "\${line#*$'\\t'}"
      COMPREPLY+=("$line")
    else
      word="$lead$word"
      COMPREPLY+=("\${word#"$kept"}")
    fi
  done
}

complete -o nosort -F _coppice coppice 2> /dev/null || complete -F _coppice coppice
`;
}
