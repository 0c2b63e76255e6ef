import { copyFileSync, chmodSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { Podman } from './podman.ts'

const run = promisify(execFile)

/**
 * Makes the image that the Containerfile begins with, under its name: the smallest Debian of that release, from the
 * packages of the distribution, and the pinned node that the project has.
 */
export async function importBaseImage(podman: Podman, root: string, folder: string): Promise<void> {
  const containerfile = readFileSync(join(root, 'deploy/Containerfile'), 'utf8')
  const [, name, release] = /^FROM (\S+-(\w+)-slim)$/m.exec(containerfile) ?? []
  if (name === undefined) throw new Error('deploy/Containerfile begins with no image of a Debian release')
  const system = join(folder, 'system')
  await run('debootstrap', ['--variant=minbase', release!, system])
  const node = join(system, 'usr/local/bin/node')
  copyFileSync(process.execPath, node)
  chmodSync(node, 0o755)
  await podman.shell(`tar --create --directory=${system} . | podman import - ${name}`)
}
