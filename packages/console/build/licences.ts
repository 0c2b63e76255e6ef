import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Metafile } from 'esbuild'

const OWN_LICENCE = join(import.meta.dirname, '..', '..', '..', 'LICENSE')

/** The folder of the package that a file belongs to: behind the last `node_modules` of its path. */
const PACKAGE_FOLDER = /^.*(?:^|\/)node_modules\/(?:@[^/]+\/)?[^/]+/

/** Names of files by which packages tell their licence, their notices and whom they owe. */
const LICENCE_FILE = /^(?:licen[cs]e|notice|copying|copyright)\b/i

/** Comments that have to be kept wherever the code goes, as bundlers agreed on it. */
const KEPT_COMMENT = /\/\*!([^]*?)\*\//g

const LINE = '-'.repeat(80)

interface PackageManifest {
  readonly name: string
  readonly version: string
  readonly license?: string
  readonly homepage?: string
  readonly author?: string | { readonly name: string }
}

/**
 * Returns one text with the licences of everything that a bundle was made from: that of the project, then of each
 * package, by name. Packages whose code was left out in the end are among them, because a constant of theirs may have
 * been written where it is used. `folder` is the one that the paths of the bundler start at.
 */
export function licencesOf({ inputs }: Metafile, folder: string): string {
  const byFolder = Map.groupBy(Object.keys(inputs), (path) => PACKAGE_FOLDER.exec(path)?.[0])
  const sections = [...byFolder].flatMap(([path, files]) =>
    path === undefined
      ? []
      : [
          sectionOf(
            join(folder, path),
            files.map((file) => join(folder, file)),
          ),
        ],
  )
  const own = `Bezel\n\n${readFileSync(OWN_LICENCE, 'utf8').trim()}`
  return `${[own, ...new Set(sections.toSorted())].join(`\n\n${LINE}\n`)}\n`
}

/** Returns the name of a package, and all that it and its files say about its licence. */
function sectionOf(folder: string, files: readonly string[]): string {
  const { name, version, license, homepage, author } = JSON.parse(
    readFileSync(join(folder, 'package.json'), 'utf8'),
  ) as PackageManifest
  const texts = readdirSync(folder)
    .filter((file) => LICENCE_FILE.test(file))
    .toSorted()
    .map((file) => readFileSync(join(folder, file), 'utf8').trim())
  const by = typeof author === 'object' ? author.name : author
  const facts = [`${name} ${version}`, license, homepage, by].filter((fact) => fact !== undefined)
  if (texts.length === 0) facts.push('The package has no file with its licence.')
  return [facts.join('\n'), ...new Set(files.flatMap(keptComments)), ...texts].join('\n\n')
}

function keptComments(file: string): string[] {
  const found = readFileSync(file, 'utf8').matchAll(KEPT_COMMENT)
  return [...found].map(([, text = '']) => text.replaceAll(/^[ \t]*\*?[ \t]?(?:@license[ \t]*)?/gm, '').trim())
}
