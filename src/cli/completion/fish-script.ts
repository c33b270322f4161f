import type { CommandShape } from './command-shape.ts';
import { commandRows, valueRows } from './script-table.ts';

/** Completion for fish 3 and newer. */
export function fishScript(shapes: readonly CommandShape[]): string {
  const commands = commandRows(shapes).map(
    ({ path, subs, flags, places }) => `        case ${quoted(path)}
            set subs ${list(subs)}
            set flags ${list(flags)}
            set places ${list(places)}
`,
  );
  const values = valueRows(shapes).map(
    ({ patterns, place }) => `        case ${patterns.map(quoted).join(' ')}
            set place ${quoted(place)}
`,
  );
  return `# fish completion for coppice. Load it: coppice completion fish > ~/.config/fish/completions/coppice.fish

# Of a command: what may follow it, its flags, and what its arguments are.
function __coppice_command --no-scope-shadowing
    set subs
    set flags
    set places
    switch "$argv[1]"
${commands.join('')}    end
end

# Of a flag: what it takes; empty for nothing.
function __coppice_value --no-scope-shadowing
    set place ''
    switch "$argv[1]|$argv[2]"
${values.join('')}    end
end

function __coppice_complete
    set -l words (commandline -opc)[2..-1]
    set -l typed (commandline -ct)
    set -l at ''
    set -l count 0
    set -l dashes ''
    set -l lead ''
    set -l place ''
    set -l subs
    set -l flags
    set -l places
    __coppice_command ''
    for word in $words
        if test -n "$place"
            set place ''
            continue
        end
        if test -z "$dashes"
            switch "$word"
                case --
                    set dashes 1
                    continue
                case '--*=*'
                    continue
                case '-?*'
                    __coppice_value "$at" "$word"
                    continue
            end
            if contains -- "$word" (string split -f1 \\t -- $subs)
                set at (string trim -- "$at $word")
                set count 0
                __coppice_command "$at"
                continue
            end
        end
        set count (math $count + 1)
    end
    if test -z "$place"
        if test -z "$dashes"
            switch "$typed"
                case '--*=*'
                    set lead (string split -m1 -f1 = -- "$typed")=
                    __coppice_value "$at" (string split -m1 -f1 = -- "$typed")
                    if test -z "$place"
                        return
                    end
                case '-*'
                    printf '%s\\n' $flags
                    return
            end
            if test -z "$lead"; and set -q subs[1]
                printf '%s\\n' $subs
                return
            end
        end
        if test -z "$lead"; and set -q places[1]
            set -l last $places[-1]
            if test $count -lt (count $places)
                set place $places[(math $count + 1)]
            else if string match -q '+*' -- "$last"
                set place $last
            end
            set place (string replace -r '^\\+' '' -- "$place")
        end
    end
    set -l value (string sub -s (math (string length -- "$lead") + 1) -- "$typed")
    switch "$place"
        case @ask
            set -l found (coppice __complete $words "$typed" 2>/dev/null </dev/null)
            for line in $found
                printf '%s\\n' "$lead$line"
            end
        case @file
            if string match -q 'sqlite:*' -- "$value"
                set lead "$lead"sqlite:
                set value (string replace 'sqlite:' '' -- "$value")
            end
            for line in (__fish_complete_path "$value")
                printf '%s\\n' "$lead$line"
            end
        case @folder
            for line in (__fish_complete_directories "$value")
                printf '%s\\n' "$lead$line"
            end
        case '' @any
        case '*'
            for word in (string split ' ' -- "$place")
                printf '%s\\n' "$lead$word"
            end
    end
end

complete -c coppice -f -k -a '(__coppice_complete)'
`;
}

function quoted(text: string): string {
  return `'${text.replaceAll(/[\\']/g, '\\$&')}'`;
}

function list(lines: string): string {
  return lines === '' ? '' : lines.split('\n').map(quoted).join(' ');
}
