import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { COMMANDS } from '../runCli.ts'
import { completionScript } from './completion.ts'
import { GLOBAL_OPTIONS } from './helpText.ts'

const MARKETS = ['BTC/USD', 'ETH/USD', 'EUR/USD']

const isThere = (program: string): boolean => spawnSync(program, ['-c', 'exit 0']).status === 0

/** Words after `bezel` with the one that is being completed, and the candidates that are expected. */
const CASES: readonly (readonly [words: readonly string[], expected: readonly string[]])[] = [
  [['fl'], ['flatten']],
  [['pos'], ['positions']],
  [
    ['agent', ''],
    ['new', 'authorise', 'delegate', 'status', 'revoke'],
  ],
  [['--chain', 'base', 'agent', 's'], ['status']],
  [['notices', ''], ['dismiss']],
  [
    ['--chain', 'arb'],
    ['arbitrum', 'arbitrum-sepolia'],
  ],
  [['order', ''], MARKETS],
  [
    ['order', 'BTC/USD', ''],
    ['long', 'short'],
  ],
  [['order', '--leverage', '10', 'BTC/USD', 's'], ['short']],
  [['order', 'BTC/USD', 'long', ''], []],
  [['price', 'BTC/USD', 'ET'], ['ETH/USD']],
  [['close', '--all', '--market', 'B'], ['BTC/USD']],
  [
    ['agent', 'authorise', '--markets', 'E'],
    ['ETH/USD', 'EUR/USD'],
  ],
  [
    ['watch', '--markets', 'BTC/USD,E'],
    ['BTC/USD,ETH/USD', 'BTC/USD,EUR/USD'],
  ],
  [['watch', '--markets', 'btc,ETH/USD,E'], ['btc,ETH/USD,EUR/USD']],
  [
    ['candles', 'btc', '--interval', '1'],
    ['1m', '15m', '1h', '1d'],
  ],
  [['orders', '--status', 't'], ['timed_out']],
  [
    ['amend', '7', '--sl'],
    ['--sl', '--slippage'],
  ],
  [['agent', 'authorize', '--max'], ['--max-leverage']],
  [
    ['completion', ''],
    ['bash', 'zsh', 'fish'],
  ],
  [['help', 'pri'], ['price']],
  [['nothing', 'of', 'this', ''], []],
]

describe('the completion of shells', () => {
  let folder: string
  const pathOf = (shell: string): string => join(folder, shell)

  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'bezel-completion-'))
    for (const shell of ['bash', 'zsh', 'fish'] as const) {
      writeFileSync(pathOf(shell), completionScript(shell, COMMANDS, MARKETS))
    }
  })
  after(() => rmSync(folder, { recursive: true, force: true }))

  /** Asks bash for its candidates after a command, as its own completion does. */
  function bash(words: readonly string[], command = 'bezel'): string[] {
    const asking = command === 'npx' ? '_bezel_npx' : '_bezel'
    const program = `source "$0"; COMP_WORDS=(${command} "$@"); COMP_CWORD=$#; ${asking}; printf '%s\\n' "\${COMPREPLY[@]}"`
    const said = execFileSync('bash', ['--norc', '-c', program, pathOf('bash'), ...words], {
      encoding: 'utf8',
      cwd: folder,
    })
    return said.split('\n').filter((line) => line !== '')
  }

  it('finds commands, options and their values in bash', () => {
    for (const [words, expected] of CASES) assert.deepEqual(bash(words), expected, words.join(' '))
    assert.deepEqual(bash(['order', 'eu']), ['EUR/USD'], 'in small letters too')
  })

  it('finds the same behind npx, and nothing for other programs that npx runs', () => {
    for (const [words, expected] of CASES) assert.deepEqual(bash(['bezel', ...words], 'npx'), expected, words.join(' '))
    assert.deepEqual(bash(['other', 'pos'], 'npx'), [])
    assert.deepEqual(bash(['bez'], 'npx'), [])
    const completes = (setting: string): string =>
      execFileSync('bash', ['--norc', '-c', `${setting}; source "$0"; complete -p npx`, pathOf('bash')], {
        encoding: 'utf8',
      })
    assert.match(completes(':'), /-F _bezel_npx npx/)
    assert.match(completes('complete -F _mine npx'), /-F _mine npx/, 'a completion of npx that is there stays')
  })

  it('knows every command, option and alias that the help text knows', () => {
    const first = new Set(COMMANDS.map(({ name }) => name.split(' ')[0]!))
    assert.deepEqual(new Set(bash([''])), first)
    for (const { name, aliases = [], options } of COMMANDS) {
      const expected = [...Object.keys(options), ...Object.keys(GLOBAL_OPTIONS)].map((option) => `--${option}`)
      for (const said of [name, ...aliases]) assert.deepEqual(bash([...said.split(' '), '-']), expected, said)
    }
  })

  it('could not be told by its name alone whether an option has a value, if two commands disagreed', () => {
    const types = new Map<string, string>(Object.entries(GLOBAL_OPTIONS).map(([name, { type }]) => [name, type]))
    for (const { options } of COMMANDS) {
      for (const [name, { type }] of Object.entries(options)) {
        assert.equal(types.get(name) ?? type, type, name)
        types.set(name, type)
      }
    }
  })

  it('leaves files to the shell', () => {
    assert.deepEqual(bash(['agent', 'new', 'ba']), ['bash'])
    assert.deepEqual(bash(['positions', '--keystore', 'fi']), ['fish'])
  })

  /** Types lines at the prompt of a shell, in which `bezel` prints the words that it gets. */
  function typed(shell: string, lines: readonly string[]): string {
    const show = `bezel() { printf '<%s>' "$@"; echo; }; npx() { bezel "$@"; }`
    const typedLines = [
      'bezel agent auth\t--mark\tBTC/USD',
      'bezel clo\t--mark\tBT\t',
      'npx bezel flat\t--mark\tET\t',
      'bezel watch --mark\tBTC/USD,ET\t',
    ]
    const input = [...lines, show, ...typedLines, 'exit', '']
    // The program `script` of util-linux gives the shell a terminal.
    const { stdout } = spawnSync('script', ['-qec', shell, '/dev/null'], {
      input: input.join('\n'),
      encoding: 'utf8',
      env: { PATH: process.env['PATH'], TERM: 'dumb', HOME: folder },
    })
    return stdout
  }

  /** Lines that the typed ones become. */
  const TYPED = [
    /<agent><authorise><--markets><BTC\/USD>/,
    /<close><--market><BTC\/USD>/,
    /<bezel><flatten><--market><ETH\/USD>/,
    /<watch><--markets><BTC\/USD,ETH\/USD>/,
  ]

  const hasTerminals = process.platform === 'linux' && spawnSync('script', ['--version']).status === 0

  it('completes what is typed at a prompt of bash', (test) => {
    if (!hasTerminals) return test.skip('script of util-linux is missing')
    const said = typed('bash --norc --noprofile -i', [`source ${pathOf('bash')}`])
    for (const line of TYPED) assert.match(said, line)
  })

  it('completes what is typed at a prompt of zsh', (test) => {
    if (!isThere('zsh')) return test.skip('zsh is not installed; its script is only compared')
    execFileSync('zsh', ['-n', pathOf('zsh')])
    if (!hasTerminals) return test.skip('script of util-linux is missing')
    const said = typed('zsh -f -i', ['autoload -Uz compinit && compinit -D -u', `source ${pathOf('zsh')}`])
    for (const line of TYPED) assert.match(said, line)
  })

  it('asks one function, which every POSIX shell understands', () => {
    const [, candidates = ''] =
      /^(_bezel_candidates\(\) \{\n.*?\n\})$/ms.exec(completionScript('bash', COMMANDS, MARKETS)) ?? []
    for (const [words, expected] of CASES) {
      const { stdout, status } = spawnSync('sh', ['-c', `${candidates}\n_bezel_candidates "$@"`, 'bezel', ...words], {
        encoding: 'utf8',
      })
      assert.equal(status, 0)
      const found = stdout.split('\n').map((line) => line.split('\t')[0]!)
      const word = words.at(-1)!
      const fitting = found.filter((candidate) => candidate !== '' && candidate.startsWith(word))
      assert.deepEqual(fitting, expected, words.join(' '))
    }
  })

  it('offers the same in fish', (test) => {
    if (!isThere('fish')) return test.skip('fish is not installed; its script is only compared')
    execFileSync('fish', ['--no-execute', pathOf('fish')])
    for (const [words, expected] of CASES) {
      const line = ['bezel', ...words].join(' ')
      const said = execFileSync('fish', ['--no-config', '-c', `source ${pathOf('fish')}; complete -C '${line}'`], {
        encoding: 'utf8',
      })
      const found = said.split('\n').flatMap((entry) => (entry === '' ? [] : entry.split('\t')[0]!))
      assert.deepEqual(found.toSorted(), expected.toSorted(), line)
    }
  })

  it('has the same candidates in all scripts, and around them what each shell needs', () => {
    const scripts = ['bash', 'zsh', 'fish'].map((shell) => completionScript(shell as 'bash', COMMANDS, MARKETS))
    const [bashScript = '', zshScript = '', fishScript = ''] = scripts
    const candidates = bashScript.slice(bashScript.indexOf('_bezel_candidates()'), bashScript.indexOf('\n\n_bezel() {'))
    assert.equal(
      zshScript.replace(candidates, '...'),
      `#compdef bezel
# Completion of bezel for zsh, made by bezel completion zsh.

...

_bezel() {
  local found
  local -a lines
  found=$(_bezel_candidates "\${(@)words[2,CURRENT]}")
  if [ $? -eq 3 ]; then
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
fi
`,
    )
    const quoted = candidates.replaceAll('\\', '\\\\').replaceAll("'", "\\'")
    assert.equal(
      fishScript.replace(quoted, '...'),
      `# Completion of bezel for fish, made by bezel completion fish.

set -g __bezel_candidates '...
_bezel_candidates "$@"'

function __bezel_complete
    set -l before (commandline -opc)
    if test "$before[1]" = npx
        set -e before[1]
    end
    set -e before[1]
    set -l current (commandline -ct)
    sh -c $__bezel_candidates bezel $before "$current"
    if test $status -eq 3
        __fish_complete_path "$current"
    end
end

function __bezel_is_run_by_npx
    set -l before (commandline -opc)
    test (count $before) -gt 1; and test "$before[2]" = bezel
end

complete -c bezel -f -a '(__bezel_complete)'
complete -c npx -n __bezel_is_run_by_npx -f -a '(__bezel_complete)'
`,
    )
  })
})
