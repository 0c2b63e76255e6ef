import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'

const ROOT = new URL('../../', import.meta.url).pathname

const CHECK_MS = 120_000

/** Type-checks programs as strictly as the project itself, each on its own. Throws the compiler's messages. */
export async function typeCheck(programs: readonly string[]): Promise<void> {
  mkdirSync(join(ROOT, 'var'), { recursive: true })
  const folder = mkdtempSync(join(ROOT, 'var', 'types-'))
  try {
    const names = programs.map((code, index) => {
      const name = `program${index}.ts`
      // The export makes a program without imports a module too, with its own names.
      writeFileSync(join(folder, name), `${code}\nexport {}\n`)
      return name
    })
    const settings = { extends: join(ROOT, 'tsconfig.json'), include: [], files: names }
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(settings))
    const compiler = join(ROOT, 'node_modules', '.bin', 'tsc')
    await promisify(execFile)(compiler, ['-p', folder], { timeout: CHECK_MS }).catch(
      (error: Error & { stdout?: string }) => {
        throw new Error(error.stdout === '' ? error.message : error.stdout)
      },
    )
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
