import type { CommandShape } from './command-shape.ts';
import { commandRows, valueRows } from './script-table.ts';

/** The tables and the walk along the words, in the language that bash and zsh have in common. */
export function posixTable(shapes: readonly CommandShape[]): string {
  const commands = commandRows(shapes).map(
    ({ path, subs, flags, places }) =>
      `    ${quoted(path)})\n      subs=${quoted(subs)}\n      flags=${quoted(flags)}\n      places=${quoted(places)} ;;\n`,
  );
  const values = valueRows(shapes).map(
    ({ patterns, place }) => `    ${patterns.map(pattern).join('|')}) place=${quoted(place)} ;;\n`,
  );
  return `# Of a command: what may follow it, its flags, and what its arguments are.
_coppice_command() {
  subs='' flags='' places=''
  case "$1" in
${commands.join('')}  esac
}

# Of a flag: what it takes; empty for nothing.
_coppice_value() {
  place=''
  case "$1|$2" in
${values.join('')}  esac
}

# Goes along the words before the one that is typed. Sets place, or wants to flags or subs.
_coppice_walk() {
  local typed="$1" word line at='' count=0 dashes=''
  shift
  wants='' place='' lead=''
  _coppice_command ''
  for word in "$@"; do
    if [[ -n $place ]]; then
      place=''
      continue
    fi
    if [[ -z $dashes ]]; then
      case "$word" in
        --) dashes=1; continue ;;
        --*=*) continue ;;
        -?*) _coppice_value "$at" "$word"; continue ;;
      esac
      case $'\\n'"$subs" in
        *$'\\n'"$word"$'\\t'*)
          at="\${at:+$at }$word"
          count=0
          _coppice_command "$at"
          continue ;;
      esac
    fi
    count=$((count + 1))
  done
  if [[ -n $place ]]; then return; fi
  if [[ -z $dashes ]]; then
    case "$typed" in
      --*=*) lead="\${typed%%=*}="; _coppice_value "$at" "\${typed%%=*}"; return ;;
      -*) wants=flags; return ;;
    esac
    if [[ -n $subs ]]; then wants=subs; return; fi
  fi
  while IFS= read -r line; do
    case "$line" in +*) place="\${line#+}"; return ;; esac
    if [[ $count -eq 0 ]]; then place="$line"; return; fi
    count=$((count - 1))
  done <<< "$places"
}
`;
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

function pattern(text: string): string {
  return text.startsWith('*') ? `*${quoted(text.slice(1))}` : quoted(text);
}
