import type { CommandShape } from './command-shape.ts';
import { posixTable } from './posix-table.ts';

/** Completion for zsh: to be sourced, or put as `_coppice` into a folder of `fpath`. */
export function zshScript(shapes: readonly CommandShape[]): string {
  return `#compdef coppice
# zsh completion for coppice. Load it in ~/.zshrc, after compinit: source <(coppice completion zsh)

${posixTable(shapes)}
# Takes lines of word, tab, description.
_coppice_offer() {
  local line word
  local -a found
  for line in "\${(@f)1}"; do
    word="\${line%%$'\\t'*}"
    if [[ -z $word ]]; then continue; fi
    if [[ $line == *$'\\t'?* ]]; then found+=("\${word//:/\\\\:}:\${line#*$'\\t'}"); else found+=("\${word//:/\\\\:}"); fi
  done
  if (( \${#found} )); then _describe -V "\${@:2}" coppice found; fi
}

_coppice() {
  emulate -L zsh
  local subs flags places place wants lead
  local -a before
  before=("\${(@Q)words[2,CURRENT-1]}")
  _coppice_walk "\${(Q)PREFIX}" "\${before[@]}"
  if [[ -n $lead ]]; then compset -P '*='; fi
  case "$wants$place" in
    flags) _coppice_offer "$flags" -o ;;
    subs) _coppice_offer "$subs" ;;
    @ask) _coppice_offer "$(coppice __complete "\${before[@]}" "$lead\${(Q)PREFIX}" 2> /dev/null < /dev/null)" ;;
    @file) compset -P 'sqlite:'; _files ;;
    @folder) _files -/ ;;
    ''|@any) ;;
    *) _coppice_offer "\${place// /$'\\n'}" ;;
  esac
}

if [[ "\${funcstack[1]-}" == _coppice ]]; then _coppice "$@"; else compdef _coppice coppice; fi
`;
}
