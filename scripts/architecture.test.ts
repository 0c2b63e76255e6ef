import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { describe, it } from 'node:test'

/** Pages that show newcomers around, and the folder that the paths in their code spans start from. */
const PAGES = [
  { page: 'docs/architecture.md', base: 'packages/server/src' },
  { page: 'docs/threat-model.md', base: 'packages/server/src' },
  { page: 'SECURITY.md', base: 'packages/server/src' },
  { page: 'CONTRIBUTING.md', base: 'packages/server/src' },
  { page: 'packages/server/README.md', base: 'packages/server' },
  { page: 'packages/devnet/README.md', base: 'packages/devnet/src' },
  { page: 'packages/protocol/README.md', base: 'packages/protocol/src' },
] as const

/** The folders of what commands write, which a fresh clone does not have. */
const GENERATED: ReadonlySet<string> = new Set(['var/', 'dist/'])

describe('the pages that show newcomers around', () => {
  for (const { page, base } of PAGES) {
    it(`name only what is there: ${page}`, () => {
      assert.deepEqual(missingPaths(readFileSync(page, 'utf8'), page, base), [])
    })
  }

  it('name a test for everything that the threat model says somebody can or can not do', () => {
    const page = readFileSync('docs/threat-model.md', 'utf8')
    assert.deepEqual(unshownClaims(page), [])
    assert.deepEqual(unshownClaims('| | Shown by |\n|---|---|\n| can fly | |\n'), ['| can fly | |'])
  })

  it('name titles of tests that are there', () => {
    const page = readFileSync('docs/threat-model.md', 'utf8')
    assert.deepEqual(missingTitles(page), [])
    const link = (title: string): string => `[architecture: ${title}](../scripts/architecture.test.ts)`
    const gone = 'names nothing that is there'
    assert.deepEqual(missingTitles(`${link('name titles of tests that are there')} ${link(gone)}`), [gone])
  })

  it('name a title for everything that nobody can do to one of several machines', () => {
    const page = readFileSync('docs/threat-model.md', 'utf8')
    const several = /^## Several machines\n[\s\S]*?(?=^## )/m.exec(page)![0]
    const claims = several.split('\n').filter((line) => line.startsWith("| can't "))
    assert.ok(claims.length >= 20)
    assert.deepEqual(
      claims.filter((claim) => namedTitles(claim).length === 0),
      [],
    )
  })

  it('would be caught naming a file that is gone', () => {
    const text = 'See `journal/gone.ts`, `scripts/layers.test.ts` and [it](../packages/server/src/nowhere.ts).'
    assert.deepEqual(missingPaths(text, 'docs/architecture.md', 'packages/server/src'), [
      '../packages/server/src/nowhere.ts',
      'journal/gone.ts',
    ])
  })
})

/** Returns the rows of the tables headed `Shown by` that name no test. */
function unshownClaims(text: string): string[] {
  const tables = [...text.matchAll(/^\| \| Shown by \|\n\|---\|---\|\n((?:\|.*\n)+)/gm)].map(([, rows]) => rows!)
  return tables.flatMap((rows) => rows.trim().split('\n')).filter((row) => !row.includes('.test.ts'))
}

/** Returns the tests that are named by file and title: `[file: title](path)`, or the file as code: *title*. */
function namedTitles(text: string): { readonly path: string; readonly title: string }[] {
  const links = text.matchAll(/\[(\w+): ([^\]]+)\]\(\.\.\/([^)]+\.test\.ts)\)/g)
  const linked = [...links].flatMap(([, name, title, path]) =>
    posix.basename(path!).startsWith(`${name}.`) ? [{ path: path!, title: title! }] : [],
  )
  const spans = text.matchAll(/`([\w/]+\.test\.ts)`: \*([^*]+)\*/g)
  return [...linked, ...[...spans].map(([, path, title]) => ({ path: path!, title: title! }))]
}

/** Returns the titles that are named and begin no test of their file; the rest of a title may be made of data. */
function missingTitles(text: string): string[] {
  return namedTitles(text).flatMap(({ path, title }) => {
    const source = readFileSync(path, 'utf8')
    return ["'", '"', '`'].some((quote) => source.includes(`(${quote}${title}`)) ? [] : [title]
  })
}

/**
 * Returns the links, and the code spans with a slash or a file ending, that exist neither below the page, nor below its
 * base, nor below the root.
 */
function missingPaths(text: string, page: string, base: string): string[] {
  const prose = text.replace(/^```[\s\S]*?^```/gm, '')
  const links = [...prose.matchAll(/\]\(([^)#:]+)(?:#[^)]*)?\)/g)].map(([, link]) => link!)
  const spans = [...prose.matchAll(/`([\w.@-]+(?:\/[\w.@-]+)*\/?)`/g)].map(([, span]) => span!)
  const paths = spans.filter((span) => /\/|\.(?:ts|mjs|md|json)$/.test(span) && !span.startsWith('@'))
  const isThere = (path: string): boolean =>
    GENERATED.has(path) || [base, posix.dirname(base), '.'].some((from) => existsSync(posix.join(from, path)))
  const lost = links.filter((link) => !existsSync(posix.join(posix.dirname(page), link)))
  return [...lost, ...paths.filter((path) => !isThere(path))]
}
