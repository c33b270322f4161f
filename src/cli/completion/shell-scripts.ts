/*
 * Output of `coppice completion SHELL`. All three scripts call `coppice __complete WORDS…` for candidates for the last word: one per line, with its
 * description after a tab. A single line `:file` or `:folder`, tab, prefix tells the shell to complete a path after that prefix.
 */

/** For bash 3.2 and newer, without the bash-completion package. */
const BASH = `# bash completion for coppice. Load it in ~/.bashrc: source <(coppice completion bash)

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

_coppice() {
  local typed stub kept lead paths=-f line word listed='' width=0
  local -a words found
  COMPREPLY=()
  found=()
  _coppice_words
  typed="\${words[\${#words[@]} - 1]}"
  stub="\${COMP_WORDS[COMP_CWORD]-}"
  case "$stub" in *[!=:]*) ;; *) stub='' ;; esac
  # Of the word that is typed, bash puts in the last part only.
  kept="\${typed%"$stub"}"
  while IFS= read -r line; do found+=("$line"); done < <(coppice __complete "\${words[@]:1}" 2> /dev/null < /dev/null)
  case "\${found[0]-}" in
    :*)
      lead="\${found[0]#*$'\\t'}"
      case "\${found[0]}" in :folder*) paths=-d ;; esac
      compopt -o filenames 2> /dev/null
      found=()
      while IFS= read -r line; do found+=("$lead$line"); done < <(compgen $paths -- "\${typed#"$lead"}") ;;
  esac
  # Only a list that is shown has descriptions; what is put in is the word alone.
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
      COMPREPLY+=("\${word#"$kept"}")
    fi
  done
}

complete -o nosort -F _coppice coppice 2> /dev/null || complete -F _coppice coppice
`;

/** To be sourced, or put as `_coppice` into a folder of `fpath`. */
const ZSH = `#compdef coppice
# zsh completion for coppice. Load it in ~/.zshrc, after compinit: source <(coppice completion zsh)

_coppice() {
  local line word lead
  local -a lines found
  lines=("\${(@f)$(coppice __complete "\${(@Q)words[2,CURRENT-1]}" "\${(Q)PREFIX}" 2> /dev/null < /dev/null)}")
  if [[ $lines[1] == :* ]]; then
    lead="\${lines[1]#*$'\\t'}"
    if [[ -n $lead ]]; then compset -P "\${(b)lead}"; fi
    if [[ $lines[1] == :folder* ]]; then _files -/; else _files; fi
    return
  fi
  for line in $lines; do
    word="\${line%%$'\\t'*}"
    if [[ $line == *$'\\t'?* ]]; then found+=("\${word//:/\\\\:}:\${line#*$'\\t'}"); else found+=("\${word//:/\\\\:}"); fi
  done
  if (( \${#found} )); then _describe -V coppice found; fi
}

if [[ "\${funcstack[1]-}" == _coppice ]]; then _coppice "$@"; else compdef _coppice coppice; fi
`;

/** For fish 3 and newer. */
const FISH = `# fish completion for coppice. Load it: coppice completion fish > ~/.config/fish/completions/coppice.fish

function __coppice_complete
    set -l words (commandline -opc)[2..-1]
    set -l typed (commandline -ct)
    set -l found (coppice __complete $words "$typed" 2>/dev/null </dev/null)
    if not set -q found[1]
        return
    end
    if not string match -q ':*' -- "$found[1]"
        printf '%s\\n' $found
        return
    end
    set -l lead (string split -m1 \\t -- "$found[1]")[2]
    set -l path (string sub -s (math (string length -- "$lead") + 1) -- "$typed")
    set -l paths
    if string match -q ':folder*' -- "$found[1]"
        set paths (__fish_complete_directories "$path")
    else
        set paths (__fish_complete_path "$path")
    end
    for path in $paths
        printf '%s\\n' "$lead$path"
    end
end

complete -c coppice -f -k -a '(__coppice_complete)'
`;

export const SHELL_SCRIPTS = { bash: BASH, zsh: ZSH, fish: FISH } as const;
export type Shell = keyof typeof SHELL_SCRIPTS;
