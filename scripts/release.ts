import { join } from 'node:path'
import process from 'node:process'
import { StartupError } from '@bezel/protocol'
import { buildConsole } from '../packages/console/build/buildConsole.ts'
import { buildRelease } from './release/buildRelease.ts'

/** Runs `npm run release`: writes the files of a release of this commit to `dist-release/`. */
const ROOT = join(import.meta.dirname, '..')
const FOLDER = 'dist-release'

try {
  await buildConsole()
  const names = await buildRelease(ROOT, join(ROOT, FOLDER))
  for (const name of names) console.log(`${FOLDER}/${name}`)
} catch (error) {
  if (!(error instanceof StartupError)) throw error
  console.error(error.message)
  process.exitCode = 1
}
