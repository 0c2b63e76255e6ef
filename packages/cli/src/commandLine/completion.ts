import { setTimeout as delay } from 'node:timers/promises'
import { CANDLE_INTERVALS, OPEN_ORDER_STATUSES } from '@bezel/protocol'
import { CHAIN_SLUGS } from '@bezel/protocol/wire'
import { readChoice } from '../arguments/readers.ts'
import type { OptionTable } from '../arguments/readOptions.ts'
import type { Command } from '../commands/command.ts'
import { GLOBAL_OPTIONS } from './helpText.ts'

const SHELLS = ['bash', 'zsh', 'fish'] as const

type Shell = (typeof SHELLS)[number]

/** Time that the service has to name its markets. A start of a shell may wait for it. */
const MARKETS_MS = 2_000

/** `bezel completion`. */
export const completionCommand: Command = {
  name: 'completion',
  summary: 'prints a script that lets the shell complete commands, options, chains and markets',
  operands: [{ name: 'SHELL', what: SHELLS.join(', ') }],
  options: {},
  examples: ['completion bash', 'completion zsh', 'completion fish'],
  async run({ args, output, environment, commands }) {
    const shell = readChoice(args.operands[0]!, 'SHELL', SHELLS)
    const list = environment.publicClient().markets.list()
    const found = await Promise.race([list.catch(() => []), delay(MARKETS_MS, [], { ref: false })])
    const script = completionScript(
      shell,
      commands,
      found.map(({ symbol }) => symbol),
    )
    output.answer({ shell, script }, () => [script])
    if (found.length === 0)
      output.note('The service named no markets, so none are completed. Make the script again later.')
  },
}

/** Returns the script of a shell. It knows the commands, options and markets of now, and asks nobody. */
export function completionScript(shell: Shell, commands: readonly Command[], markets: readonly string[]): string {
  const candidates = candidatesFunction(commands, { ...WORDS, MARKET: markets })
  return `${GLUE[shell](candidates)}\n`
}

/** Words that the placeholders of operands and options stand for, where they are few. Files are left to the shell. */
const WORDS: Readonly<Record<string, readonly string[]>> = {
  CHAIN: CHAIN_SLUGS,
  INTERVAL: Object.keys(CANDLE_INTERVALS),
  SHELL: SHELLS,
  SIDE: ['long', 'short'],
  STATUS: OPEN_ORDER_STATUSES,
}

/** Exit status of the candidates' function where a file is wanted. */
const FILES = 3

/**
 * Returns the function that prints the candidates for the last of its arguments, the words after `bezel`: one in a
 * line, and behind a tab what it is. Every POSIX shell understands it, so all three share it; fish runs it with sh.
 */
function candidatesFunction(commands: readonly Command[], words: Readonly<Record<string, readonly string[]>>): string {
  const options = [GLOBAL_OPTIONS, ...commands.map((command) => command.options)]
  const groups = Map.groupBy(commands, ({ name }) => name.split(' ').slice(0, -1).join(' '))
  return `_bezel_candidates() {
  name= value= place=0
  while [ $# -gt 1 ]; do
    if [ -n "$value" ]; then
      value=
    else
      case $1 in
${valueOptions(options)}
        -*) ;;
        *)
          case "$name/$1" in
${steps(commands)}
            *) place=$((place + 1)) ;;
          esac
          ;;
      esac
    fi
    shift
  done
  if [ -z "$value" ]; then
    case $1 in
      -*)
        case $name in
${commands.map(({ name, options: own }) => branch(name, optionLines(own))).join('\n')}
        esac
        ${printed(optionLines(GLOBAL_OPTIONS))}
        return 0
        ;;
    esac
    case "$name:$place" in
${[...groups].map(([group, members]) => branch(`${group}:0`, commandLines(group, members, commands))).join('\n')}
    esac
    case "$name:$place" in
${commands.flatMap(operandBranches).join('\n')}
    esac
  fi
  case $value in
    FILE | FOLDER) return ${FILES} ;;
${listBranch(words['MARKET'] ?? [])}
${Object.entries(words)
  .map(([placeholder, list]) => branch(placeholder, list))
  .join('\n')}
  esac
  return 0
}`
}

/**
 * Returns the branch of values with commas between them, such as `BTC/USD,ETH/USD`: candidates for the last of them,
 * behind those that are there, and none twice.
 */
function listBranch(members: readonly string[]): string {
  if (members.length === 0) return branch('LIST', [])
  return `    LIST)
      list=
      case $1 in
        *,*) list=\${1%,*}, ;;
      esac
      while read -r word; do
        case ",$list" in
          *",$word,"*) ;;
          *) printf '%s\\n' "$list$word" ;;
        esac
      done <<'END'
${members.join('\n')}
END
      ;;`
}

/** Returns the branches that recognise options with a value, and remember its placeholder. */
function valueOptions(tables: readonly OptionTable[]): string {
  const found = tables.flatMap((table) => Object.entries(table)).filter(([, { type }]) => type === 'string')
  const values = new Map(found.map(([name, { value = 'VALUE' }]) => [name, value]))
  return [...values].map(([name, value]) => `        --${name}) value=${value} ;;`).join('\n')
}

/** Returns the branches that lead from word to word to the name of a command. */
function steps(commands: readonly Command[]): string {
  const found = commands.flatMap(({ name, aliases = [] }) => [name, ...aliases].map((said) => [said, name] as const))
  const first = new Map(found.map(([said, name]) => [`/${said.split(' ')[0]}`, name.split(' ')[0]!]))
  const second = found
    .filter(([said]) => said.includes(' '))
    .map(([said, name]) => [said.replace(' ', '/'), name] as const)
  return ['            /help) ;;']
    .concat([...first, ...second].map(([path, name]) => `            ${path}) name='${name}' ;;`))
    .join('\n')
}

/** Returns the branches that give each operand of a command its placeholder. */
function operandBranches({ name, operands }: Command): string[] {
  return operands.map(
    (operand, place) => `      '${name}:'${operand.isMany === true ? '*' : place}) value=${operand.name} ;;`,
  )
}

/** Returns the words that may follow a group: the last words of its commands, and of no group the first of all. */
function commandLines(group: string, members: readonly Command[], all: readonly Command[]): string[] {
  if (group !== '') return members.map(({ name, summary }) => `${name.slice(group.length + 1)}\t${summary}`)
  const first = new Map(all.map(({ name, summary }) => [name.split(' ')[0]!, name.includes(' ') ? '' : summary]))
  for (const { name, summary } of members) first.set(name, summary)
  return [...first].map(([word, summary]) => (summary === '' ? word : `${word}\t${summary}`))
}

function optionLines(table: OptionTable): string[] {
  return Object.entries(table).map(([name, { what }]) => `--${name}\t${what}`)
}

function branch(pattern: string, lines: readonly string[]): string {
  return lines.length === 0 ? `        '${pattern}') ;;` : `        '${pattern}')\n${printed(lines)}\n          ;;`
}

/** Returns the command that prints lines as they are. `command` goes around an alias that a user may have for cat. */
function printed(lines: readonly string[]): string {
  return ["command cat <<'END'", ...lines, 'END'].join('\n')
}

/** The part of each script that asks for candidates and hands them to its shell. */
const GLUE: Readonly<Record<Shell, (candidates: string) => string>> = {
  bash: (candidates) => `# Completion of bezel for bash, made by bezel completion bash.

${candidates}

_bezel() {
  COMPREPLY=()
  local current=\${COMP_WORDS[COMP_CWORD]} found cased word what
  found=$(_bezel_candidates "\${COMP_WORDS[@]:1:COMP_CWORD}")
  if [ $? -eq ${FILES} ]; then
    compopt -o filenames 2>/dev/null
    found=$(compgen -f -- "$current")
  fi
  cased=$(shopt -p nocasematch)
  shopt -s nocasematch
  while IFS=$'\\t' read -r word what; do
    [[ -n $word && $word == "$current"* ]] && COMPREPLY+=("$word")
  done <<<"$found"
  eval "$cased"
}

_bezel_npx() {
  COMPREPLY=()
  if [ "$COMP_CWORD" -gt 1 ] && [ "\${COMP_WORDS[1]}" = bezel ]; then
    COMP_WORDS=("\${COMP_WORDS[@]:1}")
    COMP_CWORD=$((COMP_CWORD - 1))
    _bezel
  else
    compopt -o default 2>/dev/null
  fi
}

complete -F _bezel bezel
complete -p npx >/dev/null 2>&1 || complete -F _bezel_npx npx`,

  zsh: (candidates) => `#compdef bezel
# Completion of bezel for zsh, made by bezel completion zsh.

${candidates}

_bezel() {
  local found
  local -a lines
  found=$(_bezel_candidates "\${(@)words[2,CURRENT]}")
  if [ $? -eq ${FILES} ]; then
    _files
    return
  fi
  [ -n "$found" ] || return 1
  lines=("\${(@f)found}")
  lines=("\${(@)lines//$'\\t'/:}")
  _describe bezel lines
}

if [ "\${funcstack[1]}" = _bezel ]; then
  _bezel "$@"
else
  compdef _bezel bezel
  [ -n "\${_comps[npx]}" ] || compdef _precommand npx
fi`,

  fish: (candidates) => `# Completion of bezel for fish, made by bezel completion fish.

set -g __bezel_candidates '${`${candidates}\n_bezel_candidates "$@"`.replace(/['\\]/g, '\\$&')}'

function __bezel_complete
    set -l before (commandline -opc)
    if test "$before[1]" = npx
        set -e before[1]
    end
    set -e before[1]
    set -l current (commandline -ct)
    sh -c $__bezel_candidates bezel $before "$current"
    if test $status -eq ${FILES}
        __fish_complete_path "$current"
    end
end

function __bezel_is_run_by_npx
    set -l before (commandline -opc)
    test (count $before) -gt 1; and test "$before[2]" = bezel
end

complete -c bezel -f -a '(__bezel_complete)'
complete -c npx -n __bezel_is_run_by_npx -f -a '(__bezel_complete)'`,
}
