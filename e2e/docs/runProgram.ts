import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Readable } from 'node:stream'

const ROOT = new URL('../../', import.meta.url).pathname

/**
 * Runs a program of a page in a child process, as it stands there, and passes its output to `read`. The program is
 * stopped as soon as `read` is done.
 */
export async function runProgram(
  code: string,
  env: Readonly<Record<string, string>>,
  read: (stdout: Readable) => Promise<void>,
): Promise<void> {
  // The folder is inside the project, so that programs find their packages.
  mkdirSync(join(ROOT, 'var'), { recursive: true })
  const folder = mkdtempSync(join(ROOT, 'var', 'program-'))
  const file = join(folder, 'program.mjs')
  writeFileSync(file, code)
  const child = spawn(process.execPath, [file], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, ...env },
  })
  try {
    await read(child.stdout)
  } finally {
    child.kill()
    rmSync(folder, { recursive: true, force: true })
  }
}
