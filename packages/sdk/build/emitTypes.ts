import { execFileSync } from 'node:child_process'
import { cpSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { pathToFileURL } from 'node:url'
import { plainSchemas, type ExampleOf, type SchemaModule } from './plainSchemas.ts'

const PACKAGES = join(import.meta.dirname, '..', '..')
const ROOT = join(PACKAGES, '..')
const PROTOCOL = '@bezel/protocol/wire'

/** Compiler options of a browser: source that needs node does not compile. */
const OPTIONS = {
  noEmit: false,
  declaration: true,
  emitDeclarationOnly: true,
  rewriteRelativeImportExtensions: true,
  lib: ['es2023', 'dom', 'dom.iterable', 'dom.asynciterable'],
  types: [],
}

/** Writes the declarations of the SDK into `folder`, and those of the protocol that it uses into a folder below. */
export async function emitTypes(folder: string): Promise<void> {
  const made = mkdtempSync(join(tmpdir(), 'bezel-sdk-types-'))
  try {
    compile(made)
    cpSync(join(made, 'sdk', 'src'), folder, { recursive: true })
    cpSync(join(made, 'protocol', 'src'), join(folder, 'protocol'), { recursive: true })
  } finally {
    rmSync(made, { recursive: true, force: true })
  }
  await writePlainSchemas(join(folder, 'protocol', 'schemas'))
  for (const file of globSync('**/*.d.ts', { cwd: folder })) finish(folder, file)
}

/** Replaces the declarations of the modules of schemas by plain ones. */
async function writePlainSchemas(folder: string): Promise<void> {
  const modules: SchemaModule[] = []
  for (const name of globSync('*.d.ts', { cwd: folder }).toSorted()) {
    const file = name.replace(/\.d\.ts$/, '')
    const source = join(PACKAGES, 'protocol', 'src', 'schemas', `${file}.ts`)
    const exports = (await import(pathToFileURL(source).href)) as Record<string, unknown>
    modules.push({ file, declarations: readFileSync(join(folder, name), 'utf8'), exports })
  }
  for (const [file, text] of plainSchemas(modules, recordedExamples()))
    writeFileSync(join(folder, `${file}.d.ts`), text)
}

/** Returns the examples of the committed reference, which were recorded from a real run. */
function recordedExamples(): ExampleOf {
  interface Reference {
    readonly components: {
      readonly schemas: Readonly<
        Record<string, { readonly properties?: Readonly<Record<string, { readonly examples?: readonly unknown[] }>> }>
      >
    }
  }
  const file = join(ROOT, 'docs', 'reference', 'openapi.json')
  const { schemas } = (JSON.parse(readFileSync(file, 'utf8')) as Reference).components
  return (title, field) => schemas[title]?.properties?.[field]?.examples?.[0]
}

function compile(outDir: string): void {
  const config = join(outDir, 'tsconfig.json')
  // A path makes the protocol a source like ours. Found in node_modules, it would count as a foreign package and be
  // left out.
  const paths = { [PROTOCOL]: [join(PACKAGES, 'protocol', 'src', 'wire.ts')] }
  const compilerOptions = { ...OPTIONS, paths, outDir, rootDir: PACKAGES }
  const files = [join(PACKAGES, 'sdk', 'src', 'index.ts')]
  writeFileSync(config, JSON.stringify({ extends: join(ROOT, 'tsconfig.json'), compilerOptions, files, include: [] }))
  const tsc = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin', 'tsc')
  try {
    execFileSync(process.execPath, [tsc, '--project', config], { encoding: 'utf8' })
  } catch (error) {
    throw new Error(`The SDK does not compile for the browser:\n${(error as { stdout: string }).stdout}`, {
      cause: error,
    })
  }
}

/**
 * Rewrites the imports of a declaration file, so that they name files of the package and nothing that only this
 * repository has.
 */
function finish(folder: string, file: string): void {
  const path = join(folder, file)
  const wire = relative(dirname(path), join(folder, 'protocol', 'wire.js'))
  const local = wire.startsWith('.') ? wire : `./${wire}`
  let text = readFileSync(path, 'utf8')
  text = text.replaceAll(`"${PROTOCOL}"`, `'${local}'`).replaceAll(`'${PROTOCOL}'`, `'${local}'`)
  text = text.replaceAll(/(["'])(\.{1,2}\/[^"'\n]*)\.ts\1/g, "'$2.js'")
  const stranger = /["'](@bezel\/[^"']*|@sinclair\/[^"']*|node:[^"']*)["']/.exec(text)
  if (stranger !== null) throw new Error(`The types of ${file} need ${stranger[1]}, which its users lack.`)
  writeFileSync(path, text)
}
