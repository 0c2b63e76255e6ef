import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import process from 'node:process'

/**
 * Installs packages of the distribution on a machine that may install some (root, apt), such as a test machine. Returns
 * the reason when it could not.
 */
export function aptInstall(packages: readonly string[]): string | undefined {
  const isRoot = process.getuid?.() === 0
  if (!isRoot || !existsSync('/usr/bin/apt-get')) {
    return `only root can install what is missing (apt-get install ${packages.join(' ')})`
  }
  for (const args of [
    ['update', '-q'],
    ['install', '-y', '-q', '--no-install-recommends', ...packages],
  ]) {
    const { status, stderr } = spawnSync('apt-get', args, {
      encoding: 'utf8',
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    })
    if (status !== 0) return `apt-get ${args[0]} ended with ${status}: ${stderr.trim().slice(-300)}`
  }
  return undefined
}
