import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { describe, it } from 'node:test'
import { listModules } from './sourceGraph.ts'

const PACKAGES = ['protocol', 'server', 'sdk', 'cli', 'devnet', 'testkit']
const MODULES = PACKAGES.flatMap((name) => listModules(`packages/${name}/src`))
/** The console is a page of its own: its exports have to be used, but it may use names that the service has too. */
const CONSOLE_MODULES = listModules('packages/console/src')
const USERS = globSync('{packages,e2e,bench,scripts,contracts}/**/*.{ts,tsx}', {
  exclude: (name) => /node_modules/.test(name),
})

/** Entry modules of published packages: others install them and may import everything. */
const PUBLIC = new Set(['packages/sdk/src/index.ts'])

/** Modules behind the names that packages import each other by. */
const PACKAGE_MODULES: Readonly<Record<string, string>> = {
  '@bezel/protocol': 'packages/protocol/src/index.ts',
  '@bezel/protocol/program': 'packages/protocol/src/program.ts',
  '@bezel/protocol/wire': 'packages/protocol/src/wire.ts',
  '@bezel/sdk': 'packages/sdk/src/index.ts',
  '@bezel/server': 'packages/server/src/run.ts',
  '@bezel/devnet': 'packages/devnet/src/run.ts',
}

interface Exported {
  readonly module: string
  readonly name: string
  readonly isType: boolean
}

describe('exports', () => {
  it('are used by somebody else, or are types of something that is', () => {
    assert.deepEqual(unusedExports([...MODULES, ...CONSOLE_MODULES], read, USERS), [])
  })

  it('would be listed when nobody imports them', () => {
    const texts: Readonly<Record<string, string>> = {
      'a.ts':
        'export const used = 1\nexport const dead = 2\nexport interface Shape {}\nexport type Lost = 1\nconst x: Shape = {}',
      'b.ts': "import { used } from './a.ts'\n",
    }
    const found = unusedExports(['a.ts'], (file) => texts[file]!, ['a.ts', 'b.ts'])
    assert.deepEqual(found, ['a.ts: dead', 'a.ts: Lost'])
  })

  it('have a name of their own: one name means one thing in all packages', () => {
    const meanings = new Map<string, string[]>()
    for (const { module, name } of MODULES.flatMap((file) => declaredExports(file, read(file)))) {
      meanings.set(name, [...(meanings.get(name) ?? []), module])
    }
    const doubles = [...meanings].filter(([, modules]) => modules.length > 1)
    assert.deepEqual(doubles, [])
  })
})

/**
 * Lists exports that no other module imports; a type may also be used by its own module alone, where it describes
 * another export.
 */
function unusedExports(
  modules: readonly string[],
  textOf: (file: string) => string,
  users: readonly string[],
): string[] {
  const used = new Set(users.flatMap((user) => importedNames(user, textOf(user))))
  const dead = modules
    .filter((module) => !PUBLIC.has(module))
    .flatMap((module) => [...declaredExports(module, textOf(module)), ...passedOn(module, textOf(module))])
    .filter(({ module, name }) => !used.has(`${module}#${name}`) && !used.has(`${module}#*`))
    .filter(({ module, name, isType }) => !isType || occurrences(textOf(module), name) < 2)
  return dead.map(({ module, name }) => `${module}: ${name}`)
}

function declaredExports(module: string, text: string): Exported[] {
  const declaration =
    /^export (?:declare )?(?:abstract )?(?:async )?(function\*?|const|let|class|interface|type) (\w+)/gm
  const found = [...text.matchAll(declaration)].map(([, kind, name]) => ({ kind, name: name! }))
  // A schema and its type share their name: one export of one thing.
  const names = new Map(found.map(({ kind, name }) => [name, kind === 'interface' || kind === 'type']))
  return [...names].map(([name, isType]) => ({ module, name, isType }))
}

function passedOn(module: string, text: string): Exported[] {
  const lists = [...text.matchAll(/^export (?:type )?\{([^}]*)\}/gm)].flatMap(([, names]) => names!.split(','))
  const names = lists.map((entry) => /(\w+)\s*$/.exec(entry.trim())?.[1]).filter((name) => name !== undefined)
  return names.map((name) => ({ module, name, isType: false }))
}

/** Returns `<module>#<name>` for each import in the text of a module; `#*` for a namespace import. */
function importedNames(user: string, text: string): string[] {
  const lists = [...text.matchAll(/^(?:import|export) (?:type )?(?:\w+, )?\{([^}]*)\} from '([^']+)'/gm)].flatMap(
    ([, names, specifier]) =>
      names!.split(',').map(
        (entry) =>
          `${target(user, specifier!)}#${
            entry
              .trim()
              .replace(/^type /, '')
              .split(' as ')[0]
          }`,
      ),
  )
  const wholes = [
    ...text.matchAll(
      /(?:import|export)(?: type)? \* (?:as \w+ )?from '([^']+)'|import\(\s*'([^']+)'\s*\)|new URL\('([^']+)'/g,
    ),
  ].map(([, a, b, c]) => `${target(user, (a ?? b ?? c)!)}#*`)
  return [...lists, ...wholes]
}

function target(user: string, specifier: string): string {
  if (specifier.startsWith('.')) return posix.join(posix.dirname(user), specifier)
  if (specifier.startsWith('@bezel/testkit/')) return specifier.replace('@bezel/testkit/', 'packages/testkit/src/')
  return PACKAGE_MODULES[specifier] ?? specifier
}

function occurrences(text: string, name: string): number {
  return text.match(new RegExp(`\\b${name}\\b`, 'g'))?.length ?? 0
}

function read(file: string): string {
  return readFileSync(file, 'utf8')
}
