import { execFileSync } from 'node:child_process'
import { join, relative, resolve } from 'node:path'
import { buildPackage } from './buildPackage.ts'

const ROOT = join(import.meta.dirname, '..', '..', '..')

/** Output folder, outside of the sources: the result is neither checked nor committed. */
const folder = resolve(process.argv[2] ?? join(ROOT, 'var', 'sdk'))

await buildPackage(folder)
const packed = execFileSync('npm', ['pack', '--silent', '--pack-destination', join(folder, '..')], {
  cwd: folder,
  encoding: 'utf8',
})
const file = relative(process.cwd(), join(folder, '..', packed.trim()))
console.log(`Built in ${relative(process.cwd(), folder)} and packed: npm install ${file}`)
