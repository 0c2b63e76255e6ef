import { execFileSync } from 'node:child_process'
import { join, resolve } from 'node:path'
import { buildPackage, testedPeers } from './buildPackage.ts'

const ROOT = join(import.meta.dirname, '..', '..', '..')

/**
 * Output folder, outside of the sources: the result is neither checked nor committed. Not the data folder, which each
 * start of the local chain wipes.
 */
const folder = resolve(process.argv[2] ?? join(ROOT, 'dist', 'sdk'))

await buildPackage(folder)
const packed = execFileSync('npm', ['pack', '--silent', '--pack-destination', join(folder, '..')], {
  cwd: folder,
  encoding: 'utf8',
})
// The whole path, because the command is for the folder of another project.
console.log(`Packed. In your own project: npm install ${join(folder, '..', packed.trim())} ${testedPeers().join(' ')}`)
